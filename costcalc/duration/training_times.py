"""Hours to the target for every recipe on every site that the question allows, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from costcalc.convergence.eligibility import Reached
from costcalc.duration import overheads
from costcalc.duration.training_matrix import NOWHERE, Plan
from costcalc.query import EstimateQuery
from costcalc.training import EVALUATION_SHARE
from costcalc.units import Flags, Floats, Indices

OWN_WIDTH = 0.03  # ln half-width at 80 % of a run repeated on its own system


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

    def at(self, positions: Indices) -> list[Run]:
        """The entries at these positions."""
        columns = (getattr(self, name)[positions].tolist() for name in COLUMNS)
        return [Run(*values) for values in zip(*columns, strict=True)]

    def __add__(self, other: Runs) -> Runs:
        return Runs(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in COLUMNS))


COLUMNS = tuple(field.name for field in fields(Runs))


def runs(plan: Plan, query: EstimateQuery, found: Reached, sites: Flags) -> Runs:
    """On each of these sites the shortest usable recipe, or every usable one when all are asked for."""
    at = np.flatnonzero(sites)
    charge = _charge(plan, query, found.reach.epochs)
    recipes = _contenders(plan, found, charge) if query.recipes == "best" else np.flatnonzero(found.usable)
    hours = plan.hours(found.reach.epochs, recipes, at) * charge.factor[recipes, None]
    if query.evidence == "measured":
        hours[:] = np.inf
    own = _replay(plan, found, recipes, at, hours)
    total = hours * charge.share[recipes, None] + charge.fixed[recipes, None]
    r, s = _shortest(total) if query.recipes == "best" else _each(plan, query, total, recipes, at)
    return _runs(plan, query, found, (recipes[r], at[s], own[r, s]), (hours[r, s], total[r, s]))


def _contenders(plan: Plan, found: Reached, charge: _Charge) -> Indices:
    """The usable recipes that can be the shortest somewhere: of equally fast ones the one with the fewest epochs (the newest
    of several), those with fewer at some image size, and all with a log of their own to replay. What most people ran comes
    first, which decides between equals."""
    free = np.flatnonzero(found.usable & ~plan.tied)
    spent = plan.phase_epochs(np.nan_to_num(found.reach.epochs)) * (charge.factor * charge.share)[:, None]
    order = free[np.lexsort((-plan.years[free], spent[free].sum(axis=1), plan.kind[free]))]
    fewest = np.r_[True, plan.kind[order][1:] != plan.kind[order][:-1]] if len(order) else np.zeros(0, bool)
    best = order[np.maximum.accumulate(np.where(fewest, np.arange(len(order)), 0))]
    less = (spent[order] < spent[best]).any(axis=1)
    replayed = np.flatnonzero(found.usable & (plan.home != NOWHERE))
    chosen: Indices = np.union1d(order[fewest | less], replayed)
    return np.asarray(chosen[np.lexsort((chosen, -plan.alike[chosen]))])


def _replay(plan: Plan, found: Reached, recipes: Indices, at: Indices, hours: Floats) -> Flags:
    """Puts each recipe's logged hours in the place of its own system, and says where."""
    own = np.zeros(hours.shape, bool)
    logged = plan.replayed_hours(found.reach)[recipes]
    rows = np.flatnonzero((plan.home[recipes] != NOWHERE) & ~np.isnan(logged))
    columns = np.searchsorted(at, plan.home[recipes[rows]])
    inside = (columns < len(at)) & (at[np.minimum(columns, len(at) - 1)] == plan.home[recipes[rows]]) if len(at) else []
    rows, columns = rows[inside], columns[inside]
    hours[rows, columns], own[rows, columns] = logged[rows], True
    return own


def _each(plan: Plan, query: EstimateQuery, total: Floats, recipes: Indices, at: Indices) -> tuple[Indices, Indices]:
    """Row and column of every finite entry; a recipe that nobody asked to scale stays on one machine or its own number."""
    kept = np.isfinite(total)
    if query.nodes is None and query.accelerators is None:
        own = np.array([recipe.system.nodes if recipe.system else 1 for recipe in plan.recipes])[recipes]
        kept &= (plan.nodes[at] == 1) | (plan.nodes[at] == own[:, None])
    row, column = np.nonzero(kept)
    return row, column


def _shortest(total: Floats) -> tuple[Indices, Indices]:
    """Row and column of the smallest entry of each column that has a finite one; the first row of equal ones."""
    if not total.size:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    row = total.argmin(axis=0)
    finite = np.flatnonzero(np.isfinite(total[row, np.arange(total.shape[1])]))
    return row[finite], finite


def _runs(
    plan: Plan,
    query: EstimateQuery,
    found: Reached,
    pairs: tuple[Indices, Indices, Flags],
    hours: tuple[Floats, Floats],
) -> Runs:
    (r, s, own), (train, total) = pairs, hours
    width = np.where(own, OWN_WIDTH, plan.speeds.width_80[plan.kind[r], s].astype(float))
    success, epochs, overhead = found.success[r], found.reach.epochs[r], total - train
    typical = query.overheads == "typical"
    whole = found.reach.end_epochs[r] / epochs * train + overhead
    return Runs(
        recipe=r,
        site=s,
        replayed=own,
        epochs=epochs,
        success=success,
        train=train,
        overhead=overhead,
        low=train * np.exp(-np.hypot(width, found.below[r]))
        + overhead
        - typical * (overheads.STARTUP_HOURS - overheads.STARTUP_LOW_HOURS),
        high=train * np.exp(np.hypot(width, found.above[r]))
        + overhead
        + typical * (overheads.STARTUP_HIGH_HOURS - overheads.STARTUP_HOURS),
        retry=(1 - success) / np.maximum(success, 1e-9) * whole,
    )


@dataclass(frozen=True, slots=True)
class _Charge:
    """By recipe: training alone x factor is its own clock's time; that x share + fixed hours is the whole run."""

    factor: Floats
    share: Floats
    fixed: Floats


def _charge(plan: Plan, query: EstimateQuery, epochs: Floats) -> _Charge:
    included = plan.evaluation_included
    if query.overheads == "none":
        return _Charge(plan.clock, np.ones(len(included)), np.zeros(len(included)))
    fixed = overheads.STARTUP_HOURS + overheads.STAGING_HOURS + overheads.checkpoint_hours(epochs)
    return _Charge(plan.clock, np.where(included, 1.0, 1 + EVALUATION_SHARE), fixed)


def campaign(single: Runs, count: int) -> Runs:
    """The hours of that many such runs, one after another, each with its own overhead; epochs and success are still one's."""
    hours = ("train", "overhead", "low", "high", "retry")
    return replace(single, **{name: getattr(single, name) * count for name in hours})


def interrupted(candidates: Runs, nodes: Indices) -> Runs:
    """The same runs on spot machines: expected hours with interruptions; the high end takes the pessimistic rate.

    Where that end is never reached, neither is the expected one. Further runs after a miss are interrupted as often: they are
    stretched in proportion.
    """
    worst = overheads.interrupted_hours(candidates.high, overheads.SPOT_PESSIMISTIC_HOURS_BETWEEN / nodes)
    usual = overheads.interrupted_hours(candidates.hours, overheads.SPOT_HOURS_BETWEEN / nodes)
    usual = np.where(worst < overheads.ENDLESS_HOURS, usual, overheads.ENDLESS_HOURS)
    retry = candidates.retry * usual / candidates.hours
    return replace(candidates, overhead=usual - candidates.train, high=worst, retry=retry)
