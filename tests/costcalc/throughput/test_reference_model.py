import math
from dataclasses import replace

import pytest

from costcalc.fitting.reference_model import Observation, fit_core
from costcalc.hardware import Accelerator
from costcalc.throughput.data_sheets import VINTAGE_MARGIN, Chips
from costcalc.throughput.reference_model import USUAL_YEAR, Setting, step_overhead, tool

SHEET = {
    "slow": Accelerator("slow", "NVIDIA", 40, 300, 1500, 400, 2020, "test"),
    "fast": Accelerator("fast", "NVIDIA", 80, 600, 3000, 400, 2022, "test"),
    "faster": Accelerator("faster", "NVIDIA", 80, 1200, 6000, 400, 2024, "test"),
    "slice": Accelerator("slice", "Google", 32, 300, 1500, 400, 2021, "test"),
    "unknown": Accelerator("unknown", "Acme", None, None, None, None, None, "test"),
}
EIGHT = Setting("slow", 8, 1, 256, 2022, "MXNet NGC 22.04")


def seen(setting, rate, organisation="one"):
    return Observation(setting, organisation, math.log(rate))


@pytest.fixture
def core():
    rows = [seen(EIGHT, 3000, who) for who in ("one", "two", "three")]
    rows += [seen(EIGHT._replace(accelerator="fast"), 6000, who) for who in ("one", "two", "three")]
    rows += [seen(EIGHT._replace(nodes=4, batch=64), 2300, "one"), seen(EIGHT._replace(year=2023), 3150, "two")]
    return fit_core(rows, SHEET)


def test_what_was_measured_comes_back(core):
    assert math.exp(core.log_rate(EIGHT)) == pytest.approx(3000, rel=0.03)
    assert math.exp(core.log_rate(EIGHT._replace(accelerator="fast"))) == pytest.approx(6000, rel=0.03)


def test_twice_the_chip_is_twice_as_fast_before_anybody_measured_it(core):
    ratio = core.log_rate(EIGHT._replace(accelerator="faster", year=2022)) - core.log_rate(
        EIGHT._replace(accelerator="fast")
    )
    assert math.exp(ratio) == pytest.approx(2, rel=0.15)


def test_smaller_batches_are_slower(core):
    rates = [core.log_rate(EIGHT._replace(batch=batch)) for batch in (16, 64, 256, 1024)]
    assert rates == sorted(rates)
    assert step_overhead(256) == 0


def test_years_outside_those_seen_change_nothing(core):
    assert core.log_rate(EIGHT._replace(year=1999)) == core.log_rate(EIGHT._replace(year=2022))
    assert core.log_rate(EIGHT._replace(year=2050)) == core.log_rate(EIGHT._replace(year=2023))


def test_a_chip_never_measured_runs_no_software_older_than_itself(core):
    faster = EIGHT._replace(accelerator="faster")
    assert core.log_rate(faster._replace(year=2016)) == core.log_rate(faster._replace(year=2023))


def test_a_slice_is_one_machine(core):
    assert core.place("slice", 4, 8) == core.place("slice", 32, 1)


def test_only_what_was_measured_or_has_a_data_sheet_is_known(core):
    assert [name for name in (*SHEET, "nowhere") if core.knows(name)] == ["slow", "fast", "faster", "slice"]
    assert core.resembles_measured("faster")
    odd = replace(core.chips, table={**SHEET, "odd": replace(SHEET["slow"], name="odd", dense_16bit_tflops=3000)})
    assert not replace(core, chips=odd).resembles_measured("odd")


def test_nothing_to_learn_from_says_so():
    with pytest.raises(ValueError, match=r"throughputs\.csv"):
        fit_core([], SHEET)


def test_networks_come_with_high_bandwidth_memory():
    chips = Chips(SHEET, 0.04, 0.3)
    assert chips.networked("slow")
    assert not chips.networked("unknown")
    assert not chips.networked("nowhere")


@pytest.mark.parametrize(
    ("framework", "expected"),
    [
        ("MXNet NGC 23.04", "mxnet"),
        ("NGC 22.05", "mxnet"),
        ("TensorFlow 2.8", "tensorflow"),
        ("Caffe", "other"),
        ("", "mxnet"),
    ],
)
def test_a_framework_is_known_by_its_family(framework, expected):
    assert tool(framework) == expected


def test_the_usual_software_is_the_middle_of_what_was_published(core):
    rates = sorted(core.log_rate(EIGHT._replace(year=year)) for year in (2022, 2022, 2022, 2022, 2023))
    assert core.log_rate(EIGHT._replace(year=USUAL_YEAR)) == pytest.approx(rates[2])


def test_a_chip_gets_no_more_from_a_watt_than_its_vintage(core):
    frugal = replace(SHEET["fast"], name="frugal", power_watts=50, introduced=2021)
    chips = replace(core.chips, table={**SHEET, "frugal": frugal})
    best = 3000 / 400  # images per joule of the one chip measured by 2021
    assert chips.starved("frugal")
    assert math.exp(chips.roofline("frugal")) == pytest.approx(VINTAGE_MARGIN * best * 50, rel=0.03)
    assert not replace(core, chips=chips).resembles_measured("frugal")
    assert not replace(chips, table={**SHEET, "frugal": replace(frugal, introduced=2030)}).starved("frugal")


def test_a_chip_whose_watts_do_other_things_is_unlike(core):
    games = replace(SHEET["slow"], name="games", power_watts=900)
    assert not replace(core, chips=replace(core.chips, table={**SHEET, "games": games})).resembles_measured("games")


def test_steps_are_no_faster_than_those_that_people_chose(core):
    assert core.largest_batch("slow") == 256
    assert core.largest_batch("never measured") == 256


def test_an_accelerator_of_unruly_rates_is_less_sure():
    calm = [seen(EIGHT, 3000, who) for who in "abcdefgh"]
    wild = [seen(EIGHT._replace(accelerator="fast"), 6000 + 400 * (-1) ** n, str(n)) for n in range(8)]
    core = fit_core([*calm, *wild], SHEET)
    assert core.scatter("slow") < 1 < core.scatter("fast")
    assert core.scatter("never measured") == 1


def test_one_organisation_agreeing_with_itself_says_nothing_of_others():
    alone = [seen(EIGHT._replace(accelerator="fast"), 6000, "one") for _ in range(8)]
    many = [seen(EIGHT._replace(accelerator="fast"), 6000, who) for who in "abcdefgh"]
    calm = [seen(EIGHT, 3000, who) for who in "abcdefgh"]
    assert fit_core([*calm, *alone], SHEET).scatter("fast") > fit_core([*calm, *many], SHEET).scatter("fast")


def test_the_first_chip_of_a_maker_is_like_those_of_other_makers_than_nvidia():
    table = SHEET | {name: replace(SHEET["fast"], name=name, vendor=name) for name in ("odd", "new")}
    seen_odd = [seen(EIGHT._replace(accelerator="odd"), 9000, who) for who in "abcd"]
    nvidia = [seen(EIGHT._replace(accelerator="fast"), 6000, who) for who in "abcd"]
    core = fit_core([*seen_odd, *nvidia], table)
    rate = {name: math.exp(core.log_rate(EIGHT._replace(accelerator=name))) for name in ("fast", "new", "odd")}
    assert rate["fast"] < rate["new"] < rate["odd"]


def test_the_same_chips_in_more_machines_are_not_faster(packaged_evidence):
    core = packaged_evidence.fitted.core
    for name in ("A100-40GB", "A100-80GB", "A100-80GB-PCIe", "V100-32GB", "H100", "H200", "B200"):
        splits = [Setting(name, 16 // nodes, nodes, 204, USUAL_YEAR, "MXNet") for nodes in (1, 2, 4)]
        rates = [core.log_rate(split) for split in splits]
        assert rates == sorted(rates, reverse=True)
