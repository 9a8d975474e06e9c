"""Which of a model's recipes may answer: those whose curve reaches the target, with the chance that another run would."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from costcalc.convergence import own_noise
from costcalc.convergence.curves import NEAR_THE_END, Curves, EpochsToTarget, sign
from costcalc.programs import UP_TO, Training
from costcalc.query import EstimateQuery
from costcalc.recipes import Recipe, of_each
from costcalc.training import Metric
from costcalc.units import Flags, Floats

INTERVAL = 0.8
SEED_SIGMA: Mapping[str, float] = {Metric.TOP1: 0.0011, Metric.TOP5: 0.0007}
"""Standard deviation of end accuracy from run to run: 0.0011 of MLPerf's LARS (410 runs of 83 systems), 0.0010 of 28 schedules
of seven other codes (100 runs; validation scores it). Top-5 by the ratio of the two metrics' scatter on plateaus."""
INTERPOLATION_SIGMA: Mapping[str, float] = {Metric.TOP1: 0.0009, Metric.TOP5: 0.0009}
"""Standard error of the end accuracy of a schedule between measured lengths, left out one at a time (FFCV ResNet-18)."""
EVALUATION_SIGMA: Mapping[str, float] = {Metric.TOP1: 0.00094, Metric.TOP5: 0.00056}
"""Standard deviation from one evaluation to the next on a plateau of the learning rate, median of 16 DAWNBench logs."""
STOPPED_RUNS, STOPPED_REACHED = 1419, 1355
"""Logged runs of MLPerf's that were to stop at their target, and how many of them reached it (`seed_noise.csv`)."""
NO_RECIPES = np.zeros(0)
NEVER, ALWAYS = -30.0, 6.0  # margins in sqrt(2) standard deviations at which a chance is 0, and 1, in floats
SAME_TARGET = 1e-5  # as far as a target may be rounded where it is typed
RUNS_IN_COMMON = 100
"""How many runs of its own tell as much of a recipe as the share of all: the shares of organisations scatter so, hardly more
than by chance (p = 0.1; 19 organisations)."""


class ModelRecipes(Struct, frozen=True, eq=False, dict=True):
    """One model's R recipes with what depends on no machine and no target; every column is an array [R] in their order.

    `interpolated_length_width` is the half-width in ln(epochs), at 80 %, of the length of an interpolated schedule. `later` are
    the model's recipes that were published after the day asked about. `borrowed_curve_width` is that of a crossing of a
    borrowed curve, for each unit of ln(epochs of the whole curve / epochs to the crossing).
    """

    recipes: tuple[Recipe, ...]
    interpolated_length_width: float
    later: tuple[Recipe, ...] = ()
    borrowed_curve_width: float = 0.0

    def curves(self, metric: str) -> Curves:
        """The recipes' accuracy curves in one metric, or in that of the user's own run."""
        return self._top5_curves if metric == Metric.TOP5 else self._top1_curves

    def oriented(self, value: float) -> float:
        """Converts a value to the sign used in `curves`, or back."""
        return self._sign * value

    @cached_property
    def _sign(self) -> float:
        return sign(self.recipes[0]) if self.recipes else 1.0

    def __iter__(self) -> Iterator[Recipe]:
        return iter(self.recipes)

    @property
    def model(self) -> str:
        """The network's name; empty where there is no recipe."""
        return next((recipe.model for recipe in self.recipes), "")

    @cached_property
    def is_own(self) -> bool:
        """Whether this is a user's own run, which has one recipe and one metric."""
        return any(recipe.is_own for recipe in self.recipes[:1])

    @cached_property
    def has_own_metric(self) -> bool:
        """Whether the recipes were evaluated in a metric of their own, not in ImageNet's."""
        return any(recipe.has_own_metric for recipe in self.recipes[:1])

    @cached_property
    def is_by_word(self) -> bool:
        """Whether the user states the epochs, so the chance is unknown."""
        return any(recipe.by_word for recipe in self.recipes[:1])

    @cached_property
    def _top1_curves(self) -> Curves:
        return Curves(self.recipes, Metric.TOP1)

    @cached_property
    def _top5_curves(self) -> Curves:
        return Curves(self.recipes, Metric.TOP5)

    is_interpolated = of_each(attrgetter("is_interpolated"), bool)
    """Recipes whose schedule nobody has run."""
    has_borrowed_curve = of_each(attrgetter("has_borrowed_curve"), bool)
    """Recipes published with their end alone, whose earlier curve is that of others."""
    is_closed = of_each(attrgetter("is_closed"), bool)
    """Recipes that cannot answer beyond the target at which they stop."""
    published_runs = of_each(attrgetter("runs"))
    """How many runs each recipe's end accuracy rests on."""
    mean_top1 = of_each(attrgetter("mean_top1"))
    """The mean end accuracy over all published runs, NaN where only one run's curve is known."""
    years = of_each(attrgetter("year"), np.int64)
    _epochs_widths, _run_spreads = of_each(attrgetter("epochs_width")), of_each(attrgetter("run_spread"))

    @cached_property
    def of_care(self) -> Mapping[Training, Flags]:
        """Recipes of at most this care."""
        return {care: np.array([recipe.kind in UP_TO[care] for recipe in self.recipes], bool) for care in UP_TO}

    @cached_property
    def tuned_to(self) -> Floats:
        """The accuracy at which each recipe's runs stop, as in `curves`; NaN where they end with their schedule."""
        return np.array([self.oriented(recipe.tuned_to or np.nan) for recipe in self.recipes], float)

    @cached_property
    def stopped_share(self) -> Floats:
        """The share of runs that reach the target at which they stop [R], NaN where they end with their schedule.

        The mean of a beta distribution: the recipe's own logged runs, and RUNS_IN_COMMON of the share of all.
        """
        logged = [(recipe.reached or 0, recipe.runs * (recipe.reached is not None)) for recipe in self.recipes]
        reached, runs = np.array(logged, float).reshape(-1, 2).T
        share = (reached + RUNS_IN_COMMON * STOPPED_REACHED / STOPPED_RUNS) / (runs + RUNS_IN_COMMON)
        return np.where(self.is_mlperf, share, np.nan)

    @cached_property
    def is_mlperf(self) -> Flags:
        """Recipes whose runs stop at a target of MLPerf's."""
        return ~np.isnan(self.tuned_to)

    def evaluation_sigma(self, metric: str) -> Floats | float:
        """Standard deviation from one evaluation to the next."""
        return self._own_sigma if self.has_own_metric else EVALUATION_SIGMA.get(metric, 0.0)

    def sigma(self, metric: str) -> Floats:
        """Standard deviation of each recipe's end accuracy from run to run [R]."""
        if self.has_own_metric:
            return own_noise.seed_sigma(self._own_sigma)
        if metric not in SEED_SIGMA:
            return NO_RECIPES
        return np.asarray(np.hypot(SEED_SIGMA[metric], self.is_interpolated * INTERPOLATION_SIGMA[metric]))

    def target_shift(self, metric: str) -> Floats:
        """`target_shift` of each recipe [R], at INTERVAL."""
        if metric not in self._target_shifts:
            noise = self.evaluation_sigma(metric), self.sigma(metric)
            self._target_shifts[metric] = target_shift(*noise, self.published_runs, INTERVAL)
        return self._target_shifts[metric]

    def ends_within(self, metric: str) -> Floats:
        """How far from its own end another run of the user's recipes ends in 8 of 10 cases [R], as in `curves`."""
        return own_noise.ENDS_WIDER * self.target_shift(metric)

    @cached_property
    def _target_shifts(self) -> dict[str, Floats]:
        return {}

    @cached_property
    def _own_sigma(self) -> Floats:
        return np.array([own_noise.evaluation_sigma(values.tolist()) for values in self._top1_curves.values])

    @cached_property
    def length_width(self) -> Floats:
        """Half-width in ln(epochs), at 80 %, of the length of each schedule; 0 if its length is known."""
        return np.where(self.is_interpolated, self.interpolated_length_width, self._epochs_widths)

    @cached_property
    def run_width(self) -> Floats:
        """Half-width in ln(minutes), at INTERVAL, of single runs about the published mean of several [R]."""
        return np.asarray(NormalDist().inv_cdf((1 + INTERVAL) / 2) * self._run_spreads)


class EligibleRecipes(NamedTuple):
    """Which of R recipes may answer, and why the others may not; all arrays are [R].

    `success_probability` is the chance that a new run reaches the target. `usable` are those that reach it surely enough,
    `seldom` those that reach it less surely, `eligible` the usable with no more care than the question allows, `best` those of
    these among which `recipes=best` chooses, or all where it has none.
    `log_width_below` and `log_width_above` are the half-widths in ln(epochs) of the 80 % interval of the epochs that a new run
    takes. `care` is the most that is in one of the eligible.
    """

    to_target: EpochsToTarget
    success_probability: Floats
    usable: Flags
    seldom: Flags
    eligible: Flags
    best: Flags
    log_width_below: Floats
    log_width_above: Floats
    rejections: dict[str, int]
    care: Training = "record"

    @property
    def likeliest(self) -> int | None:
        """The recipe that reaches the target most often, if none does so surely enough; else None."""
        if self.usable.any() or not self.seldom.any():
            return None
        return int(np.where(self.seldom, self.success_probability, -1.0).argmax())


class BestReached(Struct, frozen=True):
    """The highest accuracy any recipe of a model reached in one metric, or the best value of your own run."""

    recipe: str
    accuracy: float


def eligible_recipes(recipes: ModelRecipes, query: EstimateQuery) -> EligibleRecipes:
    """The recipes whose curve reaches the target, and if only the best are wanted does so surely enough."""
    to_target, requested = _epochs_to_target(recipes, query), _requested(recipes.recipes, query)
    later = int(_requested(recipes.later, query).sum())
    far = recipes.is_interpolated & (recipes.oriented(query.target) < to_target.end_accuracy - NEAR_THE_END)
    reaches = ~np.isnan(to_target.epochs) & ~far
    probability = _success_probability(recipes, query, to_target)
    sure = probability >= query.confidence if query.recipes == "best" else reaches
    usable, seldom = requested & reaches & sure, requested & reaches & ~sure
    otherwise = usable & _known_otherwise(recipes.recipes, query)
    usable &= ~otherwise | ~(usable & ~otherwise).any()
    careful = _within_care(recipes, query, usable)
    rejections = {
        "no_recipe": int(not requested.any() and not later),
        "not_yet_published": later,
        "target_never_reached": int(np.count_nonzero(requested & np.isnan(to_target.epochs))),
        "far_below_end": int(np.count_nonzero(requested & far)),
        "below_confidence": int(np.count_nonzero(seldom)),
        "ran_otherwise": int(np.count_nonzero(otherwise & ~usable)),
        "beyond_training": int(np.count_nonzero(usable & ~careful)),
    }
    widths = _epoch_widths(recipes, query, to_target)
    eligible = usable & careful
    care: Training = "tuned" if eligible.any() and recipes.of_care["tuned"][eligible].all() else "record"
    surely = eligible & (probability >= query.confidence)
    best = surely & _within_care(recipes, replace(query, recipes="best"), surely)
    return EligibleRecipes(
        to_target, probability, usable, seldom, eligible, best if best.any() else eligible, *widths, rejections, care
    )


def success_probability(end_accuracy: Floats, target: Floats | float, sigma: Floats, published_runs: Floats) -> Floats:
    """The chance that a new run ends at or above the target, for each recipe [R].

    Normal seed noise of standard deviation `sigma` about an end accuracy that is known from so many runs:
    P = Phi((A_end - t) / (sigma sqrt(1 + 1/runs))). A NaN end accuracy gives 0.
    """
    margins = (end_accuracy - target) / (sigma * np.sqrt(1 + 1 / published_runs) * math.sqrt(2))
    chance = (margins > 0).astype(float)
    near = np.flatnonzero((margins > NEVER) & (margins < ALWAYS))
    chance[near] = np.fromiter(map(math.erfc, (-margins[near]).tolist()), float, len(near)) / 2
    return chance


def target_shift(evaluation_sigma: Floats | float, sigma: Floats, published_runs: Floats, level: float) -> Floats:
    """How far above and below the target to read a published curve [R] to bound other runs' crossings at this level.

    Another run's curve lies above or below the published one by seed and evaluation noise, so where it crosses the target the
    published curve crosses the target shifted by as much. A crossing that does not exist counts as a miss, not as a time.
    """
    spread = np.hypot(sigma * np.sqrt(1 + 1 / published_runs), evaluation_sigma)
    return np.asarray(NormalDist().inv_cdf((1 + level) / 2) * spread)


def best_reached(recipes: ModelRecipes, metric: str) -> BestReached | None:
    """The recipe that reached the highest accuracy in this metric, None where none was evaluated in it."""
    best = recipes.curves(metric).best
    if not best.any():
        return None
    recipe = int(best.argmax())
    return BestReached(recipes.recipes[recipe].name, recipes.oriented(float(best[recipe])))


def _epochs_to_target(recipes: ModelRecipes, query: EstimateQuery) -> EpochsToTarget:
    """Where each recipe reaches the target. One that ends less than its seed noise below it runs to its end: another run may end
    above. MLPerf's stop at their own target instead, beside which closed ones reach those on their way that logs show."""
    target = recipes.oriented(query.target)
    to_target = recipes.curves(query.metric).epochs_to(target, query.crossing)
    if recipes.is_closed.any():
        firsts = [values[0] if len(values) else np.inf for values in recipes.curves(query.metric).values]
        on_the_way = (np.array(firsts) <= target) & (target <= recipes.tuned_to)
        other = recipes.is_closed & ~on_the_way & ~np.isclose(recipes.tuned_to, target, rtol=SAME_TARGET, atol=0)
        to_target = to_target._replace(epochs=np.where(other, np.nan, to_target.epochs))
    near = target <= to_target.end_accuracy + recipes.sigma(query.metric)
    return to_target.run_to_end(np.isnan(to_target.epochs) & near & ~recipes.is_mlperf)


def _success_probability(recipes: ModelRecipes, query: EstimateQuery, to_target: EpochsToTarget) -> Floats:
    """As `success_probability`, but up to the target of a recipe's own runs no less than the share of them that reach it."""
    ends, target = to_target.end_accuracy, recipes.oriented(query.target)
    if recipes.is_by_word:
        return np.ones(len(ends))
    if query.metric == Metric.TOP1:
        ends = np.where(np.isnan(recipes.mean_top1), ends, recipes.mean_top1)
    probability = success_probability(ends, target, recipes.sigma(query.metric), recipes.published_runs)
    return np.where(target <= recipes.tuned_to, np.maximum(probability, recipes.stopped_share), probability)


def _requested(recipes: Sequence[Recipe], query: EstimateQuery) -> Flags:
    """The requested recipes: those named, otherwise all."""
    if not query.recipe:
        return np.ones(len(recipes), bool)
    return np.array([recipe.is_named(query.recipe) for recipe in recipes], bool)


def _known_otherwise(recipes: Sequence[Recipe], query: EstimateQuery) -> Flags:
    """Which recipes are known only as they ran, in another way than is asked for."""
    if not any(query.running):
        return np.zeros(len(recipes), bool)
    return np.array([bool(recipe.not_known_in(query.running)) for recipe in recipes], bool)


def _within_care(recipes: ModelRecipes, query: EstimateQuery, usable: Flags) -> Flags:
    """Which recipes take no more care than the question allows, or than the least with which any can be used."""
    if query.recipes == "all" or query.recipe:
        return np.ones(len(usable), bool)
    cares = [*recipes.of_care]
    allowed = [recipes.of_care[care] for care in cares[cares.index(query.training) :]]
    return next((careful for careful in allowed if (usable & careful).any()), allowed[0])


def _epoch_widths(recipes: ModelRecipes, query: EstimateQuery, to_target: EpochsToTarget) -> tuple[Floats, Floats]:
    """How far below and above its epochs, in ln, another run of each recipe crosses the target; 80 % of them lie within.

    Of MLPerf's, whose published time is a mean of runs, how single runs scatter about it, if that is known; the widths of its
    speeds hold the rest. The error of an interpolated schedule's length was measured on single runs, so it holds their noise
    already. A borrowed curve is the less sure the further from its end it crosses the target; none takes longer than to its end.
    """
    curves, target = recipes.curves(query.metric), recipes.oriented(query.target)
    shift = recipes.target_shift(query.metric)
    bounds = curves.epochs_to(np.array([target - shift, target + shift]), query.crossing).epochs
    bounds[1] = np.where(np.isnan(bounds[1]), to_target.end_epochs, bounds[1])
    nothing = recipes.is_mlperf | np.isnan(to_target.epochs) | recipes.is_by_word
    below, above = np.where(nothing, 0, np.abs(np.log(bounds / to_target.epochs)))
    is_modelled = recipes.has_borrowed_curve | recipes.is_closed
    remaining = np.where(is_modelled, np.log(to_target.end_epochs / to_target.epochs), 0)
    borrowed = recipes.borrowed_curve_width * remaining
    below = np.hypot(below, borrowed)
    above = np.where(remaining > 0, np.minimum(np.hypot(above, borrowed), remaining), above)
    length, of_runs = recipes.length_width, recipes.run_width
    below, above = np.where(length, length, below), np.where(length, length, above)
    return np.hypot(below, of_runs), np.hypot(above, of_runs)
