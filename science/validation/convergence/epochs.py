"""Epochs borrowed from other recipes: of one family (DAWNBench), of other schedule lengths (FFCV), of other batches (MLPerf),
of other networks with the same kind of schedule (transformers)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np
from msgspec import Struct

from costcalc.convergence.borrowed_curves import Curve, borrowed_curve, error_ratios
from costcalc.convergence.curves import isotonic
from costcalc.recipes import Recipe
from costcalc.training import IMAGES_PER_EPOCH, Metric, Phase
from costcalc.units import Floats
from science.fitting.schedules import Lengths, OutOfRange, accuracy_at_end, monotone_cubic
from science.validation.published import Published
from science.validation.scores import Case

DAWNBENCH_TOP5 = 0.93
BATCH_REACH = 1.25  # times the largest measured batch
WIDEST_GAP = 4.0  # between neighbouring measured batches
BELOW_THE_END = (0.005, 0.01, 0.02, 0.03, 0.04)  # accuracy: how far below its end a curve is read
CRITICAL_BATCH = 46_000.0  # of ResNet-50 on ImageNet: MLPerf's reference points fit E0 (1 + B / 46,000) within 5 %


class BatchCurve(Struct, frozen=True):
    """Epochs to one target against the global batch, inside one recipe family whose learning rate was tuned for each batch:
    medians by batch, made monotone with the weight of their number, and straight lines between. Arrays [batches]."""

    batches: Floats
    epochs: Floats

    @classmethod
    def through(cls, points: Iterable[tuple[float, float]]) -> BatchCurve:
        """The curve through (batch, epochs) points; several at one batch count as their median. Raises ValueError if none."""
        found: dict[float, list[float]] = defaultdict(list)
        for batch, epochs in points:
            found[batch].append(epochs)
        if not found:
            raise ValueError("a batch curve needs at least one measured batch")
        batches = sorted(found)
        counts = [len(found[batch]) for batch in batches]
        weighted = isotonic([float(np.median(found[batch])) for batch in batches for _ in found[batch]])
        return cls(np.array(batches), weighted[np.cumsum(counts) - 1])

    def at(self, batch: float) -> float:
        """Epochs at a batch: constant below the smallest measured, on the last line up to BATCH_REACH times the largest.

        Raises OutOfRange further out, or where the neighbours lie more than WIDEST_GAP apart.
        """
        low, high = float(self.batches[0]), float(self.batches[-1])
        if batch > BATCH_REACH * high:
            raise OutOfRange(f"batch {batch:g} is beyond {BATCH_REACH} times the largest measured, {high:g}")
        right = int(np.searchsorted(self.batches, batch))
        if 0 < right < len(self.batches) and self.batches[right] > WIDEST_GAP * self.batches[right - 1]:
            raise OutOfRange(
                f"batch {batch:g} lies between {self.batches[right - 1]:g} and {self.batches[right]:g}: too far apart"
            )
        if batch <= high or len(self.batches) == 1:
            return float(np.interp(max(batch, low), self.batches, self.epochs))
        slope = (self.epochs[-1] - self.epochs[-2]) / (high - self.batches[-2])
        return float(self.epochs[-1] + slope * (batch - high))


def batch_factor(batch: float | None, measured_at: float | None) -> float:
    """Epochs at a global batch over epochs at another, by E0 (1 + B / CRITICAL_BATCH); 1 where either batch is unknown."""
    if not batch or not measured_at:
        return 1.0
    return (1 + batch / CRITICAL_BATCH) / (1 + measured_at / CRITICAL_BATCH)


def borrowed(published: Published) -> list[Case]:
    """DAWNBench's recipes on their own systems, for the median of the epochs that the rest of their family needed.

    The baseline takes those epochs as they are, whatever the batch.
    """
    minutes = {result.recipe: result.minutes for result in published.results if result.stack == "dawnbench"}
    groups = dict.fromkeys(published.groups["recipe_family"].values())
    cases = []
    for group in groups:
        family = [recipe for recipe in published.family(group) if recipe.name.startswith("dawnbench-")]
        for recipe in family:
            others = [other for other in family if other is not recipe]
            seconds = [(each, other) for other in others if (each := _seconds(recipe, other)) is not None]
            if seconds:
                truth = math.log(minutes[recipe.name] * 60)
                scaled = [each * batch_factor(recipe.global_batch_size, o.global_batch_size) for each, o in seconds]
                plain = [each for each, _ in seconds]
                error, baseline_error = (float(np.median(np.log(each))) - truth for each in (scaled, plain))
                cases.append(Case(recipe.name, group, error, baseline_error))
    return cases


def _seconds(recipe: Recipe, donor: Recipe) -> float | None:
    """Time of a recipe's system for the epochs that a donor spent at each image size; None where a rate is missing."""
    reached = next((e.epochs for e in donor.evaluations if e.top5 is not None and e.top5 >= DAWNBENCH_TOP5), None)
    if reached is None:
        return None
    rates = {phase.image_size: phase.images_per_second for phase in recipe.phases if phase.images_per_second}
    spent = list(_epochs_by_size(donor.phases, reached))
    if any(size not in rates for size, _ in spent):
        return None
    return IMAGES_PER_EPOCH * sum(epochs / rates[size] for size, epochs in spent)


def _epochs_by_size(phases: tuple[Phase, ...], until: float) -> Iterator[tuple[int, float]]:
    for phase in phases:
        if until > phase.from_epoch:
            yield phase.image_size, min(until, phase.to_epoch) - phase.from_epoch


def ends_by_length(published: Published, family: str) -> list[tuple[float, float, str]]:
    """(scheduled epochs, end accuracy, name) of a family's recipes, the shortest schedule first."""
    return sorted(
        (recipe.scheduled_epochs or 0.0, accuracy_at_end(recipe, Metric.TOP1) or 0.0, recipe.name)
        for recipe in published.family(family)
    )


def lengths_left_out(published: Published, family: str) -> list[Case]:
    """Epochs of the schedule that ends at a left-out schedule's accuracy, from the family's other lengths.

    The baseline takes the monotone cubic alone.
    """
    ends = ends_by_length(published, family)
    cases = []
    for left_out in ends[1:-1]:
        epochs, accuracy, name = left_out
        others = [end for end in ends if end is not left_out]
        lengths = Lengths(np.array([end[0] for end in others]), np.array([end[1] for end in others]))
        predicted, baseline = lengths.shortest(accuracy), _shortest_on_cubic(lengths, accuracy)
        cases.append(Case(name, name, math.log(predicted / epochs), math.log(baseline / epochs)))
    return cases


def _shortest_on_cubic(lengths: Lengths, accuracy: float) -> float:
    log_epochs = np.log(lengths.epochs)
    grid = np.linspace(log_epochs[0], log_epochs[-1], 1000)
    values = np.maximum.accumulate(monotone_cubic(log_epochs, lengths.accuracy, grid))
    return math.exp(float(grid[min(int(np.searchsorted(values, accuracy)), len(grid) - 1)]))


def batches_left_out(published: Published) -> list[Case]:
    """MLPerf's reference points, each from its neighbours. The baseline takes the epochs of the nearest batch."""
    points = sorted((point.global_batch_size, point.epochs_mean) for point in published.reference_points)
    cases = []
    for place, (batch, epochs) in list(enumerate(points))[1:-1]:
        others = points[:place] + points[place + 1 :]
        nearest = min(others, key=lambda other: abs(math.log(other[0] / batch)))
        predicted = BatchCurve.through(others).at(batch)
        cases.append(
            Case(f"batch {batch:g}", f"{batch:g}", math.log(predicted / epochs), math.log(nearest[1] / epochs))
        )
    return cases


def curves_left_out(published: Published, shape: str) -> list[Case]:
    """Where a log passes accuracies below its end, from its end alone and the course of the other logs with such a schedule.

    Unseen logs lend their course to none. The baseline runs to the end. The scatter is how much of the schedule is left, in ln.
    """
    lending: dict[str, Curve] = {
        one.name: one.evaluations for one in published.evidence.recipes if one.is_log and one.schedule_shape == shape
    }
    return [
        case
        for name, log in {**lending, **published.unseen_curves.get(shape, {})}.items()
        for case in _crossings(name, log, error_ratios([curve for other, curve in lending.items() if other != name]))
    ]


def _crossings(name: str, log: Curve, ratios: Floats) -> Iterator[Case]:
    end = log[-1]
    for below in BELOW_THE_END:
        borrowed, true = (_epochs_to((end.top1 or 0.0) - below, curve) for curve in (borrowed_curve(end, ratios), log))
        left = math.log(end.epochs / borrowed)
        yield Case(f"{name}, {below:g} below", name, math.log(borrowed / true), math.log(end.epochs / true), (), left)


def _epochs_to(target: float, curve: Curve) -> float:
    accuracies = isotonic([one.top1 or 0.0 for one in curve])
    return curve[int(np.searchsorted(accuracies, target))].epochs
