"""Whether the chance of a user's own run is honest. It rests on that one log, so each of several equal runs is taken for the
asker's own, seen up to a share of it, and what is said of a target is compared with what the others had reached by then."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct

from costcalc.convergence.eligibility import ModelRecipes, success_probability
from costcalc.recipes import OwnRecipe, Recipe
from costcalc.training import Evaluation, Metric, MetricEvaluation
from science.validation.convergence.chances import (
    FEWEST_RUNS,
    LENGTH_WIDTH,
    Brier,
    Chance,
    Scored,
    brier,
    with_baseline,
)
from science.validation.convergence.partial_runs import SHARES
from science.validation.published import Published
from science.validation.scores import WIDER, Case

SEEN = (*SHARES, 1.0)
MARGINS = (-0.005, -0.002, -0.001, 0.0, 0.001, 0.002, 0.005, 0.01, 0.02)  # of what was reached over the target
BINS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
FEWEST_EVALUATIONS = 2  # up to the share seen
OTHERS = "other organisations"


class Reliability(Struct, frozen=True):
    """Of all chances of a kind that were said to lie between two of BINS: how many, their mean, and the share that reached it."""

    chances: int
    said: float
    reached: float


def own_run_chances(published: Published, share: float) -> Iterator[Chance]:
    """What is said of each run's target by each other one of its set, seen up to this share of it. Targets that lie further above
    what was reached than runs differ are refused in answers, and not asked here."""
    for name, group, runs in _sets(published, share):
        for run, margin, said, reached in _said(runs):
            yield Chance(f"own run, {100 * share:.0f} % seen", group, f"{name} {run}", margin, said, reached)


def own_run_ends(published: Published, share: float) -> Iterator[Case]:
    """By how much of the metric each run ends apart from each other one of its set, both seen up to this share of them, with the
    range that answers name. The baseline is the same: that other runs end where this one did."""
    for name, group, runs in _sets(published, share):
        ends = runs.curves(Metric.TOP1).end_accuracy
        for run, wide in enumerate(runs.ends_within(Metric.TOP1).tolist()):
            for apart in (ends[run] - np.delete(ends, run)).tolist():
                yield Case(f"{name} {run}", group, apart, apart, (wide, wide * WIDER))


def _sets(published: Published, share: float) -> Iterator[tuple[str, str, ModelRecipes]]:
    """The equal runs of each recipe that were evaluated after the same epochs, up to this share, as if each were the user's,
    with the name of the recipe and its organisation's group."""
    for name, curves in published.seed_curves.items():
        recipe = published.recipes[name]
        for alike in _alike(_seen(curves, share)):
            runs = ModelRecipes(tuple(_own(recipe, curve) for curve in alike), LENGTH_WIDTH)
            yield name, published.organisation(recipe.organisation), runs


def own_run_scores(published: Published) -> tuple[Brier, ...]:
    """By the share seen, then by organisation over all shares: those with fewer than FEWEST_RUNS runs stand together."""
    scored = list(_scored(published))
    by_share, by_group, runs = defaultdict(list), defaultdict(list), defaultdict(set)
    for chance, _ in scored:
        runs[chance.group].add(chance.run)
    for chance, baseline in scored:
        group = chance.group if len(runs[chance.group]) >= FEWEST_RUNS else OTHERS
        by_share[chance.family].append((chance, baseline))
        by_group[f"own runs, {group}"].append((chance, baseline))
    return tuple(brier(name, found) for name, found in [*by_share.items(), *sorted(by_group.items())])


def reliability(published: Published) -> Mapping[str, tuple[Reliability, ...]]:
    """Of runs that were seen in part, and of whole ones."""
    kinds = {"own runs, 30 to 70 % seen": SHARES, "own runs, all seen": SEEN[len(SHARES) :]}
    return {
        kind: tuple(_binned([chance for share in shares for chance in own_run_chances(published, share)]))
        for kind, shares in kinds.items()
    }


def _scored(published: Published) -> Iterator[Scored]:
    for share in SEEN:
        yield from with_baseline(list(own_run_chances(published, share)))


def _binned(chances: Sequence[Chance]) -> Iterator[Reliability]:
    said = np.array([one.said for one in chances])
    reached = np.array([one.reached for one in chances])
    places = np.digitize(said, BINS[1:-1])
    for place in range(len(BINS) - 1):
        here = places == place
        if here.any():
            yield Reliability(int(here.sum()), float(said[here].mean()), float(reached[here].mean()))


def _seen(curves: Sequence[Sequence[Evaluation]], share: float) -> list[tuple[Evaluation, ...]]:
    """What was known of each run when the longest had done this share of its epochs."""
    until = share * max(curve[-1].epochs for curve in curves) + 1e-9
    return [tuple(point for point in curve if point.epochs <= until) for curve in curves]


def _alike(curves: Sequence[tuple[Evaluation, ...]]) -> Iterator[list[tuple[Evaluation, ...]]]:
    """Those that were evaluated after the same epochs, together."""
    groups: dict[tuple[float, ...], list[tuple[Evaluation, ...]]] = defaultdict(list)
    for curve in curves:
        groups[tuple(point.epochs for point in curve)].append(curve)
    yield from (group for epochs, group in groups.items() if len(group) > 1 and len(epochs) >= FEWEST_EVALUATIONS)


def _own(recipe: Recipe, curve: Sequence[Evaluation]) -> OwnRecipe:
    """A published run as if it were the user's."""
    told = {name: getattr(recipe, name) for name in Recipe.__struct_fields__}
    values = tuple(MetricEvaluation(point.epochs, None, value=point.top1 or 0.0) for point in curve)
    own = {"evaluations": values, "runs": 1, "mean_top1": None, "reached": None, "tuned_to": None}
    return OwnRecipe(**told | own, metric=Metric.TOP1)


def _said(runs: ModelRecipes) -> Iterator[tuple[int, float, float, bool]]:
    """The place of a run, how far a target lies below its end, the chance of that, and whether another run reached it."""
    ends, sigma = runs.curves(Metric.TOP1).end_accuracy, runs.sigma(Metric.TOP1)
    for margin in MARGINS:
        said = success_probability(ends, ends - margin, sigma, runs.published_runs).tolist()
        for run in np.flatnonzero(sigma >= -margin).tolist():
            for other in np.delete(ends, run).tolist():
                yield run, margin, said[run], other >= ends[run] - margin
