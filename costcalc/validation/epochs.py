"""Epochs borrowed from other recipes: of one family (DAWNBench), of other schedule lengths (FFCV), of other batches (MLPerf)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from costcalc.fitting.schedules import Lengths, accuracy_at_end, monotone_cubic
from costcalc.training import IMAGES_PER_EPOCH, Metric, Phase, Recipe
from costcalc.validation.batch_epochs import BatchCurve, batch_factor
from costcalc.validation.published import Published
from costcalc.validation.scores import Case

TARGET = 0.93  # of DAWNBench, top-5


def borrowed(published: Published) -> list[Case]:
    """DAWNBench runs at their own rates, for the epochs of the other runs of their family."""
    cases = []
    times = {result.recipe: result.minutes * 60 for result in published.results if result.stack == "dawnbench"}
    for group, recipes in _families(published, "dawnbench-").items():
        for recipe in recipes:
            others = [other for other in recipes if other is not recipe]
            ours = [guess for other in others if (guess := _seconds(recipe, other, scaled=True))]
            plain = [guess for other in others if (guess := _seconds(recipe, other, scaled=False))]
            if ours:
                truth = math.log(times[recipe.name])
                guesses = (float(np.median(np.log(ours))), float(np.median(np.log(plain))))
                cases.append(Case(recipe.name, group, guesses[0] - truth, guesses[1] - truth))
    return cases


def _families(published: Published, prefix: str) -> dict[str, list[Recipe]]:
    families: dict[str, list[Recipe]] = defaultdict(list)
    for name, group in published.groups["recipe_family"].items():
        if name.startswith(prefix) and name in published.recipes:
            families[group].append(published.recipes[name])
    return families


def _seconds(recipe: Recipe, donor: Recipe, *, scaled: bool) -> float | None:
    """Time of a recipe's system for the epochs that a donor spent at each image size; None where a rate is missing."""
    reached = next((e.epochs for e in donor.evaluations if e.top5 is not None and e.top5 >= TARGET), None)
    rates = {phase.image_size: phase.images_per_second for phase in recipe.phases}
    if reached is None or any(not rates.get(size) for size, _ in _spent(donor.phases, reached)):
        return None
    factor = batch_factor(recipe.global_batch_size, donor.global_batch_size) if scaled else 1.0
    steps = sum(epochs / (rates[size] or 1) for size, epochs in _spent(donor.phases, reached))
    return factor * steps * IMAGES_PER_EPOCH


def _spent(phases: tuple[Phase, ...], until: float) -> Iterator[tuple[int, float]]:
    for phase in phases:
        if until > phase.from_epoch:
            yield phase.image_size, min(until, phase.to_epoch) - phase.from_epoch


def lengths_left_out(published: Published, family: str) -> list[Case]:
    """Epochs of the schedule that ends at a left-out schedule's accuracy, from the family's other lengths."""
    ends = sorted(
        (recipe.scheduled_epochs or 0.0, accuracy_at_end(recipe, Metric.TOP1) or 0.0, recipe.name)
        for recipe in _families(published, family)[family]
    )
    cases = []
    for place in range(1, len(ends) - 1):
        epochs, accuracy, name = ends[place]
        others = [end for end in ends if end[2] != name]
        known = Lengths(np.array([end[0] for end in others]), np.array([end[1] for end in others]))
        ours = math.log(known.shortest(accuracy) / epochs)
        cases.append(Case(name, name, ours, math.log(_plain_length(known, accuracy) / epochs)))
    return cases


def _plain_length(known: Lengths, accuracy: float) -> float:
    x = np.log(known.epochs)
    grid = np.linspace(x[0], x[-1], 1000)
    values = np.maximum.accumulate(monotone_cubic(x, known.accuracy, grid))
    return math.exp(float(grid[min(int(np.searchsorted(values, accuracy)), len(grid) - 1)]))


def batches_left_out(published: Published) -> list[Case]:
    """MLPerf's reference points, each from its neighbours; the plain method takes the nearest batch."""
    points = sorted((point.batch, point.epochs) for point in published.reference_points)
    cases = []
    for place in range(1, len(points) - 1):
        batch, epochs = points[place]
        others = points[:place] + points[place + 1 :]
        nearest = min(others, key=lambda other: abs(math.log(other[0] / batch)))
        ours = BatchCurve.through(others).at(batch)
        cases.append(Case(f"batch {batch:g}", f"{batch:g}", math.log(ours / epochs), math.log(nearest[1] / epochs)))
    return cases
