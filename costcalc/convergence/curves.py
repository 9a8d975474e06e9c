"""Where accuracy curves reach a target, under three named rules, for all recipes of a model at once.

`first`: the first evaluation at or above the target (what DAWNBench and MLPerf report). `isotonic`: the first at which the
monotone least-squares fit of the curve (pool adjacent violators) is. `sustained`: the first from which every later one is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from costcalc.recipes import Recipe
from costcalc.training import Crossing, Evaluation
from costcalc.units import Flags, Floats, Indices

NEAR_THE_END = 0.04  # accuracy: further below its end a borrowed curve was never checked


def isotonic(values: Sequence[float]) -> Floats:
    """The non-decreasing sequence nearest to these values in least squares (pool adjacent violators)."""
    means: list[float] = []
    counts: list[int] = []
    for value in values:
        means.append(value)
        counts.append(1)
        while len(means) > 1 and means[-2] > means[-1]:
            count = counts[-2] + counts[-1]
            mean = (means[-2] * counts[-2] + means[-1] * counts[-1]) / count
            means[-2:], counts[-2:] = [mean], [count]
    return np.repeat(np.array(means), counts)


def monotone(values: Floats, crossing: Crossing) -> Floats:
    """A non-decreasing curve that is at or above a target exactly from the crossing on."""
    if crossing == Crossing.FIRST:
        return np.maximum.accumulate(values)
    if crossing == Crossing.SUSTAINED:
        return np.minimum.accumulate(values[::-1])[::-1]
    return isotonic(values.tolist())


class EpochsToTarget(NamedTuple):
    """For each of R recipes: epochs to the target, NaN where it is never reached; hours on the recipe's own clock, NaN where
    unknown; the accuracy at which its curve ends, as a fraction, and the epochs and hours of the whole curve."""

    epochs: Floats
    own_hours: Floats
    end_accuracy: Floats
    end_epochs: Floats
    end_hours: Floats

    def run_to_end(self, which: Flags) -> EpochsToTarget:
        """These crossings, but with the flagged recipes [R] run to the end of their curve."""
        epochs = np.where(which, self.end_epochs, self.epochs)
        return self._replace(epochs=epochs, own_hours=np.where(which, self.end_hours, self.own_hours))


class Curves:
    """The accuracy curves of several recipes in one metric, laid end to end; each has its end in `end_epochs` [R].

    Of a loss, accuracies and targets here are the values with their sign changed."""

    def __init__(self, recipes: Sequence[Recipe], metric: str) -> None:
        curves = [_curve(recipe, metric) for recipe in recipes]
        points = [point for curve in curves for point in curve]
        lengths = [len(curve) for curve in curves]
        self._starts = np.cumsum([0, *lengths])
        self._owner = np.repeat(np.arange(len(curves)), lengths)
        self._epochs = np.array([point.epochs for point in points] + [np.nan])
        self._hours = np.array([np.nan if point.hours is None else point.hours for point in points] + [np.nan])
        self.values = values = [_values(*each, metric) for each in zip(recipes, curves, strict=True)]
        ends = [isotonic(curve.tolist()) for curve in values]
        self._ranked = {Crossing.ISOTONIC: self._of_rank(ends)}
        self.end_accuracy = np.array([curve[-1] if len(curve) else np.nan for curve in ends])
        last = np.where(self._starts[1:] > self._starts[:-1], self._starts[1:] - 1, len(self._epochs) - 1)
        self.end_epochs, self._end_hours = self._epochs[last], self._hours[last]
        self._by_end = np.argsort(self.end_accuracy)
        self.best = np.array([curve.max() if len(curve) else 0.0 for curve in values])

    def ending_between(self, low: float, high: float) -> Indices:
        """The recipes whose curves end at an accuracy from `low` on and below `high`, in that order."""
        first, last = np.searchsorted(self.end_accuracy, (low, high), sorter=self._by_end)
        return self._by_end[first:last]

    def epochs_to(self, target: float | Floats, crossing: Crossing) -> EpochsToTarget:
        """Where each curve reaches `target`: one fraction for all, or one for each curve [R], or rows of these."""
        if crossing not in self._ranked:
            self._ranked[crossing] = self._of_rank([monotone(curve, crossing) for curve in self.values])
        values, keys = self._ranked[crossing]
        index = keys.searchsorted(np.arange(len(self.values)) * (len(values) + 1) + values.searchsorted(target))
        index[index == self._starts[1:]] = len(self._epochs) - 1
        return EpochsToTarget(
            self._epochs[index], self._hours[index], self.end_accuracy, self.end_epochs, self._end_hours
        )

    def _of_rank(self, curves: list[Floats]) -> tuple[Floats, Indices]:
        """All values of these monotone curves in rising order; and a key for each point, which rises along a curve as its rank
        among them does, and from curve to curve."""
        points = np.concatenate(curves) if curves else np.zeros(0)
        values = np.sort(points)
        return values, self._owner * (len(values) + 1) + values.searchsorted(points)


def sign(recipe: Recipe) -> float:
    """What values are multiplied with, so that higher ones are better."""
    return -1.0 if recipe.lower_is_better else 1.0


def _curve(recipe: Recipe, metric: str) -> list[Evaluation]:
    """The evaluations that may answer. A schedule tuned to end just past a target says nothing of stopping before it."""
    evaluations = [evaluation for evaluation in recipe.evaluations if evaluation.in_metric(metric) is not None]
    if recipe.tuned_to is None or recipe.is_closed:
        return evaluations
    values = _values(recipe, evaluations, metric)
    reached = np.flatnonzero(values >= sign(recipe) * recipe.tuned_to)
    return evaluations[reached[0] :] if len(reached) else evaluations[-1:]


def _values(recipe: Recipe, curve: Sequence[Evaluation], metric: str) -> Floats:
    return sign(recipe) * np.array([point.in_metric(metric) or 0.0 for point in curve])
