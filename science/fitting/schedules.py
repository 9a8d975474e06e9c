"""Learns where schedules end that nobody ran, between the shortest and the longest that somebody did; all else is refused."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Sequence
from io import StringIO

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple

from costcalc.evidence.collection import Schedule
from costcalc.recipes import Recipe
from costcalc.training import Metric
from costcalc.units import Floats

FEWEST_LENGTHS = 4


class OutOfRange(ValueError):
    """A schedule length or batch that no measured neighbour surrounds; the message says what was measured."""


class Lengths(Struct, frozen=True):
    """End accuracy of one family against schedule length: half a monotone cubic through the points in ln(epochs), half the
    parabola fitted to them, which evens out the noise of single runs; never falling."""

    epochs: Floats
    accuracy: Floats

    def at(self, epochs: float) -> float:
        """End accuracy of a schedule of this length; a measured length gives its smoothed value. Raises OutOfRange."""
        if not self.epochs[0] <= epochs <= self.epochs[-1]:
            raise OutOfRange(f"{epochs:g} epochs: schedules of {self.epochs[0]:g} to {self.epochs[-1]:g} were measured")
        grid, values = self._curve()
        return float(np.interp(math.log(epochs), grid, values))

    def shortest(self, accuracy: float) -> float:
        """The shortest schedule that ends at this accuracy. Raises OutOfRange outside the measured accuracies."""
        grid, values = self._curve()
        if not values[0] <= accuracy <= values[-1]:
            raise OutOfRange(f"{accuracy:.4f}: schedules ending at {values[0]:.4f} to {values[-1]:.4f} were measured")
        return math.exp(float(grid[int(np.searchsorted(values, accuracy))]))

    def _curve(self) -> tuple[Floats, Floats]:
        x, y = np.log(self.epochs), self.accuracy
        grid = np.linspace(x[0], x[-1], 1000)
        values = (monotone_cubic(x, y, grid) + np.polyval(np.polyfit(x, y, 2), grid)) / 2
        return grid, np.maximum.accumulate(values)


def monotone_cubic(x: Floats, y: Floats, at: Floats) -> Floats:
    """The piecewise cubic through the points that never overshoots (Fritsch and Carlson 1980; slopes as in PCHIP).

    `x` [N] rises; the values are those at `at`. scipy's PchipInterpolator is the same but for the last bit.
    """
    width, rise = np.diff(x), np.diff(y) / np.diff(x)
    slopes = np.r_[rise[0], np.zeros(len(x) - 2), rise[-1]]
    for i in range(1, len(x) - 1):
        if rise[i - 1] * rise[i] > 0:
            after, before = 2 * width[i] + width[i - 1], width[i] + 2 * width[i - 1]
            slopes[i] = (after + before) * rise[i - 1] * rise[i] / (after * rise[i] + before * rise[i - 1])
    if len(x) > 2:
        slopes[0] = _end_slope(width[0], width[1], rise[0], rise[1])
        slopes[-1] = _end_slope(width[-1], width[-2], rise[-1], rise[-2])
    piece = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(width) - 1)
    t, h = (at - x[piece]) / width[piece], width[piece]
    left = (1 + 2 * t) * (1 - t) ** 2 * y[piece] + h * t * (1 - t) ** 2 * slopes[piece]
    return np.asarray(left + t**2 * (3 - 2 * t) * y[piece + 1] + h * t**2 * (t - 1) * slopes[piece + 1])


def _end_slope(near: float, far: float, rise: float, next_rise: float) -> float:
    slope = ((2 * near + far) * rise - near * next_rise) / (near + far)
    if slope * rise <= 0:
        return 0.0
    return 3 * rise if rise * next_rise <= 0 and abs(slope) > 3 * abs(rise) else slope


def lengths(recipes: Sequence[Recipe], metric: Metric = Metric.TOP1) -> Lengths | None:
    """End accuracies of one family's schedules by length, None where fewer than FEWEST_LENGTHS lengths were measured."""
    ends = {recipe.scheduled_epochs: accuracy_at_end(recipe, metric) for recipe in recipes if recipe.scheduled_epochs}
    known = sorted((epochs, end) for epochs, end in ends.items() if end is not None)
    if len(known) < FEWEST_LENGTHS:
        return None
    return Lengths(np.array([epochs for epochs, _ in known]), np.array([end for _, end in known]))


def accuracy_at_end(recipe: Recipe, metric: Metric) -> float | None:
    """The accuracy of a recipe's last evaluation."""
    values = [getattr(evaluation, metric.value) for evaluation in recipe.evaluations]
    return next((value for value in reversed(values) if value is not None), None)


def interpolated(recipes: Sequence[Recipe], epochs: float) -> Schedule:
    """A family's schedule of another length: end accuracies interpolated, the curve of the nearest logged schedule, of the
    nearest one at all where no log is known. Raises OutOfRange outside the measured lengths."""
    logged = [recipe for recipe in recipes if recipe.is_log and recipe.scheduled_epochs]
    nearest = min(logged or recipes, key=lambda recipe: abs(math.log((recipe.scheduled_epochs or 1) / epochs)))
    top1, top5 = lengths(recipes, Metric.TOP1), lengths(recipes, Metric.TOP5)
    if top1 is None:
        raise OutOfRange(f"{nearest.family}: fewer than {FEWEST_LENGTHS} schedule lengths were measured")
    return Schedule(
        recipe=f"{nearest.family}-{epochs:g}ep",
        shape_of=nearest.name,
        scheduled_epochs=epochs,
        top1_shift=top1.at(epochs) - (accuracy_at_end(nearest, Metric.TOP1) or 0.0),
        top5_shift=top5.at(epochs) - (accuracy_at_end(nearest, Metric.TOP5) or 0.0) if top5 else None,
    )


def between(recipes: Sequence[Recipe]) -> tuple[Schedule, ...]:
    """The schedules of every whole number of epochs of every family with enough measured lengths, all of one batch."""
    families: dict[str, list[Recipe]] = defaultdict(list)
    for recipe in recipes:
        families[recipe.family].append(recipe)
    return tuple(
        interpolated(family, epochs)
        for family in families.values()
        if (known := lengths(family)) and len({(one.model, one.global_batch_size) for one in family}) == 1
        for epochs in _unmeasured(known.epochs)
    )


def _unmeasured(measured: Floats) -> list[float]:
    whole = map(float, range(int(measured[0]) + 1, int(measured[-1])))
    return sorted(set(whole) - set(measured.tolist()))


def to_csv(schedules: Sequence[Schedule]) -> str:
    """The text of schedules.csv."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Schedule.__struct_fields__)
    writer.writerows(astuple(schedule) for schedule in schedules)
    return text.getvalue()
