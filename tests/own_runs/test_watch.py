"""What a running training has cost and will have cost, by hand."""

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import numpy as np
import pytest
from msgspec.structs import replace
from support.own_training_runs import own_run

from costcalc.convergence.partial import Course
from own_runs.logs.log import NothingYet, Point, TrainingLog
from own_runs.runs import CurvePoint
from own_runs.watch import CannotWatch, Plan, Verdict, outlook, whole_course

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
PLAN = Plan(hourly_rate=Decimal(10), max_cost=Decimal(100), planned_epochs=40.0, target=0.76, metric="acc")


def error(share, end):
    """From 0.9 at the start; the errors of a family keep their ratio."""
    return end * (0.9 / 0.24) ** (1 - share)


def log(until, end=0.24, seconds=900.0, metric="acc"):
    """An evaluation every epoch, which takes a quarter of an hour."""
    return TrainingLog(
        "us",
        tuple(
            Point(f"row {epoch}", epoch, None, seconds * epoch, {metric: 1 - error(epoch / 40, end)})
            for epoch in range(1, until + 1)
        ),
    )


def course(end, last=None):
    """A whole run, whose last evaluation may differ."""
    return Course.of(list(range(1, 41)), [*(error(epoch / 40, end) for epoch in range(1, 40)), last or end], 40.0)


FAMILY = [course(end) for end in (0.22, 0.23, 0.24, 0.25, 0.26)]


def test_dollars_so_far_and_to_the_target():
    found = outlook(log(20, end=0.2), PLAN, FAMILY, NOW)
    assert (found.epochs, found.hours) == (20, pytest.approx(5.0))
    assert float(found.spent) == pytest.approx(50)
    crossing = 40 * (1 - math.log(0.24 / 0.2) / math.log(0.9 / 0.24))
    assert float(found.to_target[1]) == pytest.approx(10 * crossing / 4, rel=0.01)
    assert float(found.to_end) == pytest.approx(100)
    low, middle, high = found.end
    assert low <= middle <= high
    assert middle == pytest.approx(0.8, abs=0.002)
    assert found.verdict is Verdict.WITHIN


def test_a_target_near_the_end_may_leave_the_budget():
    bent = [course(end, last) for end, last in ((0.22, 0.23), (0.24, 0.23), (0.25, 0.26), (0.26, 0.25))]
    found = outlook(log(20), PLAN, bent, NOW)
    assert found.to_target[2] == Decimal("Infinity")
    assert found.verdict is Verdict.MAY_LEAVE


def test_a_budget_below_the_soonest_is_left():
    assert outlook(log(20, end=0.2), replace(PLAN, max_cost=Decimal(60)), FAMILY, NOW).verdict is Verdict.LEAVES


def test_a_target_that_is_reached_costs_what_it_cost():
    found = outlook(log(20), replace(PLAN, target=0.5), FAMILY, NOW)
    first = next(epoch for epoch in range(1, 41) if error(epoch / 40, 0.24) <= 0.5)
    assert found.verdict is Verdict.REACHED
    assert [float(cost) for cost in found.to_target] == pytest.approx([10 * first / 4] * 3)


def test_without_a_family_it_counts_to_the_end_and_says_what_is_not_known():
    found = outlook(log(20), PLAN, [], NOW)
    assert float(found.to_target[1]) == pytest.approx(100)
    assert found.end is None
    assert "3 are needed" in found.unknown
    assert outlook(log(20), replace(PLAN, target=None), [], NOW).unknown == ""


def test_a_schedule_that_is_over_without_its_target_leaves_the_budget():
    assert outlook(log(40, end=0.25), PLAN, [], NOW).verdict is Verdict.LEAVES


def test_epochs_that_take_longer_and_longer_widen_the_range():
    points = tuple(point._replace(seconds=900 * point.epochs**1.2) for point in log(20).points)
    steady, slowing = (
        outlook(each, replace(PLAN, target=None), [], NOW) for each in (log(20), replace(log(20), points=points))
    )
    assert steady.to_target[2] == pytest.approx(steady.to_target[0])
    assert slowing.to_target[0] < slowing.to_target[1] < slowing.to_target[2]


def test_losses_fall_to_their_target():
    points = tuple(point._replace(values={"loss": error(point.epochs / 40, 0.2)}) for point in log(20).points)
    plan = replace(PLAN, metric="loss", lower_is_better=True, target=0.24)
    found = outlook(TrainingLog("us", points), plan, FAMILY, NOW)
    assert found.end[1] == pytest.approx(0.2, abs=0.002)
    assert found.verdict is Verdict.WITHIN


def test_metrics_in_percent_are_told_in_percent():
    points = tuple(point._replace(values={"acc": 100 * point.values["acc"]}) for point in log(20, end=0.2).points)
    found = outlook(TrainingLog("us", points), replace(PLAN, target=76.0), FAMILY, NOW)
    assert found.end[1] == pytest.approx(80, abs=0.2)


def test_a_log_without_times_goes_by_the_clock():
    points = tuple(point._replace(seconds=None) for point in log(20).points)
    started = NOW - timedelta(hours=4)
    found = outlook(TrainingLog("us", points), replace(PLAN, started=started, target=None), [], NOW)
    assert float(found.spent) == pytest.approx(40)
    assert float(found.to_end) == pytest.approx(80)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"metric": "f1"}, "the log has no f1: add --metric with one of acc"),
    ],
)
def test_what_is_missing_is_asked_for(changed, told):
    with pytest.raises(CannotWatch, match=told):
        outlook(log(20), replace(PLAN, **changed), [], NOW)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"seconds": None}, "--started"),
        ({"epochs": None, "steps": 100.0}, "--steps-per-epoch"),
    ],
)
def test_what_the_log_does_not_tell_is_asked_for(changed, told):
    points = tuple(point._replace(**changed) for point in log(3).points)
    with pytest.raises(CannotWatch, match=told):
        outlook(TrainingLog("us", points), PLAN, [], NOW)


def test_before_the_first_evaluation_there_is_nothing_yet():
    untrained = tuple(point._replace(epochs=0.0) for point in log(3).points)
    losses = (Point("row 1", 0.5, None, 60.0, {"loss": 3.5}),)
    for points in (untrained, losses):
        with pytest.raises(NothingYet, match="no "):
            outlook(TrainingLog("us", points), PLAN, [], NOW)


def test_a_loss_is_known_by_its_name():
    points = tuple(point._replace(values={"val_loss": error(point.epochs / 40, 0.2)}) for point in log(20).points)
    found = outlook(TrainingLog("us", points), replace(PLAN, metric=None, target=0.24), FAMILY, NOW)
    assert found.verdict is Verdict.WITHIN  # a loss above the target has not reached it


def test_steps_become_epochs():
    points = tuple(point._replace(epochs=None, steps=100.0 * point.epochs) for point in log(20).points)
    assert outlook(TrainingLog("us", points), replace(PLAN, steps_per_epoch=100.0), FAMILY, NOW).epochs == 20


def test_of_several_metrics_one_must_be_named():
    points = (Point("row 1", 1.0, None, 60.0, {"acc": 0.5, "loss": 1.0}),)
    with pytest.raises(CannotWatch, match="several metrics: add --metric with one of acc, loss"):
        outlook(TrainingLog("us", points), replace(PLAN, metric=None), [], NOW)


def test_stored_runs_are_a_family():
    runs = [
        own_run(curve=tuple(CurvePoint(epoch, None, 1 - error(epoch / 40, end)) for epoch in range(1, 41)))
        for end in (0.2, 0.22, 0.24)
    ]
    found = outlook(log(20, end=0.21), replace(PLAN, target=0.7), [whole_course(run) for run in runs], NOW)
    assert found.end[1] == pytest.approx(0.79, abs=0.002)
    losses = own_run(
        lower_is_better=True, curve=(CurvePoint(1, None, 2.5), CurvePoint(4, None, 0.5)), scheduled_epochs=8
    )
    assert np.exp(whole_course(losses).at([0.125, 0.5])) == pytest.approx([2.5, 0.5])


def test_a_longer_schedule_is_priced_where_going_on_is_unlikely_to_do():
    lengths = {20.0: 0.260, 30.0: 0.250, 40.0: 0.242, 60.0: 0.233, 80.0: 0.226, 160.0: 0.210}
    family = [replace(course(end), epochs=epochs) for epochs, end in lengths.items()]
    new = outlook(log(20), replace(PLAN, target=0.77), family, NOW).longer
    assert new.epochs in (80, 160)
    assert new.cost == Decimal(repr(new.epochs * 0.25)) * 10
    assert new.chance >= 0.8
    assert outlook(log(20), replace(PLAN, target=0.70), family, NOW).longer is None, "this one is sure of it"
    assert outlook(log(20), replace(PLAN, target=0.77), FAMILY, NOW).longer is None, "all of one length"
