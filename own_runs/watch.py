"""What a running training has cost, and will have cost at its target, with a range: from its log, its plan and its rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from costcalc.convergence.partial import LEVEL, Course, Forecast, NoForecast, forecast, sure_length
from costcalc.units import SECONDS_PER_HOUR
from own_runs.logs.log import NothingYet, Point, TrainingLog, times
from own_runs.logs.names import is_metric
from own_runs.metrics import called, likeliest
from own_runs.placing import placed
from own_runs.runs import Run, is_lower_better

NO_BUDGET = Decimal("Infinity")
BY_RULE = 0.2  # on either side, of the time of an epoch while it was seen once
LOW, HIGH = 0.1, 0.9  # quantiles of the seconds of an epoch between evaluations
PERCENT = 100.0
FIRST_EVALUATION = 1.0  # epochs by which most programs have written every metric
FEWEST_TIMES = 3
FEW_TIMES = "the log has {} times so far, and 3 are needed to tell what an epoch takes"
SHARE = "how much of its epoch is done is not known: add --steps-per-epoch, the samples of an epoch over the batch size"
NO_END = "the length of the run is unknown: add --planned-epochs, the length of its schedule, such as 90"
PAUSES = "its clock paused, and whether the machine was paid meanwhile decides: add --pauses paid or --pauses free"
Pauses = Literal["paid", "free"]


class CannotWatch(Exception):
    """The log has not what is asked about; the message says what to write."""


class CannotTell(CannotWatch):
    """The log does not tell what was spent; the message says what to add."""


class Verdict(StrEnum):
    """What becomes of the budget."""

    REACHED = "reached"
    WITHIN = "within"
    MAY_LEAVE = "may leave"
    LEAVES = "leaves"
    UNSURE = "unsure"

    @property
    def is_alarm(self) -> bool:
        return self in (Verdict.MAY_LEAVE, Verdict.LEAVES, Verdict.UNSURE)


class Plan(Struct, frozen=True):
    """What the owner of a run says of it: its target in a metric of the log, the epochs that are planned, what an hour of its
    machines costs and what all of it may cost (NO_BUDGET: any sum). `lower_is_better` is for metrics whose name does not
    tell it, `steps_per_epoch` for logs that count steps, `started` for those without times; `pauses` of the clock were
    `paid` or `free`.
    """

    hourly_rate: Decimal
    planned_epochs: float | None
    max_cost: Decimal = NO_BUDGET
    target: float | None = None
    metric: str | None = None
    lower_is_better: bool = False
    steps_per_epoch: float | None = None
    started: datetime | None = None
    pauses: Pauses | None = None


class Outlook(Struct, frozen=True):
    """A run as it stands after `epochs` and `hours`, and what is ahead of it.

    `to_target` are the low, middle and high costs at its target, or at its planned end where it has no target or nothing
    tells when it comes there; infinite where it may not, None where no end is planned. `paused` is what its pauses cost if
    they were paid. `doubts` say why its figures are not sure, and what to add. `chance` is that of the target, None where
    nothing tells it. `end` are the low, middle and high values of its metric at its planned end, None where nothing tells;
    `unknown` says why. `longer` is a new run that is likelier to reach the target, where one is needed and known.
    """

    epochs: float
    hours: float
    value: float
    metric: str
    spent: Decimal
    to_target: tuple[Decimal, Decimal, Decimal] | None
    to_end: Decimal | None
    end: tuple[float, float, float] | None
    verdict: Verdict
    unknown: str = ""
    chance: float | None = None
    longer: Longer | None = None
    paused: Decimal = Decimal(0)
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Longer(Struct, frozen=True):
    """A new run with a schedule of more epochs: what all of it costs, and its chance of the target."""

    epochs: float
    cost: Decimal
    chance: float


class _Run(Struct, frozen=True):
    """The evaluations of a log in one metric: epochs [N], values [N] and hours [N] since the start, `paused` hours aside.
    `doubts` say what is not sure of them."""

    metric: str
    epochs: tuple[float, ...]
    values: tuple[float, ...]
    hours: tuple[float, ...]
    paused: float = 0.0
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def hours_an_epoch(self) -> tuple[float, float, float]:
        """Low, middle and high: quantiles of what epochs took between evaluations, and what all of them took."""
        mean = self.hours[-1] / self.epochs[-1]
        marks = list(pairwise(zip(self.epochs, self.hours, strict=True)))
        each = [(later[1] - sooner[1]) / (later[0] - sooner[0]) for sooner, later in marks if later[0] > sooner[0]]
        if not each:
            return mean * (1 - BY_RULE), mean, mean * (1 + BY_RULE)
        middle = (self.hours[-1] - self.hours[0]) / (self.epochs[-1] - self.epochs[0])
        low, high = np.quantile(each, (LOW, HIGH))
        return min(float(low), middle), middle, max(float(high), middle)


def outlook(log: TrainingLog, plan: Plan, family: Sequence[Course], now: datetime) -> Outlook:
    """What a log tells at this moment. `family` are whole runs like it, if any are known.

    Raises CannotWatch, and NothingYet before the first evaluation.
    """
    run = _run(log, plan, now)
    plan = _as_logged(plan, run)
    paid = run.paused if plan.pauses == "paid" else 0.0
    reached = _crossing(run, plan)
    known = reached is None and plan.target is not None and plan.planned_epochs is not None
    further = _further(run, plan, plan.planned_epochs or 0.0, family) if known else _Further()
    predicted, ahead = further.predicted, None
    if plan.planned_epochs is not None:
        more = max(plan.planned_epochs - run.epochs[-1], 0.0)
        ahead = [more * each + run.hours[-1] for each in run.hours_an_epoch()]
    hours = _hours_to_target(run, plan, predicted, reached) or ahead
    costs = tuple(_cost(plan, each + paid) for each in hours or ())
    seen = Outlook(
        epochs=run.epochs[-1],
        hours=run.hours[-1] + paid,
        value=run.values[-1],
        metric=run.metric,
        spent=_cost(plan, run.hours[-1] + paid),
        to_target=(costs[0], costs[1], costs[2]) if costs else None,
        to_end=_cost(plan, ahead[1] + paid) if ahead else None,
        end=_end(predicted, _best(plan, run)) if predicted else None,
        verdict=Verdict.WITHIN,
        unknown=further.unknown,
        chance=predicted.chance(_error(plan, run)) if predicted else None,
        longer=further.longer,
        paused=_cost(plan, run.paused) if plan.pauses is None else Decimal(0),
        notes=run.notes,
    )
    return _judged(seen, plan, run.doubts, reached is not None)


def _judged(seen: Outlook, plan: Plan, doubts: tuple[str, ...], reached: bool) -> Outlook:
    """The outlook with what becomes of the budget; whoever isn't sure never says within."""
    low, _, high = seen.to_target or (seen.spent, seen.spent, seen.spent)
    if plan.planned_epochs is None and plan.max_cost.is_finite() and not reached:
        doubts = (*doubts, NO_END)
    if seen.paused and low <= plan.max_cost < high + seen.paused and high <= plan.max_cost:
        doubts = (*doubts, PAUSES)
    if low > plan.max_cost or not low.is_finite():
        verdict = Verdict.LEAVES
    elif not reached and (high > plan.max_cost or not high.is_finite()):
        verdict = Verdict.MAY_LEAVE
    elif doubts:
        verdict = Verdict.UNSURE
    else:
        verdict = Verdict.REACHED if reached else Verdict.WITHIN
    return replace(seen, verdict=verdict, doubts=doubts)


def _as_logged(plan: Plan, run: _Run) -> Plan:
    """The plan in the direction of its metric. Raises CannotWatch if the target is in another unit."""
    plan = replace(plan, lower_is_better=plan.lower_is_better or is_lower_better(run.metric))
    target = plan.target or 0.0
    if not plan.lower_is_better and 1 < target <= PERCENT and all(0 <= value <= 1 for value in run.values):
        value = f"{run.metric} is read in fractions, {run.values[-1]:.4g} now"
        raise CannotWatch(f"{value}: write --target {target / PERCENT:g}")
    return plan


class _Further(NamedTuple):
    """How a run that is not at its target goes on, and which schedule is surer; `unknown` says why nobody can tell."""

    predicted: Forecast | None = None
    longer: Longer | None = None
    unknown: str = ""


def _further(run: _Run, plan: Plan, planned: float, family: Sequence[Course]) -> _Further:
    try:
        seen, error = _course(run.epochs, run.values, _best(plan, run), planned), _error(plan, run)
        predicted = forecast(seen, family)
        length = sure_length(predicted, seen, family, error) if predicted.chance(error) < LEVEL else None
    except NoForecast as failure:
        return _Further(unknown=str(failure))
    if length is None:
        return _Further(predicted)
    epochs, chance = length
    return _Further(predicted, Longer(epochs, _cost(plan, epochs * run.hours_an_epoch()[1]), chance))


def _end(predicted: Forecast, best: float) -> tuple[float, float, float]:
    """Low, middle and high of the metric at the end: the forecast is of errors, its distance from its best value."""
    low, middle, high = predicted.end()
    return (best * (1 - high), best * (1 - middle), best * (1 - low)) if best else (low, middle, high)


def _run(log: TrainingLog, plan: Plan, now: datetime) -> _Run:
    lies = placed(log, plan.steps_per_epoch, counts_repeated=True)
    metric = _metric(log, plan)
    points = [point for point in lies.points if metric in point.values]
    rows = [(done, point.seconds, point.values[metric]) for point in points if (done := _epochs(point, plan)) > 0]
    if not rows:
        raise NothingYet(f"no epoch with {metric} is done")
    epochs, seconds, values = zip(*rows, strict=True)
    if seconds[-1] is None and plan.started is None:
        raise CannotTell(
            f"{lies.doubts.get('hours') or 'the log has no times'}: add --started, when the run began, such as 2026-11-22T09:30"
        )
    running = (now - plan.started).total_seconds() if plan.started else 0.0
    clock = (running * done / epochs[-1] if at is None else at for done, at, _ in rows)
    hours = tuple(at / SECONDS_PER_HOUR for at in clock)
    seen = max(len({*times(lies.points)}), len({*rows}) if plan.started else 0)
    asked = (
        {"samples_per_epoch": SHARE}
        if plan.started
        else {"samples_per_epoch": SHARE, "hours": lies.doubts.get("hours", "")}
    )
    doubts = [doubt for fact, doubt in asked.items() if fact in lies.doubts]
    if plan.max_cost.is_finite() and seen < FEWEST_TIMES:
        doubts.append(FEW_TIMES.format(seen))
    return _Run(metric, epochs, values, hours, lies.paused / SECONDS_PER_HOUR, tuple(doubts), lies.notes)


def _metric(log: TrainingLog, plan: Plan) -> str:
    names, named = log.metrics(), plan.metric
    if named and len(matching := called(named, names)) == 1:
        return matching[0]
    likely = [name for name in names if is_metric(name)]
    likely = [*likeliest(likely, log.points)] if plan.target is None else likely
    if named is None and len(likely) == 1:
        return likely[0]
    missing = f"the log has no {named}" if named else "the log has several metrics"
    if named and all(_epochs(point, plan) <= FIRST_EVALUATION for point in log.points):
        raise NothingYet(f"{missing} yet; it has {', '.join(names[:20])}")
    raise CannotWatch(f"{missing}: add --metric with one of {', '.join((likely or names)[:20])}")


def _epochs(point: Point, plan: Plan) -> float:
    if point.epochs is not None:
        return point.epochs
    if point.steps is None or plan.steps_per_epoch is None:
        raise CannotTell("the log counts steps: add --steps-per-epoch, the samples of an epoch over the batch size")
    return point.steps / plan.steps_per_epoch


def best_value(largest: float, lower_is_better: bool) -> float:
    """The best value that a metric can have: 0 if lower is better, else 1, or 100 if its largest value is above 1."""
    if lower_is_better:
        return 0.0
    return 1.0 if largest <= 1 else PERCENT


def whole_course(run: Run) -> Course:
    """The course of a stored run. Raises NoForecast."""
    best = best_value(max(point.value for point in run.curve), run.lower_is_better)
    values = [point.value for point in run.curve]
    return _course([point.epochs for point in run.curve], values, best, run.scheduled_epochs or run.epochs)


def _course(epochs: Sequence[float], values: Sequence[float], best: float, planned: float) -> Course:
    return Course.of(epochs, [abs(best - value) / (best or 1.0) for value in values], planned)


def _best(plan: Plan, run: _Run) -> float:
    return best_value(max(*run.values, plan.target or 0.0), plan.lower_is_better)


def _crossing(run: _Run, plan: Plan) -> float | None:
    """The hours after which the target was reached; None if it was not, or there is none."""
    if plan.target is None:
        return None
    side = -1 if plan.lower_is_better else 1
    passed = (at for at, value in zip(run.hours, run.values, strict=True) if side * (value - plan.target) >= 0)
    return next(passed, None)


def _hours_to_target(run: _Run, plan: Plan, predicted: Forecast | None, reached: float | None) -> list[float] | None:
    """Low, middle and high; infinite if the run may not get there; None if nothing tells."""
    if reached is not None:
        return [reached] * 3
    planned = plan.planned_epochs
    if planned is not None and plan.target is not None and run.epochs[-1] >= planned:
        return [math.inf] * 3
    if predicted is None or planned is None:
        return None
    shares = predicted.shares_to(_error(plan, run))
    ahead = [max(share * planned - run.epochs[-1], 0.0) for share in shares]
    return [run.hours[-1] + more * each for more, each in zip(ahead, run.hours_an_epoch(), strict=True)]


def _error(plan: Plan, run: _Run) -> float:
    """How far the target is from the metric's best value."""
    best = _best(plan, run)
    return abs(best - (plan.target or 0.0)) / (best or 1.0)


def _cost(plan: Plan, hours: float) -> Decimal:
    return plan.hourly_rate * Decimal(repr(hours)) if math.isfinite(hours) else Decimal("Infinity")
