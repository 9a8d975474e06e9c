"""Hours to the target for every recipe on every site that the question allows, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from costcalc import overheads
from costcalc.convergence import Reach
from costcalc.plans import Plan
from costcalc.query import EstimateQuery
from costcalc.training import Metric, Recipe

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]

SEED_SIGMA = {Metric.TOP1: 0.0011, Metric.TOP5: 0.0007}
MEASURED_FAMILY = "mlperf"


@dataclass(frozen=True, slots=True)
class Run:
    """One recipe on one site, both by their position in the plan; hours of one successful run, with their 80 % interval."""

    recipe: int
    site: int
    replayed: bool
    epochs: float
    success: float
    train: float
    overhead: float
    low: float
    high: float
    retry: float

    @property
    def hours(self) -> float:
        """Train + overhead."""
        return self.train + self.overhead


@dataclass(frozen=True, slots=True)
class Runs:
    """Many runs as columns; see `Run`."""

    recipe: Indices
    site: Indices
    replayed: Flags
    epochs: Floats
    success: Floats
    train: Floats
    overhead: Floats
    low: Floats
    high: Floats
    retry: Floats

    @property
    def hours(self) -> Floats:
        """Train + overhead."""
        return self.train + self.overhead

    def take(self, which: Indices | Flags) -> Runs:
        """The entries at these positions."""
        return Runs(*(getattr(self, field.name)[which] for field in fields(self)))

    def one(self, position: int) -> Run:
        """The entry at this position."""
        return Run(*(getattr(self, field.name)[position].item() for field in fields(self)))

    def __add__(self, other: Runs) -> Runs:
        return Runs(*(np.concatenate([getattr(self, f.name), getattr(other, f.name)]) for f in fields(self)))


@dataclass(frozen=True, slots=True)
class Reached:
    """Which recipes may answer, and why the others may not."""

    reach: Reach
    success: Floats
    usable: Flags
    rejections: dict[str, int]


def matches(recipe: Recipe, patterns: tuple[str, ...]) -> bool:
    """Whether a recipe's name is asked for; a pattern may end in `*`."""
    return not patterns or any(fnmatchcase(recipe.name, pattern.casefold()) for pattern in patterns)


def reached(plan: Plan, query: EstimateQuery) -> Reached:
    """The recipes whose curve reaches the target, surely enough when only the best are wanted."""
    reach = plan.curves[query.metric].reach(query.target, query.crossing)
    wanted = np.array([matches(recipe, query.recipe) for recipe in plan.recipes], bool)
    crosses = ~np.isnan(reach.epochs)
    success = success_probability(plan.recipes, reach.end_accuracy, query)
    sure = success >= query.confidence if query.recipes == "best" else crosses
    rejections = {
        "target_never_reached": int((wanted & ~crosses).sum()),
        "below_confidence": int((wanted & crosses & ~sure).sum()),
    }
    return Reached(reach, success, wanted & crosses & sure, rejections)


def success_probability(recipes: tuple[Recipe, ...], end_accuracy: Floats, query: EstimateQuery) -> Floats:
    """The chance that a new run ends at or above the target: normal seed noise around the published end accuracy.

    The noise, 0.11 points of top-1, was measured on one MLPerf recipe; it is doubled for all others.
    """
    sigma = np.array([SEED_SIGMA[query.metric] * (1 if r.stack == MEASURED_FAMILY else 2) for r in recipes])
    runs = np.array([recipe.runs for recipe in recipes])
    margins = (end_accuracy - query.target) / (sigma * np.sqrt(1 + 1 / runs))
    cdf = NormalDist().cdf
    return np.array([0.0 if np.isnan(margin) else cdf(margin) for margin in margins])


def runs(plan: Plan, query: EstimateQuery, found: Reached, sites: Flags) -> Runs:
    """Every usable recipe on every allowed site."""
    replayed = plan.own & ~np.isnan(_replayed_hours(plan, found))[:, None]
    answered = replayed if query.evidence == "measured" else ~plan.refused | replayed
    r, s = np.nonzero(answered & found.usable[:, None] & sites)
    epochs, own = found.reach.epochs[r], replayed[r, s]
    train = np.where(own, _replayed_hours(plan, found)[r], _elsewhere_hours(plan, found, r, s))
    typical = query.overheads == "typical"
    overhead = _overhead_hours(plan, train, epochs, r) if typical else np.zeros(len(r))
    width = np.where(own, 0.03, plan.speeds.width_80[r, plan.cluster_of_site[s]])
    success = found.success[r]
    whole = found.reach.end_epochs[r] / epochs * train + overhead
    return Runs(
        recipe=r,
        site=s,
        replayed=own,
        epochs=epochs,
        success=success,
        train=train,
        overhead=overhead,
        low=train * np.exp(-width) + overhead - typical * (overheads.STARTUP_HOURS - overheads.STARTUP_LOW_HOURS),
        high=train * np.exp(width) + overhead + typical * (overheads.STARTUP_HIGH_HOURS - overheads.STARTUP_HOURS),
        retry=(1 - success) / np.maximum(success, 1e-9) * whole,
    )


def best_of_each_site(candidates: Runs) -> Runs:
    """Of the runs on one site the shortest; recipes in the order of their names settle ties."""
    order = np.lexsort((candidates.recipe, candidates.hours, candidates.site))
    site = candidates.site[order]
    heads = np.r_[True, site[1:] != site[:-1]] if len(site) else np.zeros(0, bool)
    return candidates.take(order[heads])


def interrupted(candidates: Runs, nodes: Indices) -> Runs:
    """The same runs on spot machines: expected hours with interruptions; the high end takes the pessimistic rate."""
    usual = overheads.interrupted_hours(candidates.hours, overheads.SPOT_HOURS_BETWEEN / nodes)
    worst = overheads.interrupted_hours(candidates.high, overheads.SPOT_PESSIMISTIC_HOURS_BETWEEN / nodes)
    return replace(candidates, overhead=usual - candidates.train, high=worst)


def _replayed_hours(plan: Plan, found: Reached) -> Floats:
    """Hours on each recipe's own system: as logged, or its epochs at its mean rate; NaN where neither is known."""
    at_mean_rate = found.reach.epochs * plan.own_seconds / overheads.SECONDS_PER_HOUR
    return np.where(np.isnan(found.reach.own_hours), at_mean_rate, found.reach.own_hours)


def _elsewhere_hours(plan: Plan, found: Reached, r: Indices, s: Indices) -> Floats:
    """Hours at a site's own speed, phase by phase, counted on the recipe's clock."""
    epochs = plan.phase_epochs(np.nan_to_num(found.reach.epochs))
    hours = np.einsum("kp,kp->k", epochs[r], plan.seconds[r, s]) / overheads.SECONDS_PER_HOUR
    return np.asarray(hours * _clock_factors(plan.recipes)[r])


def _clock_factors(recipes: tuple[Recipe, ...]) -> Floats:
    """What to multiply training alone with to have the source's own clock."""
    included = np.array([recipe.clock == "training+evaluation" for recipe in recipes])
    return np.where(included, 1 + overheads.EVALUATION_SHARE, 1.0)


def _overhead_hours(plan: Plan, train: Floats, epochs: Floats, r: Indices) -> Floats:
    included = np.array([recipe.clock == "training+evaluation" for recipe in plan.recipes])[r]
    evaluation = np.where(included, 0.0, train * overheads.EVALUATION_SHARE)
    return overheads.STARTUP_HOURS + overheads.STAGING_HOURS + evaluation + overheads.checkpoint_hours(epochs)
