"""How many images a second the processors prepare, and what that leaves of a speed."""

from math import exp, hypot, log, sqrt

import numpy as np
import pytest
from fakes.recipes import recipe
from msgspec.structs import replace

from costcalc.assumptions import fed
from costcalc.hardware import Accelerator, Machine
from costcalc.machine_limits.host import (
    GROWTH,
    GROWTH_DEVIATION,
    SHARE_OF_CORE,
    PipelineOfCode,
    PipelineRate,
    PipelineTables,
    feeds_of,
    host_limit,
    known_feeds,
)
from costcalc.machine_limits.known_limits import LimitTables, data_limits
from costcalc.machine_limits.limits import RentedMachines
from costcalc.training import IMAGES_PER_EPOCH, Phase, System
from science.validation.outside_mlperf.hosts import sources_left_out


def rate(
    images_per_second,
    pipeline="pytorch",
    own_core=False,
    at_least=False,
    accelerators=(),
    introduced=2020,
    organisation="org",
):
    known = (149, introduced, True, organisation, "somebody")
    return PipelineRate(pipeline, "a decoder", images_per_second, own_core, at_least, accelerators, *known)


RATES = (
    rate(100),
    rate(400, organisation="another"),
    rate(200, "dali"),
    rate(580, "dali", at_least=True, accelerators=("H100",)),
)
CODE = (
    PipelineOfCode("ngc", None, None, "dali", "somebody"),
    PipelineOfCode(None, None, "pytorch", "pytorch", "somebody"),
)
TABLES = PipelineTables(RATES, CODE)


def machines(*kinds, nodes=1):
    types = tuple(("acme", f"type {n}", kind) for n, kind in enumerate(kinds))
    return RentedMachines(types, np.arange(len(types)), np.full(len(types), nodes))


SHEETS = {
    "V100": replace(Accelerator.unlisted("V100"), introduced=2021),
    "TPU v2": replace(Accelerator.unlisted("TPU v2"), rented_in_slices=True),
}
EIGHT = machines(Machine("V100", 1, 16.0, 8), Machine("H100", 1, 80.0, 8), Machine("V100", 1, 16.0, None))


def of(asked="recipe", rented=EIGHT, **differs):
    return feeds_of(
        [recipe(**{"stack": "somebody's", "framework_family": "pytorch", **differs})], TABLES, asked, rented
    )


def test_a_pipelines_rate_is_the_mean_over_organisations_and_its_width_that_of_one_more():
    feeds = known_feeds((*RATES, rate(400, organisation="another")))
    assert feeds["pytorch"].in_base_year == pytest.approx(200)
    deviation = sqrt(2 * log(2) ** 2 / 1)
    assert feeds["pytorch"].width_80 == pytest.approx(1.2816 * deviation * sqrt(1 + 1 / 2), rel=1e-4)
    assert feeds["dali"].width_80 == pytest.approx(1.2816 * deviation * sqrt(2), rel=1e-4)


def test_decoding_alone_tells_a_pipeline_that_nobody_measured_whole():
    decoded = replace(rate(800, organisation="another"), is_measured=False)
    assert [feed.in_base_year for feed in known_feeds((rate(200), decoded)).values()] == [pytest.approx(200)]
    assert [feed.in_base_year for feed in known_feeds((decoded,)).values()] == [pytest.approx(800)]


def test_a_rate_is_known_the_less_the_newer_or_older_the_processors():
    (feed,) = known_feeds(tuple(rate(200, introduced=2017, organisation=name) for name in ("one", "another"))).values()
    assert feed.half_width(2018) == feed.width_80
    assert feed.half_width(2024) == pytest.approx(hypot(feed.width_80, 6 * 1.2816 * GROWTH_DEVIATION), rel=1e-4)
    assert feed.half_width(2012) == pytest.approx(feed.half_width(2024))


def test_newer_processors_prepare_more():
    assert rate(100, introduced=2023).in_base_year == pytest.approx(100 * exp(-3 * GROWTH))
    (feed,) = of()
    assert feed.rate("V100", 2021) == pytest.approx(200)  # its processors are taken as a year older
    assert feed.rate("V100", 2023) == pytest.approx(200 * exp(2 * GROWTH))
    assert feed.rate("V100", None) == pytest.approx(200 * exp(-GROWTH))


def test_a_processor_with_a_core_to_itself_does_more_than_a_vcpu():
    assert rate(100, own_core=True).per_vcpu == 100 * SHARE_OF_CORE


def test_an_accelerator_that_decodes_needs_fewer_processors():
    (dali,) = of(stack="ngc")
    assert (dali.rate("V100", 2021), dali.rate("H100", 2021)) == (pytest.approx(200), 580)


def test_code_has_its_own_pipeline_or_that_of_its_framework_or_none():
    assert [feed.pipeline for feed in (*of(stack="ngc"), *of())] == ["dali", "pytorch"]
    assert of(framework_family="tinygrad") == (None,)


def test_the_pipeline_asked_for_goes_before_the_recipes():
    assert [feed.pipeline for feed in of("dali")] == ["dali"]
    assert of("none") == (None,)


def test_a_recipe_prepared_what_its_own_run_took():
    home = System("V100", 1, 1, "acme", "type 0")
    fast = {"system": home, "phases": (Phase(128, 0, 5, 4000.0), Phase(224, 5, 9, 1000.0))}
    assert of(**fast)[0].rate("V100", 2021) == 4000 / 8
    assert of("pytorch", **fast)[0].rate("V100", 2021) == pytest.approx(
        200
    )  # somebody else's pipeline did not run there
    assert of(tuned_to=0.759, **fast)[0].rate("V100", 2021) >= 200
    unknown = {**fast, "system": System("V100", 1, 1, "acme", "type 2")}
    assert of(**unknown)[0].rate("V100", 2021) == pytest.approx(200)


def test_machines_of_your_own_have_8_to_16_vcpus_an_accelerator_unless_you_say():
    (feed,) = of()
    unsaid, said = Machine("V100", 2, 16.0), Machine("V100", 2, 16.0, 64)
    mine = RentedMachines((("own", "2x V100", unsaid), ("own", "2x V100", said)), np.array([0, 1]), np.array([1, 1]))
    found = host_limit([feed], SHEETS, mine)
    assert (IMAGES_PER_EPOCH / found.seconds_per_epoch[0]).tolist() == pytest.approx([200 * 2 * sqrt(128), 200 * 64])
    assert found.width_80[0].tolist() == pytest.approx(
        [hypot(feed.half_width(2021), log(2) / 2), feed.half_width(2021)]
    )
    mean = RentedMachines((("acme", "two", unsaid),), np.array([0]), np.array([1]))
    assert host_limit([feed], SHEETS, mean).seconds_per_epoch[0].tolist() == [0]


def test_published_recipes_are_fed_alike_whatever_machines_are_known(packaged_evidence, packaged_prices):
    recipes, tables = packaged_evidence.recipes, packaged_evidence.limit_tables.pipelines
    whole = RentedMachines(packaged_prices.vocabulary.instances, *np.zeros((2, 0), int))
    fed = feeds_of(recipes, tables, "recipe", machines())
    assert fed == feeds_of(recipes, replace(tables, hosts=()), "recipe", whole)
    assert any(feed and feed.own_run for feed in fed)


def test_the_limit_grows_with_processors_and_machines():
    (feed,) = of()
    found = host_limit([feed, None], {**SHEETS, "H100": SHEETS["V100"]}, EIGHT)
    assert found.seconds_per_epoch[0] == pytest.approx([IMAGES_PER_EPOCH / 1600] * 2 + [0])
    assert found.seconds_per_epoch[1].tolist() == [0, 0, 0]
    assert found.width_80.tolist() == [[feed.half_width(2021)] * 3, [0] * 3]
    two = machines(Machine("V100", 1, 16.0, 8), nodes=2)
    assert host_limit([feed], SHEETS, two).seconds_per_epoch[0] == pytest.approx([IMAGES_PER_EPOCH / 3200])


def test_no_machines_or_no_recipes_are_no_error():
    assert host_limit(of(), SHEETS, machines()).seconds_per_epoch.shape == (1, 0)
    assert host_limit([], SHEETS, EIGHT).width_80.shape == (0, 3)


def test_vcpus_that_feed_nothing_limit_nothing():
    tpu = machines(Machine("TPU v2", 4, 8.0, 4))
    limit, _ = data_limits(LimitTables(TABLES, accelerators=SHEETS), of(), tpu)
    assert limit.seconds_per_epoch.tolist() == [[0]]
    assert data_limits(LimitTables(TABLES), of("none"), tpu) == ()


def test_what_is_said_of_the_pipeline():
    (feed,) = of()
    tables, eight = LimitTables(TABLES, accelerators=SHEETS), Machine("V100", 1, 16.0, 8)
    assert fed(tables, feed, ("acme", "eight", eight), 8) == (
        f"Data pipeline pytorch: 200 images/s per vCPU (known to a factor of {exp(feed.width_80):.1f}), so 12,800 on 64 vCPUs.",
    )
    for machine in (Machine("V100", 1, 16.0), Machine("TPU v2", 4, 8.0, 4)):
        (said,) = fed(tables, feed, ("acme", "unknown", machine), 1)
        assert said.startswith("The number of vCPUs that feed these accelerators is unknown")
    assert fed(tables, None, ("acme", "eight", eight), 1)[0].startswith("The data pipeline is unknown or not counted")


def test_packaged_rates_have_sources_and_every_pipeline_that_can_be_asked_for(packaged_evidence):
    tables = packaged_evidence.limit_tables.pipelines
    assert all(one.source for one in tables.rates)
    assert {"pytorch", "dali", "ffcv", "tfdata"} <= set(known_feeds(tables.rates))
    assert {one.pipeline for one in tables.code} <= set(known_feeds(tables.rates))


def test_slow_pipelines_are_slow(packaged_evidence):
    feeds, chips = known_feeds(packaged_evidence.limit_tables.pipelines.rates), packaged_evidence.accelerators
    assert 80 < feeds["pytorch"].rate("V100", chips["V100"].introduced) < 130
    assert 130 < feeds["tfdata"].rate("V100", chips["V100"].introduced) < 250
    assert feeds["ffcv"].rate("V100", chips["V100"].introduced) < 652
    assert feeds["dali"].rate("H100", chips["H100"].introduced) == 580


def test_rates_are_predicted_from_other_peoples(packaged_evidence):
    alone, two = (rate(100),), (rate(100), rate(200, organisation="another"), rate(50, "dali", organisation="third"))
    assert sources_left_out(alone) == []
    first, second = sources_left_out(two)
    assert (first.group, second.group) == ("org", "another")
    assert (first.error, second.error) == (pytest.approx(-log(2)), pytest.approx(log(2)))
    packaged = sources_left_out(packaged_evidence.limit_tables.pipelines.rates)
    assert {case.name.split()[0] for case in packaged} == {"pytorch", "opencv", "tfdata"}
