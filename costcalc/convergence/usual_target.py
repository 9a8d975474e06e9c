"""The accuracy to reach where a question names none: what the training that most people run reaches in nine runs of ten."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

from costcalc.convergence.eligibility import ModelRecipes
from costcalc.recipes import Recipe
from costcalc.training import Metric
from costcalc.units import Flags

CHANCE = 0.9
STEPS = 1000
"""It is rounded down to a thousandth."""
SLACK = 1e-9  # of floats at a thousandth


class UsualTarget(NamedTuple):
    """An accuracy, and the recipe that reaches it."""

    accuracy: float
    recipe: str


def usual_target(recipes: Sequence[Recipe], groups: Sequence[Flags], metric: str) -> UsualTarget | None:
    """The target of the ordinary recipe with the most runs; of equals, the one in the earliest of `groups`, as from
    `ordinary_groups`. If none is ordinary, that of any recipe with the most runs; of equals, the newest. None if nobody measured
    an end."""
    ranks = [
        (next((at for at, group in enumerate(groups) if group[number]), len(groups)), recipe)
        for number, recipe in enumerate(recipes)
        if recipe.best(metric) is not None and not recipe.is_interpolated
    ]
    if not ranks:
        return None
    ordinary = [pair for pair in ranks if pair[0] < len(groups)]
    if ordinary:
        _, recipe = min(ordinary, key=lambda pair: (-pair[1].runs, pair[0]))
    else:
        _, recipe = max(ranks, key=lambda pair: (pair[1].runs, pair[1].known_on))
    return UsualTarget(math.floor(_reached(recipe, metric) * STEPS + SLACK) / STEPS, recipe.name)


def _reached(recipe: Recipe, metric: str) -> float:
    """The accuracy that a run reaches with CHANCE: the inverse of `success_probability`."""
    alone = ModelRecipes((recipe,), 0.0)
    end = float(alone.curves(metric).end_accuracy[0])
    if metric == Metric.TOP1 and recipe.mean_top1 is not None:
        end = recipe.mean_top1
    return end - NormalDist().inv_cdf(CHANCE) * float(alone.sigma(metric)[0]) * math.sqrt(1 + 1 / recipe.runs)
