import math

import numpy as np
import pytest
from msgspec.structs import replace
from support.speeds import PARTS, REFERENCE, SHEETS, reference_recipe

from costcalc.hardware import Accelerator
from costcalc.throughput.data_sheets import VINTAGE_MARGIN
from costcalc.throughput.reference_model import (
    UNDATED,
    Doubling,
    Setup,
    TypicalUse,
    count_steps,
    doublings,
    hardware_terms,
    is_reference,
    never_faster,
    shared,
    software_terms,
    step_overhead,
    terms_of,
    total,
)
from costcalc.training import Phase
from science.fitting.reference_model import Observation, fit_reference_model

SHEET = {
    "slow": Accelerator("slow", "NVIDIA", 40, 300, 1500, 400, 2020, "test", chip="slow"),
    "fast": Accelerator("fast", "NVIDIA", 80, 600, 3000, 400, 2022, "test", chip="fast"),
    "faster": Accelerator("faster", "NVIDIA", 80, 1200, 6000, 400, 2024, "test", chip="faster"),
    "slice": Accelerator("slice", "Google", 32, 300, 1500, 400, 2021, "test", chip="slice", rented_in_slices=True),
    "unknown": Accelerator("unknown", "Acme", None, None, None, None, None, "test", chip="unknown"),
}
EIGHT = Setup("slow", 8, 1, 256, 2022, "mxnet")


def seen(setup, rate, organisation="one"):
    return Observation(setup, organisation, math.log(rate))


@pytest.fixture
def reference():
    rows = [seen(EIGHT, 3000, who) for who in ("one", "two", "three")]
    rows += [seen(EIGHT._replace(accelerator="fast"), 6000, who) for who in ("one", "two", "three")]
    rows += [seen(EIGHT._replace(nodes=4, batch=64), 2300, "one"), seen(EIGHT._replace(year=2023), 3150, "two")]
    return fit_reference_model(rows, SHEET)


def test_what_was_measured_comes_back(reference):
    assert math.exp(reference.log_rate(EIGHT)) == pytest.approx(3000, rel=0.03)
    assert math.exp(reference.log_rate(EIGHT._replace(accelerator="fast"))) == pytest.approx(6000, rel=0.03)


def test_twice_the_chip_is_twice_as_fast_before_anybody_measured_it(reference):
    ratio = reference.log_rate(EIGHT._replace(accelerator="faster", year=2022)) - reference.log_rate(
        EIGHT._replace(accelerator="fast")
    )
    assert math.exp(ratio) == pytest.approx(2, rel=0.15)


def test_smaller_batches_are_slower(reference):
    rates = [reference.log_rate(EIGHT._replace(batch=batch)) for batch in (16, 64, 256, 1024)]
    assert rates == sorted(rates)
    assert step_overhead(256) == 0


def test_years_outside_those_seen_change_nothing(reference):
    assert reference.log_rate(EIGHT._replace(year=1999)) == reference.log_rate(EIGHT._replace(year=2022))
    assert reference.log_rate(EIGHT._replace(year=2050)) == reference.log_rate(EIGHT._replace(year=2023))


def test_a_chip_never_measured_runs_no_software_older_than_itself(reference):
    faster = EIGHT._replace(accelerator="faster")
    assert reference.log_rate(faster._replace(year=2016)) == reference.log_rate(faster._replace(year=2023))


def test_a_slice_is_one_machine(reference):
    assert reference.hardware("slice", 4, 8) == reference.hardware("slice", 32, 1)


def test_only_what_was_measured_or_has_a_data_sheet_is_known(reference):
    assert [name for name in (*SHEET, "nowhere") if reference.knows(name)] == ["slow", "fast", "faster", "slice"]
    assert reference.resembles_measured("faster")
    odd = replace(
        reference.data_sheets,
        accelerators={**SHEET, "odd": replace(SHEET["slow"], name="odd", dense_16bit_tflops=3000)},
    )
    assert not replace(reference, data_sheets=odd).resembles_measured("odd")


def test_nothing_to_learn_from_says_so():
    with pytest.raises(ValueError, match=r"throughputs\.csv"):
        fit_reference_model([], SHEET)


def test_the_usual_software_is_the_middle_of_what_was_published(reference):
    rates = sorted(reference.log_rate(EIGHT._replace(year=year)) for year in (2022, 2022, 2022, 2022, 2023))
    assert reference.log_rate(EIGHT._replace(year=UNDATED)) == pytest.approx(rates[2])


def test_a_chip_gets_no_more_from_a_watt_than_its_vintage(reference):
    frugal = replace(SHEET["fast"], name="frugal", power_watts=50, introduced=2021)
    sheets = replace(reference.data_sheets, accelerators={**SHEET, "frugal": frugal})
    best = 3000 / 400  # images per joule of the one chip measured by 2021
    assert sheets.is_limited_by_power("frugal")
    assert math.exp(sheets.roofline("frugal")) == pytest.approx(VINTAGE_MARGIN * best * 50, rel=0.03)
    assert not replace(reference, data_sheets=sheets).resembles_measured("frugal")
    assert not replace(sheets, accelerators={**SHEET, "frugal": replace(frugal, introduced=2030)}).is_limited_by_power(
        "frugal"
    )


def test_a_chip_whose_watts_do_other_things_is_unlike(reference):
    games = replace(SHEET["slow"], name="games", power_watts=900)
    assert not replace(
        reference, data_sheets=replace(reference.data_sheets, accelerators={**SHEET, "games": games})
    ).resembles_measured("games")


def test_steps_are_no_faster_than_those_that_people_chose(reference):
    assert reference.largest_batch("slow") == 256
    assert reference.largest_batch("never measured") == 256


def test_an_accelerator_of_unruly_rates_is_less_sure():
    calm = [seen(EIGHT, 3000, who) for who in "abcdefgh"]
    wild = [seen(EIGHT._replace(accelerator="fast"), 6000 + 400 * (-1) ** n, str(n)) for n in range(8)]
    reference = fit_reference_model([*calm, *wild], SHEET)
    assert reference.scatter("slow") < 1 < reference.scatter("fast")
    assert reference.scatter("never measured") == 1


def test_one_organisation_agreeing_with_itself_says_nothing_of_others():
    alone = [seen(EIGHT._replace(accelerator="fast"), 6000, "one") for _ in range(8)]
    many = [seen(EIGHT._replace(accelerator="fast"), 6000, who) for who in "abcdefgh"]
    calm = [seen(EIGHT, 3000, who) for who in "abcdefgh"]
    assert fit_reference_model([*calm, *alone], SHEET).scatter("fast") > fit_reference_model(
        [*calm, *many], SHEET
    ).scatter("fast")


def test_the_first_chip_of_a_maker_is_like_those_of_other_makers_than_nvidia():
    table = SHEET | {name: replace(SHEET["fast"], name=name, chip=name, vendor=name) for name in ("odd", "new")}
    seen_odd = [seen(EIGHT._replace(accelerator="odd"), 9000, who) for who in "abcd"]
    nvidia = [seen(EIGHT._replace(accelerator="fast"), 6000, who) for who in "abcd"]
    reference = fit_reference_model([*seen_odd, *nvidia], table)
    rate = {name: math.exp(reference.log_rate(EIGHT._replace(accelerator=name))) for name in ("fast", "new", "odd")}
    assert rate["fast"] < rate["new"] < rate["odd"]


def test_the_same_chips_in_more_machines_are_not_faster(packaged_evidence):
    reference = packaged_evidence.fitted.reference
    for name in ("A100-40GB", "A100-80GB", "A100-80GB-PCIe", "V100-32GB", "H100", "H200", "B200"):
        splits = [Setup(name, 16 // nodes, nodes, 204, UNDATED, "mxnet") for nodes in (1, 2, 4)]
        rates = [reference.log_rate(split) for split in splits]
        assert rates == sorted(rates, reverse=True)


def test_other_networks_lose_as_much_by_small_batches_on_a_chip_whatever_its_memory():
    parts = {name: replace(SHEET["slow"], name=name, chip="die") for name in ("small", "large", "unseen")}
    effects = {("batch", "small"): 0.3, ("batch", "large"): -0.2, ("batch", "fast"): 0.4, ("mean",): 0.1}
    sheets = replace(REFERENCE.data_sheets, accelerators=SHEET | parts)
    found = replace(REFERENCE, data_sheets=sheets, effects=effects).of_chips()
    assert found.effects == pytest.approx(
        {("mean",): 0.1, ("batch", "fast"): 0.4} | {("batch", name): 0.05 for name in parts}
    )


def setup(accelerator="new", per_node=8, nodes=1, batch=256.0, year=2022, framework_family="mxnet"):
    return Setup(accelerator, per_node, nodes, batch, year, framework_family)


SHARING = -3 * 0.04 + 0.003  # of eight, the doubling to 4 costing less


@pytest.mark.parametrize(
    ("where", "effects"),
    [
        (setup(), 0.1 + 0.2 + SHARING),
        (setup(per_node=1), 0.1 + 0.2),
        (setup(per_node=2), 0.1 + 0.2 - 0.04),
        (setup(per_node=4), 0.1 + 0.2 - 2 * 0.04 + 0.003),
        (setup(per_node=6), 0.1 + 0.2 - 2 * 0.04 + 0.003 - math.log2(6 / 4) * 0.04),
        (setup(per_node=16), 0.1 + 0.2 + SHARING - 0.04),
        (setup(nodes=2), 0.1 + 0.2 + SHARING - 0.02 - 0.01),
        (setup(per_node=4, nodes=2), 0.1 + 0.2 + SHARING - 0.02 - 0.01),  # as many as full machines share
        (setup("old"), 0.1 - 3 * 0.04),
        (setup("odd"), 0.1 - 0.3 - 3 * 0.04),
        (setup("slice"), 0.1 - 0.3 + 0.05 - 3 * 0.04),
        (setup("slice", per_node=4, nodes=4), 0.1 - 0.3 + 0.05 - 4 * 0.04),
        (setup(year=2023), 0.1 + 0.2 + SHARING + 0.03 + 0.005),
        (setup(year=2030), 0.1 + 0.2 + SHARING + 0.03 + 0.005),
        (setup(year=2021), 0.1 + 0.2 + SHARING - 0.03),
        (setup(year=1999), 0.1 + 0.2 + SHARING - 0.03),
        (setup(framework_family="pytorch"), 0.1 + 0.2 + SHARING - 0.15),
        (setup("odd", framework_family="pytorch"), 0.1 - 0.3 - 3 * 0.04),
        (setup(year=UNDATED), 0.1 + 0.2 + SHARING + 0.07),
        (setup(year=UNDATED, framework_family="pytorch"), 0.1 + 0.2 + SHARING + 0.07),
    ],
)
def test_effects_are_added_to_the_roofline(where, effects):
    assert REFERENCE.log_rate(where) == pytest.approx(SHEETS.roofline(where.accelerator) + effects)


@pytest.mark.parametrize(
    ("name", "year", "added"),
    [("old", 2010, -4 * 0.03), ("old", 2018, -4 * 0.03), ("game", 2018, 0), ("old", 2030, 0.035)],
)
def test_a_part_never_measured_runs_software_from_its_introduction_to_the_newest(name, year, added):
    assert REFERENCE.software(name, year, "mxnet") == pytest.approx(added)


def test_software_of_no_year_is_the_middle_of_the_possible_ones():
    assert REFERENCE.software("old", UNDATED, "pytorch") == REFERENCE.software("old", 2021, "mxnet")  # 2018 to 2023


def test_software_of_a_part_of_unknown_age_is_not_of_the_year_0():
    ageless = replace(SHEETS, accelerators={"ageless": replace(PARTS["old"], name="ageless", introduced=None)})
    model = replace(REFERENCE, data_sheets=ageless)
    first = min(first for first, _ in REFERENCE.years.values())
    assert model.software("ageless", 1990, "mxnet") == model.software("ageless", first, "mxnet")
    assert abs(model.software("ageless", UNDATED, "mxnet")) < 1


def test_the_batch_bends_by_what_was_learned_of_all_and_of_the_accelerator():
    lost = math.log((1 + 20 / 32) / (1 + 20 / 256))
    assert REFERENCE.log_rate(setup(batch=32)) == pytest.approx(REFERENCE.log_rate(setup()) - 1.75 * lost)
    assert REFERENCE.log_rate(setup("old", batch=32)) == pytest.approx(REFERENCE.log_rate(setup("old")) - 1.5 * lost)


def test_without_a_data_sheet_the_typical_rate_stands_in():
    assert REFERENCE.offset("silent") == 7.0
    assert not REFERENCE.knows("silent")
    measured = replace(REFERENCE, years={**REFERENCE.years, "silent": (2022, 2022)})
    assert measured.knows("silent")
    assert measured.log_rate(setup("silent", per_node=1)) == pytest.approx(7.0 + 0.1 - 0.3)


def test_a_measured_part_is_answered_whoever_makes_it():
    assert not REFERENCE.is_known_or_predicted("odd")
    assert replace(REFERENCE, years={"odd": (2022, 2022)}).is_known_or_predicted("odd")
    assert REFERENCE.is_known_or_predicted("old")
    assert not REFERENCE.is_known_or_predicted("nowhere")


def test_the_middle_of_the_batches_that_people_chose_is_taken_where_nobody_did():
    uses = {name: TypicalUse(0.0, batch) for name, batch in (("a", 100.0), ("b", 300.0), ("c", 200.0))}
    model = replace(REFERENCE, typical=uses)
    assert model.largest_batch("b") == 300
    assert model.largest_batch("old") == 200
    assert replace(REFERENCE, typical={}).largest_batch("old") == math.inf


def test_effects_of_hardware_and_software_have_these_names_and_values():
    hardware = {key: value for key, value, _ in hardware_terms(SHEETS, "slice")}
    assert hardware == {
        ("mean",): 1.0,
        ("accelerator", "slice"): 1.0,
        ("vendor", "other"): 1.0,
        ("vendor", "Google"): 1.0,
        ("compute",): pytest.approx(math.log(200 / 300)),
        ("bandwidth",): pytest.approx(math.log(1200 / 1500)),
    }
    assert {key for key, _, _ in hardware_terms(SHEETS, "new")} == {
        ("mean",),
        ("accelerator", "new"),
        ("compute",),
        ("bandwidth",),
    }
    software = {key: value for key, value, _ in software_terms(PARTS["new"], 2020, "pytorch")}
    assert software == {
        ("trend",): -2.0,
        ("year", "2020"): 1.0,
        ("year", "new", "2020"): 1.0,
        ("framework", "pytorch"): 1.0,
    }


def test_a_part_without_a_data_sheet_may_lie_anywhere():
    spread = {name: {key: s for key, _, s in hardware_terms(SHEETS, name)} for name in ("new", "silent")}
    assert spread["silent"]["accelerator", "silent"] > 5 * spread["new"]["accelerator", "new"]
    values = {key: value for key, value, _ in hardware_terms(SHEETS, "silent")}
    assert values["compute",] == values["bandwidth",] == 0


@pytest.mark.parametrize(
    ("unlike", "reference"),
    [
        ({"stack": "other"}, False),
        ({"model": "resnet18"}, False),
        ({"phases": (Phase(192, 0, 1),)}, False),
        ({"phases": (Phase(192, 0, 1), Phase(224, 1, 2))}, False),
        ({"phases": (Phase(224, 0, 1), Phase(224, 1, 2))}, True),
        ({"organisation": "others"}, True),
    ],
)
def test_the_reference_is_one_stack_network_and_size(unlike, reference):
    assert is_reference(reference_recipe(**unlike)) == reference


EFFECTS = {("count",): 0.5, ("count", "a"): -2.0}


def test_effects_times_their_values_are_added_up():
    assert total(EFFECTS, [(("count",), 3.0, 0.1), (("count", "a"), 0.25, 0.1)]) == pytest.approx(1.0)


def test_an_effect_that_was_never_fitted_counts_as_nothing():
    assert total(EFFECTS, [(("count",), 3.0, 0.1), (("count", "b"), 100.0, 0.1)]) == pytest.approx(1.5)
    assert total({}, [(("count",), 3.0, 0.1)]) == 0


def test_each_doubling_of_a_count_is_a_step_and_the_last_may_be_a_part_of_one():
    assert list(doublings(1)) == list(doublings(0)) == []
    assert list(doublings(8)) == [("2", 1.0), ("4", 1.0), ("8", 1.0)]
    assert list(doublings(6)) == [("2", 1.0), ("4", 1.0), ("8", pytest.approx(math.log2(6 / 4)))]


def test_steps_have_effects_of_their_own_and_one_of_all():
    steps = list(count_steps(SHEETS, "slice", 2, 2))
    assert [step.share for step in steps] == [1.0, 1.0]
    assert [[key for key, _, _ in step.terms] for step in steps] == [
        [("count",), ("count", "slice", size)] for size in ("2", "4")
    ]
    machines = list(count_steps(SHEETS, "new", 1, 2))[-1]
    assert [key for key, _, _ in machines.terms] == [("machines",), ("machines", "new")]


def test_a_row_has_the_share_that_it_made_of_a_doubling():
    third = Doubling(0.3, [(("count",), 2.0, 0.1)])
    assert list(terms_of([third])) == [(("count",), 0.6, 0.1)]


def test_a_doubling_that_would_make_faster_does_nothing():
    assert never_faster([0.2, -0.1, -0.2, 0.3]) == pytest.approx([0, 0, -0.1, -0.3, -0.3])
    assert shared([0, 0, -0.1, -0.3], np.array([0, 1, 2, 4, 6, 8])) == pytest.approx(
        [0, 0, 0, -0.1, -0.1 - 0.2 * math.log2(6 / 4), -0.3]
    )


@pytest.mark.parametrize("more", [0.0, 0.5])
def test_a_chip_is_no_slower_than_with_less_memory(more):
    known = replace(REFERENCE, effects={**REFERENCE.effects, ("accelerator", "new-big"): more})
    small, big = (known.log_rate(setup(name)) for name in ("new", "new-big"))
    assert big - small == pytest.approx(max(more - 0.2 - 0.003, 0), abs=1e-9)
    alone = replace(known, data_sheets=replace(SHEETS, accelerators={"new-big": replace(PARTS["new-big"], twin=None)}))
    assert alone.log_rate(setup("new-big")) == pytest.approx(small + more - 0.2 - 0.003)


def test_what_nobody_measured_is_no_faster_than_its_memory_allows():
    quick = replace(REFERENCE, effects={**REFERENCE.effects, ("mean",): 3.0})
    allowed = math.log(1000 / 0.3)
    assert quick.log_rate(setup("old")) == pytest.approx(allowed)
    assert quick.log_rate(setup("new")) > math.log(2000 / 0.3)  # somebody measured more
    assert quick.roof("silent") == math.inf


def test_no_network_makes_small_batches_faster():
    lost = math.log((1 + 20 / 32) / (1 + 20 / 256))
    small = setup(batch=32)
    assert REFERENCE.log_rate(small, steeper=0.4) == pytest.approx(REFERENCE.log_rate(setup()) - 2.15 * lost)
    assert REFERENCE.log_rate(small, steeper=-5.0) == pytest.approx(REFERENCE.log_rate(setup()))
