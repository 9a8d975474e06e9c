"""The roofline by hand, and what stands between it and a prediction."""

import math

import pytest
from msgspec.structs import replace
from support.speeds import PARTS, SHEETS

from costcalc.hardware import Accelerator
from costcalc.throughput.data_sheets import VINTAGE_MARGIN, DataSheets, part, twin


def test_an_image_costs_arithmetic_and_memory_one_after_the_other():
    seconds = 0.04 / 400 + 0.3 / 2000
    assert math.exp(SHEETS.roofline("new")) == pytest.approx(1 / seconds)
    assert SHEETS.bandwidth_roofline("new") == SHEETS.roofline("new")


@pytest.mark.parametrize("unknown", ["dense_16bit_tflops", "memory_bandwidth_gb_per_s"])
def test_no_roofline_without_both_figures(unknown):
    sheets = replace(SHEETS, accelerators={"new": replace(PARTS["new"], **{unknown: None})})
    assert sheets.roofline("new") is None
    assert not sheets.is_limited_by_power("new")


def test_no_roofline_for_a_chip_that_computes_out_of_its_own_memory():
    sheets = replace(SHEETS, accelerators={"new": replace(PARTS["new"], device_memory=False)})
    assert sheets.roofline("new") is None


def test_a_name_that_is_not_listed_has_no_data_sheet():
    processor = part(PARTS, "Xeon")
    assert (processor.name, processor.chip, processor.vendor) == ("Xeon", "Xeon", "")
    assert processor == Accelerator.unlisted("Xeon") == SHEETS.part("Xeon")
    assert SHEETS.roofline("Xeon") is None
    assert not processor.predicted_unmeasured
    assert not processor.cluster_network


def test_parts_that_differ_in_memory_alone_are_twins():
    assert twin(PARTS, "new-big") == "new"
    assert twin(PARTS, "new") == "new"
    assert twin(PARTS, "nowhere") == "nowhere"


@pytest.fixture
def frugal():
    """Sheets where measured parts made 1 image per joule by 2018 and 10 by 2022, and a part of 2020 that may use 50 W."""
    weak = replace(PARTS["new"], name="weak", power_watts=50, introduced=2020)
    return DataSheets({**PARTS, "weak": weak}, 0.04, 0.3, ((2018, 1.0), (2022, 10.0)))


def test_power_allows_a_margin_over_the_best_part_before(frugal):
    assert math.exp(frugal.roofline("weak")) == pytest.approx(VINTAGE_MARGIN * 1.0 * 50)
    assert frugal.is_limited_by_power("weak")
    assert frugal.bandwidth_roofline("weak") == SHEETS.roofline("new")


def test_a_part_of_the_same_year_counts_as_before(frugal):
    later = replace(frugal.accelerators["weak"], introduced=2022)
    assert math.exp(replace(frugal, accelerators={"weak": later}).roofline("weak")) == pytest.approx(1.25 * 10.0 * 50)


@pytest.mark.parametrize(
    "unlike",
    [{"introduced": 2023}, {"introduced": 2017}, {"introduced": None}, {"vendor": "AMD"}, {"power_watts": None}],
)
def test_power_limits_nobody_else(frugal, unlike):
    free = replace(frugal, accelerators={"weak": replace(frugal.accelerators["weak"], **unlike)})
    assert not free.is_limited_by_power("weak")
    assert free.roofline("weak") == free.bandwidth_roofline("weak")


def test_enough_power_changes_nothing(frugal):
    assert not frugal.is_limited_by_power("new")
    assert frugal.roofline("new") == SHEETS.roofline("new")


def test_ratios_of_a_data_sheet():
    assert SHEETS.flops_per_byte("new") == pytest.approx(0.2)
    assert SHEETS.tflops_per_watt("old") == pytest.approx(0.4)
    assert math.isnan(SHEETS.flops_per_byte("silent"))
    assert SHEETS.tflops_per_watt("silent") == math.inf
    powerless = replace(SHEETS, accelerators={"old": replace(PARTS["old"], power_watts=None)})
    assert powerless.tflops_per_watt("old") == 100
