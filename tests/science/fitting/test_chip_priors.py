"""Chips that nobody measured: data sheet and tasks weighted by how well each tells, below the roof of their memory."""

import math

import pytest
from msgspec.structs import replace
from support.mlperf_results import ACCELERATORS, accelerator, mlperf_row, publish

from costcalc.throughput.reference_model import ChipPrior
from science.fitting.chip_priors import BY_RULE, ChipSources, TaskRatio, chip_priors, deviations, left_out, missed
from science.fitting.reference_model import observations
from science.validation.held_out import HeldOut, Learner

NEW = accelerator("N100", 600.0, 3000.0)
SISTER = accelerator("N100S", 600.0, 3000.0, silicon="N100")
SURE = {"data sheet, NVIDIA": 0.1, "image, NVIDIA": 0.1, "other, NVIDIA": 1.0}


def task(ratio, kind="image", name="N100", against="Z100"):
    return TaskRatio(f"{kind} {ratio}", kind, name, against, ratio)


RATES = {"X100": 2500.0, "Y100": 1250.0, "Z100": 5000.0}
ROWS = [mlperf_row(who, name, rate=rate) for who in ("Ada", "Bob", "Cleo") for name, rate in RATES.items()]


@pytest.fixture(scope="module")
def reference():
    return Learner(publish(ROWS, [*ACCELERATORS, NEW, SISTER])).reference_model(HeldOut())


def prior(reference, *ratios, name="N100", known=SURE):
    return ChipSources(reference, ratios, known).prior(name)


def test_the_data_sheet_alone_adds_nothing(reference):
    alone = prior(reference)
    assert alone == ChipPrior(
        pytest.approx(0, abs=0.02), pytest.approx(0.128, abs=0.02), pytest.approx(0.128, abs=0.02)
    )


def test_a_task_as_sure_as_the_data_sheet_moves_it_half_way_and_widens_it(reference):
    assert prior(reference, task(0.6)).shift == pytest.approx(math.log(0.6) / 2, abs=0.03)
    assert prior(reference, task(0.6)).slower > 1.5 * prior(reference).slower
    assert abs(prior(reference, task(0.6, "other")).shift) < 0.02


def test_a_part_takes_the_tasks_of_its_silicon_after_its_own(reference):
    assert prior(reference, task(0.6), name="N100S") == prior(reference, task(0.6))
    own = replace(task(0.9, name="N100S"), task="image 0.6")
    assert prior(reference, own, task(0.6), name="N100S") == prior(reference, own, name="N100S")


def test_nothing_is_faster_than_its_memory(reference):
    fast = prior(reference, task(30.0), known=SURE | {"data sheet, NVIDIA": 1.0})
    sheets = reference.data_sheets
    above = sheets.memory_roof("N100") - ChipSources(reference, ()).by_prior("N100", fast)
    assert 0 < fast.faster <= above
    assert fast.slower > 3 * fast.faster


def test_a_chip_without_a_data_sheet_has_none(reference):
    assert prior(reference, name="unlisted") is None


def test_only_chips_that_nobody_measured_have_priors(reference):
    assert set(chip_priors(reference, [], [], {"X100", "Y100", "Z100"})) == {"N100", "N100S"}


def test_a_measured_chip_is_told_from_the_others_alone():
    published = publish(ROWS)
    found = missed(
        observations(published.evidence.throughputs, published.evidence.accelerators),
        [],
        {a.name: a for a in ACCELERATORS},
    )
    assert {one.name for one in found} == {"X100", "Y100", "Z100"}
    assert all(one.name not in one.sources.reference.years for one in found)
    assert 0 < deviations(found)["data sheet, NVIDIA"] < BY_RULE
    assert set(deviations(found, "X100")) == {"data sheet, NVIDIA"}
    assert len(list(left_out(found))) == 3


def test_a_maker_never_measured_gets_no_gain_of_others(reference):
    theirs = replace(reference, effects={**reference.effects, ("vendor", "other"): 0.3})
    sheets = replace(
        theirs.data_sheets, accelerators={**theirs.data_sheets.accelerators, "N100": replace(NEW, vendor="AMD")}
    )
    of_amd = ChipSources(replace(theirs, data_sheets=sheets), ())
    assert of_amd.by_data_sheet("N100") == pytest.approx(ChipSources(theirs, ()).by_data_sheet("N100"), abs=0.05)
    assert [guess.sort for guess in of_amd.guesses("N100")] == ["data sheet, a maker never measured"]
