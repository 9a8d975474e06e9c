"""A run of one's own is a recipe like any other: its curve, its speed as measured, carried over, and said to be so."""

import math
from datetime import UTC, date, datetime

import pytest
from msgspec.structs import replace
from support.engine import answer
from support.own_training_runs import own_run
from support.services import NOW, packaged_catalogue, packaged_service

from costcalc.offer import PurchaseOption
from costcalc.query import EstimateQuery
from own_runs.evidence import evidence_of
from own_runs.runs import CurvePoint

ASKED = EstimateQuery("my-run", 0.85, metric="val_accuracy", dataset="my-data", recipes="all", limit=1000)
HOME = replace(ASKED, accelerator=("A100-80GB",), accelerators=2, purchase=(PurchaseOption.ON_DEMAND,), limit=1)
FALLING = tuple(CurvePoint(float(epochs), None, 4 * 0.8**epochs) for epochs in range(1, 11))
WIDE = packaged_service().evidence.fitted.widths


def asked_of(run, query=ASKED):
    return answer(query, evidence_of(run, packaged_service().evidence), packaged_catalogue(), NOW)


def on_one(accelerator, run=None, **changes):
    query = replace(ASKED, accelerator=(accelerator,), nodes=1, limit=1, overheads="none", **changes)
    [one] = asked_of(run or own_run(), query).estimates
    return one


def test_on_its_own_machine_it_takes_as_long_as_it_took():
    [one] = asked_of(own_run(), replace(HOME, overheads="none")).estimates
    assert (one.epochs, one.evidence.throughput, one.code) == (5, "measured", "own")
    assert one.images_per_second == pytest.approx(2000)
    assert one.hours == pytest.approx(5 * 1_200_000 / 2000 / 3600)
    assert math.log(one.hours_high / one.hours) < 0.2  # epochs and speed together


def test_overheads_leave_out_what_nobody_said():
    [one] = asked_of(own_run(), HOME).estimates
    assert one.overhead_hours == pytest.approx(300 / 3600)
    assert any("no staging of data" in line for line in one.assumptions)
    [staged] = asked_of(own_run(data_set_gb=180.0), HOME).estimates
    assert staged.overhead_hours == pytest.approx(300 / 3600 + 0.1)


@pytest.mark.parametrize(("dataset", "is_limited"), [("my-data", False), ("imagenet", True)])
def test_only_imagenet_is_taken_to_be_prepared_as_images_are(dataset, is_limited):
    run = own_run(dataset=dataset, samples_per_second=200_000.0)
    found = asked_of(run, replace(ASKED, dataset=dataset, accelerator=("V100",), nodes=1, limit=20)).estimates
    assert found
    assert any(each.limited_by != "accelerator" for each in found) == is_limited
    assert any(line.startswith("Data pipeline") for each in found for line in each.assumptions) == is_limited


def test_batches_of_ones_own_data_are_counted_in_samples():
    found = asked_of(own_run(), replace(ASKED, accelerator=("T4",), accelerators=1)).estimates
    said = [line for each in found for line in each.assumptions if line.startswith("Batch ")]
    assert said
    assert not any("images" in line for line in said)
    notes = {each.evidence_notes.throughput for each in asked_of(own_run(), replace(ASKED, limit=500)).estimates}
    assert any("samples/s on 2 x A100-80GB" in note for note in notes)
    assert not any("images/s" in note for note in notes)


def test_another_machine_has_the_ratio_of_the_chips_and_a_range_that_is_wide_by_rule():
    one = on_one("H100", accelerators=1)
    assert one.evidence.throughput == "modelled"
    assert "carried over from the recipe's own log on 2 x A100-80GB to 1 x H100" in one.evidence_notes.throughput
    assert (
        "The range is wide by rule: there are too few results to measure the error of such estimates."
        in one.assumptions
    )
    assert math.log(one.hours_high / one.hours) > WIDE["code"].ln * 0.99
    assert 1000 < one.images_per_second < 4000  # of two A100 it were 2,000


def test_a_known_network_is_carried_over_as_itself_in_its_measured_range():
    one = on_one("H100", own_run(model="resnet50"), accelerators=1)
    assert not any("wide by rule" in line for line in one.assumptions)
    assert math.log(one.hours_high / one.hours) < WIDE["code"].ln


def test_twice_the_samples_of_an_epoch_take_twice_as_long_everywhere():
    larger = own_run(
        samples_per_epoch=2_400_000, curve=tuple(point._replace(seconds=None) for point in own_run().curve)
    )
    smaller = replace(larger, samples_per_epoch=1_200_000)
    for machine in ("H100", "A100-80GB"):
        assert on_one(machine, larger).train_hours == pytest.approx(2 * on_one(machine, smaller).train_hours)


def test_it_does_not_run_on_the_chips_of_another_vendor():
    assert {packaged_service().evidence.vendor(one.accelerator) for one in asked_of(own_run()).estimates} == {"NVIDIA"}


def test_a_loss_may_be_as_low_as_it_was():
    run = own_run(metric="val_loss", lower_is_better=True, curve=FALLING)
    query = replace(HOME, metric="val_loss", target=2.0)
    [one] = asked_of(run, query).estimates
    assert (one.epochs, one.target, one.metric) == (4, 2.0, "val_loss")
    assert one.success_probability == pytest.approx(1)
    found = asked_of(run, replace(query, target=0.1))
    assert (found.count, found.rejections["target_never_reached"]) == (0, 1)
    assert found.best_reached.accuracy == pytest.approx(4 * 0.8**10)
    [higher] = asked_of(run, replace(query, target=3.0)).estimates
    assert higher.epochs < one.epochs


def test_what_it_reached_at_its_end_another_run_reaches_with_even_chances():
    reached = own_run().reached
    [one] = asked_of(own_run(), replace(HOME, target=reached)).estimates
    assert one.success_probability == pytest.approx(0.5)
    assert any("end between 0.8941 and 0.8981" in line for line in one.assumptions)


def test_a_noisier_log_makes_the_chances_of_its_end_less_sure():
    noisy = own_run(curve=tuple(p._replace(value=p.value + 0.03 * (-1) ** e) for e, p in enumerate(own_run().curve)))
    query = replace(HOME, target=0.84)
    [sure], [less] = (asked_of(run, query).estimates for run in (own_run(), noisy))
    assert sure.success_probability > 0.999 > less.success_probability
    assert less.hours_high / less.hours > sure.hours_high / sure.hours


def test_every_answer_says_that_it_is_ones_own_run():
    for one in asked_of(own_run(), replace(ASKED, limit=50)).estimates:
        assert one.code == "own"
        assert one.evidence_notes.convergence == (
            "Your own run: val_accuracy in log.csv (Keras), of my-net on my-data, 2 x A100-80GB, 2026-11-19."
        )
        assert one.sources.convergence.source == "your log log.csv"


def test_a_question_of_an_earlier_day_does_not_know_it():
    earlier = asked_of(own_run(), replace(ASKED, as_of=datetime(2026, 11, 18, tzinfo=UTC)))
    assert (earlier.count, earlier.rejections["not_yet_published"]) == (0, 1)


def test_the_log_of_a_named_machine_is_replayed_there():
    run = own_run(provider="aws", instance_type="p3.16xlarge", accelerator="V100", accelerators=8, ran_on=date(2018, 1, 1),
                  curve=(CurvePoint(1.0, 100.0, 0.5), CurvePoint(2.0, 1000.0, 0.9)))  # fmt: skip
    query = replace(
        ASKED, instance_type=("p3.16xlarge",), target=0.5, crossing="first", overheads="none", nodes=1, limit=1
    )
    [one] = asked_of(run, query).estimates
    assert one.hours == pytest.approx(100 / 3600)
    assert one.evidence_notes.throughput == "Speed as logged on this very system."


def test_an_accelerator_is_asked_for_as_few_samples_as_it_had():
    few = own_run(batch_size=4, accelerators=1)
    assert on_one("H100", few, accelerators=1)
