"""Which recipes may answer a question: those whose curve reaches the target, with the chance that another run would."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costcalc.convergence.chance import STOPPED_SHARE, success_probability, target_shift
from costcalc.convergence.curves import Reach
from costcalc.duration.training_matrix import Plan
from costcalc.query import EstimateQuery
from costcalc.training import Metric
from costcalc.units import Flags, Floats

INTERVAL = 0.8
NEAR_THE_END = 0.04  # accuracy: further below its end the borrowed curve of a schedule nobody ran was never checked


@dataclass(frozen=True, slots=True)
class Reached:
    """Which recipes may answer, with which chance of success, and why the others may not; `below` and `above` are the
    half-widths in ln(epochs) of the 80 % interval."""

    reach: Reach
    success: Floats
    usable: Flags
    below: Floats
    above: Floats
    rejections: dict[str, int]


@dataclass(frozen=True, slots=True)
class BestReached:
    """The highest accuracy any recipe of a model reached in one metric."""

    recipe: str
    accuracy: float


def reached(plan: Plan, query: EstimateQuery) -> Reached:
    """The recipes whose curve reaches the target, surely enough when only the best are wanted."""
    reach, wanted = _reach(plan, query), _wanted(plan, query)
    far = plan.interpolated & (query.target < reach.end_accuracy - NEAR_THE_END)
    crosses = ~np.isnan(reach.epochs) & ~far
    ends = np.where(np.isnan(plan.mean_top1), reach.end_accuracy, plan.mean_top1)
    known = ends if query.metric is Metric.TOP1 else reach.end_accuracy
    success = success_probability(known, query.target, plan.sigma[query.metric], plan.runs_published)
    success = np.where(query.target <= plan.tuned_to, np.maximum(success, STOPPED_SHARE), success)
    sure = success >= query.confidence if query.recipes == "best" else crosses
    rejections = {
        "no_recipe": int(not wanted.any()),
        "not_yet_published": 0 if query.recipe else int((~_published(plan, query)).sum()),
        "target_never_reached": int((wanted & np.isnan(reach.epochs)).sum()),
        "far_below_end": int((wanted & far).sum()),
        "below_confidence": int((wanted & crosses & ~sure).sum()),
    }
    usable = wanted & crosses & sure
    return Reached(reach, success, usable, *_epoch_widths(plan, query, reach), rejections)


def _reach(plan: Plan, query: EstimateQuery) -> Reach:
    """Where each recipe reaches the target. One that ends less than its seed noise below it runs to its end: another run may end
    above. MLPerf's stop at their own target instead."""
    reach = plan.curves[query.metric].reach(query.target, query.crossing)
    near = query.target <= reach.end_accuracy + plan.sigma[query.metric]
    return reach.run_out(np.isnan(reach.epochs) & near & ~plan.is_mlperf)


def _wanted(plan: Plan, query: EstimateQuery) -> Flags:
    """The recipes asked for. Unless they are named, those known in the year asked about, and under `all` only published ones."""
    if query.recipe:
        return np.array([recipe.is_named(query.recipe) for recipe in plan.recipes], bool)
    known = _published(plan, query)
    return known & ~plan.interpolated if query.recipes == "all" else known


def _published(plan: Plan, query: EstimateQuery) -> Flags:
    return plan.years <= query.as_of.year if query.as_of else np.ones(len(plan.recipes), bool)


def _epoch_widths(plan: Plan, query: EstimateQuery, reach: Reach) -> tuple[Floats, Floats]:
    """How far below and above its epochs, in ln, another run of each recipe crosses the target; 80 % of them lie within.

    Nothing for MLPerf, whose published time is a mean of runs and whose errors the widths of its speeds hold already. The
    error of an interpolated schedule's length was measured on single runs, so it holds their noise already.
    """
    shift = target_shift(query.metric, plan.sigma[query.metric], plan.runs_published, INTERVAL)
    curves = plan.curves[query.metric]
    early = curves.reach(query.target - shift, query.crossing).epochs
    late = curves.reach(query.target + shift, query.crossing).epochs
    late = np.where(np.isnan(late), reach.end_epochs, late)
    nothing = plan.is_mlperf | np.isnan(reach.epochs)
    below, above = (np.where(nothing, 0, np.abs(np.log(bound / reach.epochs))) for bound in (early, late))
    between = plan.length_width
    return np.where(between, between, below), np.where(between, between, above)


def best_reached(plan: Plan, query: EstimateQuery) -> BestReached | None:
    """The recipe that reached the highest accuracy in the metric asked about."""
    best = plan.curves[query.metric].best
    if not len(best) or not best.max():
        return None
    recipe = int(best.argmax())
    return BestReached(plan.recipes[recipe].name, float(best[recipe]))
