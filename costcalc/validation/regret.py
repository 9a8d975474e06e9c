"""Whether the recipe picked is the right one, and whether chances of success are honest."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from costcalc.fitting.schedules import Lengths, accuracy_at_end
from costcalc.training import Metric
from costcalc.validation.published import Published, Seeds
from costcalc.validation.scores import Case


@dataclass(frozen=True, slots=True)
class Regret:
    """Cost of the picks over the best in hindsight, less one: mean and worst over so many choices."""

    choices: int
    mean: float
    worst: float


@dataclass(frozen=True, slots=True)
class Brier:
    """Mean squared error of the chance of success over single runs; `oracle` knows each recipe's own share."""

    runs: int
    score: float
    oracle: float


def regret_of_systems(published: Published, cases: Sequence[Case]) -> Regret:
    """On each accelerator and count with several published recipes: the one predicted fastest against the fastest."""
    results = {result.recipe: result for result in published.results}
    cells: dict[tuple[str, int, int], list[tuple[float, float]]] = defaultdict(list)
    for case in cases:
        result = results[case.name]
        truth = math.log(result.minutes)
        cells[result.accelerator, result.accelerators, result.nodes].append((truth + case.error, truth))
    return _regret(math.exp(min(c)[1] - min(t for _, t in c)) - 1 for c in cells.values() if len(c) > 1)


def regret_of_lengths(published: Published, families: Sequence[str]) -> Regret:
    """For targets a quarter point apart, from the family's lowest end accuracy to its highest: the shortest schedule
    predicted to reach, its own result hidden.

    Where it misses in truth, its cost is added to that of the next longer one that reaches.
    """
    return _regret(cost for family in families for cost in _length_costs(published, family))


def _length_costs(published: Published, family: str) -> Iterator[float]:
    recipes = [published.recipes[name] for name, group in published.groups["recipe_family"].items() if group == family]
    ends = sorted((r.scheduled_epochs or 0.0, accuracy_at_end(r, Metric.TOP1) or 0.0) for r in recipes)
    guesses = [_hidden(ends, place) for place in range(len(ends))]
    for target in np.arange(ends[0][1], ends[-1][1], 0.0025):
        reaching = [epochs for epochs, end in ends if end >= target]
        epochs, end = ends[next(place for place, guess in enumerate(guesses) if guess >= target)]
        again = min((longer for longer in reaching if longer > epochs), default=epochs)
        yield (epochs if end >= target else epochs + again) / min(reaching) - 1


def _hidden(ends: Sequence[tuple[float, float]], place: int) -> float:
    if place in (0, len(ends) - 1):
        return ends[place][1]
    others = [end for other, end in enumerate(ends) if other != place]
    return Lengths(np.array([e for e, _ in others]), np.array([a for _, a in others])).at(ends[place][0])


def _regret(found: Iterable[float]) -> Regret:
    values = list(found)
    return Regret(len(values), float(np.mean(values)), max(values))


def brier(published: Published) -> Brier:
    """MLPerf runs to 75.9 %: the share of other organisations' runs that reached it against what each run did."""
    known = [seeds for seeds in published.seeds if _usable(published, seeds)]
    squares = oracle = 0.0
    for seeds in known:
        others = [other for other in known if _group(published, other) != _group(published, seeds)]
        chance = sum(other.reached for other in others) / sum(other.runs for other in others)
        share = seeds.reached / seeds.runs
        squares += seeds.reached * (1 - chance) ** 2 + (seeds.runs - seeds.reached) * chance**2
        oracle += seeds.runs * share * (1 - share)
    runs = sum(seeds.runs for seeds in known)
    return Brier(runs, squares / runs, oracle / runs)


def _usable(published: Published, seeds: Seeds) -> bool:
    recipe = published.recipes.get(seeds.recipe)
    closed = recipe is not None and recipe.family.startswith("mlperf-lars")
    return closed and 0.74 < seeds.top1_mean < 0.78


def _group(published: Published, seeds: Seeds) -> str:
    return published.organisation(published.recipes[seeds.recipe].organisation)
