"""The accuracy curves of recipes that were published with their end alone, from logs of others with the same kind of schedule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from costcalc.convergence.curves import NEAR_THE_END, isotonic
from costcalc.recipes import Recipe
from costcalc.training import Evaluation
from costcalc.units import Floats

SHARES = np.arange(0.30, 0.995, 0.02)  # of the schedule

Curve = Sequence[Evaluation]


def lent_curves(recipes: Iterable[Recipe]) -> dict[str, Floats]:
    """The `error_ratios` of the logs of each kind of schedule."""
    logs: dict[str, list[Curve]] = defaultdict(list)
    for recipe in recipes:
        if recipe.schedule_shape and recipe.is_log:
            logs[recipe.schedule_shape].append(recipe.evaluations)
    return {name: error_ratios(curves) for name, curves in logs.items()}


def with_borrowed_curve(recipe: Recipe, lent: Mapping[str, Floats]) -> Recipe:
    """The recipe with its borrowed curve, or with its end alone if no curve can be lent."""
    ratios = lent.get(recipe.schedule_shape or "")
    if ratios is None:
        return recipe
    return replace(recipe, evaluations=borrowed_curve(recipe.evaluations[-1], ratios), has_borrowed_curve=True)


def error_ratios(logs: Sequence[Curve]) -> Floats:
    """Top-1 error at SHARES of the schedule as a multiple of the error at its end: the mean over logs, each made monotone."""
    ratios = []
    for log in logs:
        errors, epochs = 1 - isotonic([point.top1 or 0.0 for point in log]), np.array([point.epochs for point in log])
        ratios.append(np.interp(SHARES * epochs[-1], epochs, errors) / errors[-1])
    return np.asarray(np.mean(ratios, axis=0))


def borrowed_curve(end: Evaluation, ratios: Floats) -> tuple[Evaluation, ...]:
    """A curve that ends at `end`. Errors before are these multiples of the last, as far below the end as they were checked."""
    last = 1 - (end.top1 or 0.0)
    accuracies = 1 - last * ratios
    before = zip(SHARES * end.epochs, accuracies, strict=True)
    near = [(epochs, top1) for epochs, top1 in before if 1 - last - NEAR_THE_END <= top1 < 1 - last]
    return (*(Evaluation(round(float(epochs), 3), None, round(float(top1), 5), None) for epochs, top1 in near), end)
