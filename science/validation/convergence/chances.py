"""Whether chances of success are honest: the formula of `/cost` for each published run, from the other runs of its recipe."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from costcalc.convergence.eligibility import ModelRecipes, eligible_recipes
from costcalc.query import EstimateQuery
from costcalc.recipes import Recipe
from science.validation.published import Published

MARGINS = tuple(step / 1000 for step in range(6))  # of a published end over the target: up to half a point
DIVERGED = 0.1  # runs that end below this accuracy count for no mean
FEWEST_RUNS = 25  # of a family with a row of its own
LENGTH_WIDTH = 0.0  # no schedule here is interpolated


class Chance(Struct, frozen=True):
    """What was said of one run and what it did. Outcomes of the same `group` do not make its baseline; `margin` is that of the
    published end over the target, None where runs stop at their target."""

    family: str
    group: str
    run: str
    margin: float | None
    said: float
    reached: bool


Scored = tuple[Chance, float]  # with its baseline


@dataclass(frozen=True, slots=True)
class Brier:
    """Mean squared error of the chances said of a family's runs, with the mean chance and the share that reached the target.

    `baseline` is the score of who says the share of other groups' runs: of those with the same margin, where margins vary.
    """

    family: str
    runs: int
    chances: int
    said: float
    reached: float
    score: float
    baseline: float


def brier_scores(published: Published) -> tuple[Brier, ...]:
    """Of MLPerf and of the schedules that others repeated: all together, then by recipe family, the largest first.

    MLPerf's families with fewer than FEWEST_RUNS runs stand together.
    """
    families: dict[str, list[Scored]] = defaultdict(list)
    for kind, chances in (
        ("MLPerf", list(mlperf_chances(published))),
        ("repeated schedules", list(repeated_chances(published))),
    ):
        sizes = _sizes(chances)
        for chance, baseline in with_baseline(chances):
            small = chance.margin is None and sizes[chance.family] < FEWEST_RUNS
            for name in (f"all {kind}", f"other {kind}" if small else chance.family):
                families[name].append((chance, baseline))
    return tuple(sorted((brier(name, found) for name, found in families.items()), key=lambda one: -one.chances))


def mlperf_chances(published: Published) -> Iterator[Chance]:
    """Each of MLPerf's runs, its recipe being known from the others alone, at the target at which they stop."""
    for repetitions in published.repetitions:
        recipe = published.recipes.get(repetitions.recipe)
        if recipe is None or recipe.tuned_to is None or len(repetitions.top1_of_runs) < 2:
            continue
        without_each = [_known_from(recipe, others) for others in _without_each(repetitions.top1_of_runs)]
        for run, (said, end) in enumerate(
            zip(_said(without_each, recipe.tuned_to), repetitions.top1_of_runs, strict=True)
        ):
            group = published.organisation(recipe.organisation)
            yield Chance(recipe.family, group, f"{recipe.name} {run}", None, said, end >= recipe.tuned_to)


def repeated_chances(published: Published) -> Iterator[Chance]:
    """Each published run of a schedule that the same code ran several times (split `repeated`), on other accelerators or in other
    bits, as predicted by each other one; targets lie MARGINS below the predicting end."""
    schedules: dict[str, list[Recipe]] = defaultdict(list)
    for name, group in published.groups.get("repeated", {}).items():
        schedules[group].append(published.recipes[name])
    for group, recipes in schedules.items():
        ends = {recipe.name: recipe.evaluations[-1].top1 or 0.0 for recipe in recipes}
        for recipe in recipes:
            for margin in MARGINS:
                target = ends[recipe.name] - margin
                (said,) = _said([recipe], target)
                for other in recipes:
                    if other is not recipe:
                        yield Chance(recipe.stack, group, other.name, margin, said, ends[other.name] >= target)


def _without_each(ends: Sequence[float]) -> Iterator[list[float]]:
    return ([*ends[:run], *ends[run + 1 :]] for run in range(len(ends)))


def _known_from(recipe: Recipe, ends: Sequence[float]) -> Recipe:
    """The recipe as it would stand if these were its published runs."""
    mean = float(np.mean([end for end in ends if end > DIVERGED]))
    reached = sum(end >= (recipe.tuned_to or 0.0) for end in ends)
    return replace(recipe, runs=len(ends), mean_top1=mean, reached=reached)


def _said(recipes: Sequence[Recipe], target: float) -> list[float]:
    """What an answer says of the chance of each recipe."""
    query = EstimateQuery(recipes[0].model, target, recipes="all")
    found: list[float] = eligible_recipes(
        ModelRecipes(tuple(recipes), LENGTH_WIDTH), query
    ).success_probability.tolist()
    return found


def _sizes(chances: Iterable[Chance]) -> Mapping[str, int]:
    runs: dict[str, set[str]] = defaultdict(set)
    for chance in chances:
        runs[chance.family].add(chance.run)
    return {family: len(names) for family, names in runs.items()}


def with_baseline(chances: Sequence[Chance]) -> Iterator[Scored]:
    """Each chance with the share of other groups' runs at the same margin that reached their target; a half where there are
    none."""
    everybody: dict[float | None, list[int]] = defaultdict(lambda: [0, 0])
    own: dict[tuple[str, float | None], list[int]] = defaultdict(lambda: [0, 0])
    for one in chances:
        for counts in (everybody[one.margin], own[one.group, one.margin]):
            counts[0] += one.reached
            counts[1] += 1
    for one in chances:
        (reached, runs), (own_reached, own_runs) = everybody[one.margin], own[one.group, one.margin]
        others = runs - own_runs
        yield one, (reached - own_reached) / others if others else 0.5


def brier(family: str, scored: Sequence[Scored]) -> Brier:
    """The score of these chances beside that of their baselines."""
    said, reached, baseline = (
        np.array(column, float)
        for column in zip(*((one.said, one.reached, share) for one, share in scored), strict=True)
    )
    return Brier(
        family=family,
        runs=len({one.run for one, _ in scored}),
        chances=len(scored),
        said=float(said.mean()),
        reached=float(reached.mean()),
        score=float(((said - reached) ** 2).mean()),
        baseline=float(((baseline - reached) ** 2).mean()),
    )
