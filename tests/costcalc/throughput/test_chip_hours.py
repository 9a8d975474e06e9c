"""Hours on one machine are hours on another by their data sheets: the law against ratios that MLPerf's tasks measured."""

import csv
import math
from pathlib import Path
from statistics import median

import pytest

from costcalc.evidence import load_evidence
from costcalc.hardware import Cluster
from costcalc.query import OwnMachine
from costcalc.throughput.chip_hours import WIDTHS
from costcalc.throughput.speed_model import TIERS
from costcalc.training import Tier
from own_runs.by_word import Stated

RATIOS = Path(__file__).parents[3] / "science" / "data" / "chip_ratios.csv"
EVIDENCE = load_evidence()


def table(on, *clusters, kind="any", hours=72.0):
    stated = Stated("any", hours, OwnMachine(*on), kind)
    evidence = stated.evidence(EVIDENCE)
    return evidence.speed_model.speeds(evidence.recipes, clusters)


def hours(on, *clusters, **more):
    return (table(on, *clusters, **more).seconds_per_epoch[0, :, 0] / 3600).tolist()


def test_the_machine_itself_takes_the_hours_that_were_stated():
    found = table((8, "A100-80GB"), Cluster("A100-80GB", 8))
    assert found.seconds_per_epoch[0, 0, 0] == pytest.approx(72 * 3600)
    assert TIERS[found.tier[0, 0]] is Tier.MEASURED
    assert math.exp(found.width_80[0, 0]) == pytest.approx(1.05)


def test_eight_h100_worked_by_hand():
    """The root of (989.4 / 312) x (3,350 / 2,039) is 2.28."""
    [found] = hours((8, "A100-80GB"), Cluster("H100", 8))
    new, old = (EVIDENCE.accelerators[name] for name in ("H100", "A100-80GB"))
    arithmetic = new.dense_16bit_tflops / old.dense_16bit_tflops
    by_hand = math.sqrt(arithmetic * new.memory_bandwidth_gb_per_s / old.memory_bandwidth_gb_per_s)
    assert found == pytest.approx(72 / by_hand)
    assert by_hand == pytest.approx(2.28, abs=0.01)


def test_there_and_back_again_is_the_same():
    there = hours((8, "A100-80GB"), Cluster("V100", 4))[0]
    assert hours((4, "V100"), Cluster("A100-80GB", 8), hours=there)[0] == pytest.approx(72)


def test_more_chips_take_less_time_and_more_chip_hours():
    one, eight, many = hours(
        (8, "A100-80GB"), Cluster("A100-80GB", 1), Cluster("A100-80GB", 8), Cluster("A100-80GB", 8, 4)
    )
    assert one > eight > many
    assert one < 8 * eight < 32 * many


def test_a_machine_without_a_data_sheet_is_refused():
    assert table((8, "A100-80GB"), Cluster("c5.18xlarge", 0)).refusal[0, 0] > 0
    assert table((1, "Nobody's"), Cluster("H100", 8)).refusal[0, 0] > 0


def test_ranges_are_wider_between_vendors_and_narrower_for_a_kind_that_is_known():
    other, same, known = (
        table((8, "A100-80GB"), Cluster(chip, 8), kind=kind).width_80[0, 0]
        for chip, kind in (("MI300X", "any"), ("H100", "any"), ("H100", "detection"))
    )
    assert other > same > known


def test_the_law_misses_the_ratios_of_mlperf_by_what_its_range_says():
    with RATIOS.open(encoding="utf-8") as file:
        rows = [
            row for row in csv.DictReader(file) if {vendor(row["accelerator"]), vendor(row["against"])} == {"NVIDIA"}
        ]
    assert len(rows) > 70
    off = sorted(abs(math.log(float(row["ratio"]) * ratio(row))) for row in rows)
    assert math.expm1(median(off)) < 0.2
    inside = sum(each <= WIDTHS["any"] for each in off) / len(off)
    assert 0.75 <= inside <= 0.88


def vendor(name):
    return EVIDENCE.accelerators[name].vendor


def ratio(row):
    return hours((8, row["against"]), Cluster(row["accelerator"], 8), hours=1.0)[0]
