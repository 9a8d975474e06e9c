"""Processors without an accelerator: carried over by cores, clock and vector width, from rates that others measured."""

from math import isnan, log

import numpy as np
import pytest
from msgspec.structs import replace
from support.speeds import recipe

from costcalc.hardware import Cluster
from costcalc.throughput.prediction import REFUSALS
from costcalc.throughput.processors import LAW, LN_WIDTH_80, Processors, with_processor_speeds
from costcalc.throughput.speed_model import SpeedTable, empty_table
from costcalc.training import Phase
from science.fitting.processors import fitted_law
from science.validation.outside_mlperf.hosts import organisations_left_out
from science.validation.scores import half_width


@pytest.fixture
def known(packaged_evidence) -> Processors:
    return packaged_evidence.processors


def rate(known, cluster, model="resnet50", size=224, precision="fp32"):
    processor = known.named[cluster.accelerator]
    return known.pace(cluster) / LAW.work(known.models[model], size, processor.operations(precision))


def test_the_law_is_the_one_that_fits_the_rates(known):
    fitted = fitted_law(known, known.rates)
    assert (LAW.arithmetic, LAW.passes) == (
        pytest.approx(fitted.arithmetic, rel=0.005),
        pytest.approx(fitted.passes, rel=0.005),
    )


def test_the_range_holds_eight_in_ten_of_the_rates_of_other_organisations(known):
    found = half_width(organisations_left_out(known), 0.8, by_group=True)
    assert not found.by_rule
    assert pytest.approx(found.ln, abs=0.001) == LN_WIDTH_80


def test_the_baseline_is_the_usual_rate_of_a_core_and_ghz_of_the_others(known):
    own, *others = (
        replace(known.rates[0], name=who, organisation=who, images_per_second=rate)
        for who, rate in (("Ada", 30.0), ("Bob", 10.0), ("Cy", 11.0), ("Di", 90.0))
    )
    cases = {case.name: case for case in organisations_left_out(replace(known, rates=(own, *others)))}
    assert cases["Ada"].baseline_error == pytest.approx(log(30 / 11))


def test_rates_that_stand_among_the_measured_speeds_are_the_same_there(packaged_evidence, known):
    measured = {row.name: row.images_per_second for row in packaged_evidence.throughputs}
    shared = [row for row in known.rates if row.name in measured]
    assert len(shared) == 12
    assert all(row.images_per_second == measured[row.name] for row in shared)


def test_every_rate_names_a_processor_and_a_network_that_are_known(known):
    assert {row.processor for row in known.rates} <= known.named.keys()
    assert not any(isnan(known.error(row)) for row in known.rates)


def test_twice_the_cores_and_twice_the_clock_are_twice_as_fast(known):
    one, two = (rate(known, Cluster("Xeon Platinum 8488C", 0, 1, vcpus)) for vcpus in (16, 32))
    assert two == pytest.approx(2 * one)
    faster = replace(known.named["Xeon Platinum 8488C"], ghz=4.8)
    changed = replace(known, named={**known.named, faster.name: faster})
    assert rate(changed, Cluster(faster.name, 0, 1, 16)) == pytest.approx(2 * one)


def test_wider_units_help_with_the_arithmetic_alone(known):
    cluster = Cluster("Xeon Platinum 8488C", 0, 1, 16)
    heavy, light = (
        rate(known, cluster, model, precision="bf16") / rate(known, cluster, model)
        for model in ("vgg19", "mobilenet_v2")
    )
    assert heavy > light > 1
    assert heavy < known.named[cluster.accelerator].operations("bf16") / known.named[cluster.accelerator].operations(
        "fp32"
    )


def test_16_bits_are_no_faster_where_the_processor_has_no_units_for_them(known):
    cluster = Cluster("EPYC 7763", 0, 1, 96)
    assert rate(known, cluster, precision="bf16") == rate(known, cluster)


@pytest.mark.parametrize(
    ("cluster", "cores"),
    [
        (Cluster("Xeon Platinum 8124M", 0, 1, 72), 36),  # two vCPUs to a core
        (Cluster("EPYC 9R14", 0, 1, 192), 192),  # one
        (Cluster("Xeon Platinum 8180", 2, 1), 56),  # two sockets of one's own
        (Cluster("Xeon Platinum 8180", 0, 1), 0),  # nobody says how many
        (Cluster("V100", 8, 1), 0),
    ],
)
def test_cores_of_a_machine(known, cluster, cores):
    assert known.cores(cluster) == cores


def test_what_was_measured_of_a_processor_counts_for_the_part_that_so_many_rates_tell(known):
    rates = [row for row in known.rates if row.processor == "M1 Max"]
    mean = sum(map(known.error, rates)) / len(rates)
    assert known.effects["M1 Max"] == pytest.approx(mean * len(rates) / (len(rates) + 1))
    assert known.pace(Cluster("M1 Max", 1, 1)) > 32 * known.named["M1 Max"].ghz
    measured = next(row for row in rates if row.model == "resnet50")
    assert abs(log(rate(known, Cluster("M1 Max", 1, 1)) / measured.images_per_second)) < 0.5


def test_a_network_without_known_arithmetic_has_no_speed(known):
    assert isnan(LAW.work(known.models["amoebanet_d"], 224, 64))


def on(known, clusters, *recipes, barred=False):
    """The speeds of these recipes on clusters of processors, of which nothing else is known."""
    phases = max(len(each.phases) for each in recipes)
    table = empty_table(SpeedTable, (), recipes, clusters, phases)
    return with_processor_speeds(table, known, np.full((len(recipes), len(clusters)), barred))


def test_only_where_the_code_is_not_seen_to_fail_its_speed_is_carried_over(known):
    first, second = (Cluster(name, 1) for name in list(known.named)[:2])
    one = recipe(model="resnet50", precision="fp32")
    found = on(known, (first, second), one, barred=[True, False])
    assert [REFUSALS[code] for code in found.refusal[0]] == ["no_throughput", ""]
    assert isnan(found.seconds_per_epoch[0, 0, 0])
    assert found.seconds_per_epoch[0, 1, 0] == pytest.approx(one.samples_per_epoch / rate(known, second))


def test_a_recipe_has_as_many_speeds_as_phases(known):
    short = recipe(model="resnet50")
    long = replace(short, phases=(Phase(128, 0, 5), Phase(224, 5, 10)))
    found = on(known, [Cluster(next(iter(known.named)), 1)], short, long).seconds_per_epoch[:, 0]
    assert np.isnan(found).tolist() == [[False, True], [False, False]]
    assert found[0, 0] == found[1, 1]


@pytest.mark.parametrize(("gib", "reason"), [(2, "does_not_fit_memory"), (3, "")])
def test_the_system_takes_one_gib_of_the_memory_of_a_machine(known, gib, reason):
    """ResNet-50 needs 0.4 GiB itself and libraries 0.6, and each of its images takes 0.16 in 32 bits."""
    name = next(iter(known.named))
    small = replace(known, named={**known.named, name: replace(known.named[name], memory_gib=gib)})
    found = on(small, [Cluster(name, 1)], recipe(model="resnet50", precision="fp32"))
    assert REFUSALS[found.refusal[0, 0]] == reason
