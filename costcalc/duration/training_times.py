"""Hours to the target for every eligible recipe on every cluster that the question allows, as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from msgspec import Struct

from costcalc.convergence.eligibility import EligibleRecipes
from costcalc.duration import overheads
from costcalc.duration.offered_clusters import NOWHERE
from costcalc.duration.running import LAST_RESORT
from costcalc.duration.training_matrix import TrainingMatrix
from costcalc.interruptions import RISKS
from costcalc.query import EstimateQuery
from costcalc.recipes import EVALUATION_SHARE
from costcalc.units import Flags, Floats, Indices

FEW_CLUSTERS = 10  # on these it is faster to compare all recipes than to find those that can be the best
INTERPOLATED_FACTOR = 1.02  # a schedule that nobody ran must save this much to be chosen before one that somebody did


class TrainingTime(NamedTuple):
    """One recipe on one cluster, both by their position in the training matrix; hours with their 80 % interval.

    `hours` are those of training and overhead; `logged` ones are those of the recipe's own log on this very system. `epochs` and
    `success_probability` are one run's, `retry_hours` the expected hours of further runs where one misses the target.
    """

    recipe: int
    cluster: int
    logged: bool
    epochs: float
    success_probability: float
    train_hours: float
    overhead_hours: float
    hours_low: float
    hours_high: float
    retry_hours: float
    hours: float


class TrainingTimes(NamedTuple):
    """Many training times as columns of equal length; see `TrainingTime`."""

    recipe: Indices
    cluster: Indices
    logged: Flags
    epochs: Floats
    success_probability: Floats
    train_hours: Floats
    overhead_hours: Floats
    hours_low: Floats
    hours_high: Floats
    retry_hours: Floats

    @property
    def hours(self) -> Floats:
        """Train + overhead."""
        return self.train_hours + self.overhead_hours

    def at(self, positions: Indices) -> list[TrainingTime]:
        """The entries at these positions."""
        taken = self.take(positions)
        return list(map(TrainingTime, *[column.tolist() for column in (*taken, taken.hours)]))

    def take(self, positions: Indices) -> TrainingTimes:
        """The entries at these positions, as columns."""
        return TrainingTimes._make([column.take(positions) for column in self])

    def followed_by(self, others: TrainingTimes) -> TrainingTimes:
        """These and others behind them."""
        return TrainingTimes._make(map(np.concatenate, zip(self, others, strict=True)))


OUT_OF_USE = 1e3  # how many times as long such a script counts: any other that runs goes before it
EQUALLY_FAST = 1e-6  # of the hours: of recipes that differ by less, the one whose own system is most alike is named
HOURS_BETWEEN = np.array(RISKS)


class Course(Struct, frozen=True):
    """How long each recipe of a matrix [R] runs until it reaches the target of a question, on any cluster; which are `eligible`.

    Hours of training x the recipe's clock factor are hours on its own clock; those x `evaluation_factor` + `fixed_hours` are the
    whole run, and x `weight` + `constant` what recipes are chosen by. `work` and `logged_hours` are as in `TrainingMatrix`.
    """

    matrix: TrainingMatrix
    query: EstimateQuery
    eligible: EligibleRecipes
    work: Floats
    logged_hours: Floats
    evaluation_factor: Floats
    fixed_hours: Floats
    weight: Floats
    constant: Floats

    @classmethod
    def of(cls, matrix: TrainingMatrix, query: EstimateQuery, eligible: EligibleRecipes) -> Course:
        """With further runs after misses: hours + (1 - p)/p x (hours, but trained to the end) is a weight of the training hours
        and a constant."""
        counted, reached = matrix.counts_evaluation, eligible.to_target
        evaluation, fixed = np.ones(len(counted)), np.zeros(len(counted))
        if query.overheads == "typical":
            evaluation = np.where(counted, 1.0, 1 + EVALUATION_SHARE)
            checkpoints = np.where(matrix.recipes.is_closed, 0.0, overheads.checkpoint_hours(reached.epochs))
            fixed = overheads.STARTUP_HOURS + matrix.staging_hours + matrix.rewriting_hours + checkpoints
            fixed += matrix.untimed_hours
        further = _further_runs(eligible.success_probability)
        runs = 1 + further
        beyond = reached.end_epochs / reached.epochs - 1
        factor = np.where(matrix.recipes.is_interpolated, INTERPOLATED_FACTOR, 1.0)
        weight = factor * (runs * evaluation + further * beyond)
        work, logged = matrix.work(reached.epochs), matrix.logged_hours(reached)
        return cls(matrix, query, eligible, work, logged, evaluation, fixed, weight, factor * runs * fixed)

    @property
    def is_ordinary(self) -> bool:
        """Whether ordinary scripts alone are asked for."""
        return self.query.training == "ordinary" and not self.query.recipe


def training_times(course: Course, allowed: Flags) -> TrainingTimes:
    """On each allowed cluster [C] the best eligible recipe, or every eligible one where all are asked for.

    The best takes the fewest hours, expected further runs included, of those whose code is not known to fail there; schedules
    that nobody ran count as INTERPOLATED_FACTOR times as long, and ordinary scripts of frameworks that hardly anybody uses there
    any more come last. Among ordinary scripts alone, those that most people run come first.
    """
    matrix, clusters, eligible = course.matrix, allowed.nonzero()[0], course.eligible.eligible
    if course.query.recipes == "all":
        recipes = eligible.nonzero()[0]
        hours, logged = _hours(course, recipes, clusters)
        r, c = _every(course, hours, recipes, clusters)
    else:
        recipes = matrix.by_preference[eligible.take(matrix.by_preference)]
        if len(clusters) > FEW_CLUSTERS and not course.is_ordinary:
            recipes = _possibly_best(course, recipes)
        hours, logged = _hours(course, recipes, clusters)
        r, c = _best(_expected(course, hours, recipes, clusters))
    return _times(course, recipes[r], clusters[c], logged[r, c], hours[r, c])


def best_of_groups(course: Course, cluster: int, groups: Flags) -> tuple[Indices, TrainingTimes]:
    """The groups of recipes [G, R] that have one for this cluster, and the times of the best of each."""
    by_preference, clusters = course.matrix.by_preference, np.array([cluster])
    recipes = by_preference[groups.any(axis=0).take(by_preference)]
    hours, logged = _hours(course, recipes, clusters)
    expected = np.where(groups.take(recipes, axis=1).T, _expected(course, hours, recipes, clusters), np.inf)
    r, which = _best(expected)
    return which, _times(course, recipes[r], clusters.repeat(len(r)), logged[r, 0], hours[r, 0])


def _hours(course: Course, recipes: Indices, clusters: Indices) -> tuple[Floats, Flags]:
    """The hours on their own clock of these recipes on these clusters [r, c], and which of them were logged."""
    matrix = course.matrix
    hours = matrix.training_hours(course.work, recipes, clusters)
    apart = (matrix.clock_factor[recipes] != 1).nonzero()[0]
    hours[apart] *= matrix.clock_factor[recipes[apart], None]
    if course.query.evidence == "measured":
        hours[~matrix.is_measured[matrix.speed_row[recipes]].take(clusters, axis=1)] = np.inf
    return hours, _put_logged_hours(course, hours, recipes, clusters)


def _expected(course: Course, hours: Floats, recipes: Indices, clusters: Indices) -> Floats:
    """What recipes are chosen by on each cluster [r, c]."""
    matrix = course.matrix
    expected = hours * course.weight[recipes, None]
    expected += course.constant[recipes, None]
    expected *= matrix.runs.last_resorts(recipes, clusters)
    if course.is_ordinary:
        expected *= LAST_RESORT ** matrix.most_run.between(recipes, clusters).astype(float)
    else:
        expected *= np.where(matrix.out_of_use(recipes, clusters), OUT_OF_USE, 1.0)
    if matrix.recipes.is_closed.any():
        expected *= 1 + EQUALLY_FAST * matrix.unlikeness(recipes, clusters)
    return expected


def repeated(matrix: TrainingMatrix, times: TrainingTimes, query: EstimateQuery) -> TrainingTimes:
    """The hours of `query.runs` such runs, one after another on machines that boot and stage the data set once.

    Epochs and success are still one run's.
    """
    again = (query.runs - 1) * (query.overheads == "typical")
    staged = matrix.staging_hours[times.recipe] + matrix.rewriting_hours[times.recipe]
    kept = staged + overheads.STARTUP_HOURS - overheads.INITIALISING_HOURS
    sooner, later = _of_startup(query)
    below, above = times.hours - times.hours_low, times.hours_high - times.hours
    all_runs = times._replace(
        train_hours=query.runs * times.train_hours,
        overhead_hours=query.runs * times.overhead_hours - again * kept,
        retry_hours=query.runs * times.retry_hours,
    )
    return all_runs._replace(
        hours_low=all_runs.hours - _repeated_doubt(below, sooner, query.runs),
        hours_high=all_runs.hours + _repeated_doubt(above, later, query.runs),
    )


def _of_startup(query: EstimateQuery) -> tuple[float, float]:
    """How many hours a start-up takes less or more than expected, at the ends of its 80 % range; none where hours are those of
    the source's own clock."""
    return (0.0, 0.0) if query.overheads == "none" else overheads.OF_STARTUP


def _repeated_doubt(doubt: Floats, of_startup: float, runs: int) -> Floats:
    """The doubt of the hours of so many runs, from that of one: its training's is every run's, the start-up is once."""
    of_training = np.maximum(doubt**2 - of_startup**2, 0.0)
    return np.sqrt(runs**2 * of_training + of_startup**2)


def interrupted(times: TrainingTimes, nodes: Indices, risk: Indices) -> TrainingTimes:
    """The same runs on spot machines, of which `nodes` work together, each interrupted as RISKS[risk] says: expected hours with
    interruptions; the high end takes the pessimistic rate.

    Where that end is never reached, neither is the expected one. Further runs after a miss are interrupted as often: they are
    stretched in proportion.
    """
    between, hours = HOURS_BETWEEN.take(risk, axis=0).T / nodes, np.array([times.hours, times.hours_high])
    usual, worst = overheads.interrupted_hours(hours, between)
    usual = np.where(worst < overheads.ENDLESS_HOURS, usual, overheads.ENDLESS_HOURS)
    retry = times.retry_hours * usual / hours[0]
    return times._replace(overhead_hours=usual - times.train_hours, hours_high=worst, retry_hours=retry)


def _possibly_best(course: Course, recipes: Indices) -> Indices:
    """Those of these recipes that can be the best on some cluster, in the same order.

    Of equally fast ones that is the one that trains least, and any with less of one part of the hours: an image size, what
    MLPerf's clock adds, or the hours that no speed changes; and all with a log of their own. Comparing these alone makes an
    answer a tenth faster.
    """
    matrix = course.matrix
    free = recipes[~matrix.own_system_only[recipes]]
    weighted = course.work[free] * (matrix.clock_factor * course.weight)[free, None]
    parts = np.concatenate((weighted, course.constant[free, None]), axis=1)
    order = np.lexsort((parts.sum(axis=1), matrix.speed_row[free]))
    row = matrix.speed_row[free][order]
    is_first = np.append(True, row[1:] != row[:-1])[: len(row)]
    least = order[is_first.nonzero()[0][np.cumsum(is_first) - 1]]
    less = (parts[order] < parts[least]).any(axis=1)
    possible: Flags = (matrix.own_cluster != NOWHERE) | matrix.recipes.is_closed
    possible[free[order[is_first | less]]] = True
    return recipes[possible[recipes]]


def _put_logged_hours(course: Course, hours: Floats, recipes: Indices, clusters: Indices) -> Flags:
    """Writes each recipe's logged hours into the place of its own system in `hours` [r, c], and says where; those of a closed one
    that is asked for by name on all systems like its own."""
    matrix = course.matrix
    logged = np.zeros(hours.shape, bool)
    column = np.full(len(matrix.clusters) + 1, NOWHERE)  # the entry behind the last is that of NOWHERE
    column[clusters] = np.arange(len(clusters))
    known, columns = course.logged_hours[recipes], column[matrix.own_cluster[recipes]]
    rows = ((columns != NOWHERE) & ~np.isnan(known)).nonzero()[0]
    hours[rows, columns[rows]], logged[rows, columns[rows]] = known[rows], True
    if course.query.recipe and matrix.recipes.is_closed.any():
        here = (
            matrix.on_own_system(recipes, clusters)
            & matrix.recipes.is_closed[recipes, None]
            & ~np.isnan(known)[:, None]
        )
        hours[:] = np.where(here, known[:, None], hours)
        logged |= here
    return logged


def _every(course: Course, hours: Floats, recipes: Indices, clusters: Indices) -> tuple[Indices, Indices]:
    """Row and column of every finite entry; a recipe that nobody asked to scale stays on one machine or its own number."""
    possible, matrix, query = np.isfinite(hours), course.matrix, course.query
    if query.nodes is query.accelerators is query.max_nodes is None:
        nodes = matrix.nodes[clusters]
        possible &= (nodes == 1) | (nodes == matrix.own_nodes[recipes, None])
    row, column = np.nonzero(possible)
    return row, column


def _best(expected: Floats) -> tuple[Indices, Indices]:
    """Row and column of the smallest entry of each column that has a finite one; the first row of equal ones."""
    if not expected.size:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    row = expected.argmin(axis=0)
    finite = np.isfinite(expected[row, np.arange(expected.shape[1])]).nonzero()[0]
    return row[finite], finite


def _times(course: Course, r: Indices, c: Indices, logged: Flags, train: Floats) -> TrainingTimes:
    """The times of recipes on clusters that train so many hours, which of them are logged."""
    matrix, eligible = course.matrix, course.eligible
    total = train * course.evaluation_factor[r] + course.fixed_hours[r]
    row, own = matrix.speed_row[r], matrix.fitted.widths["own"].ln
    width_below = np.where(logged, own, matrix.limited.width_below[row, c])
    width_above = np.where(logged, own, matrix.limited.width_above[row, c])
    probability, epochs, overhead = eligible.success_probability[r], eligible.to_target.epochs[r], total - train
    below = train * -np.expm1(-np.hypot(width_below, eligible.log_width_below[r]))
    above = train * np.expm1(np.hypot(width_above, eligible.log_width_above[r]))
    sooner, later = _of_startup(course.query)
    to_the_end = eligible.to_target.end_epochs[r] / epochs * train + overhead
    return TrainingTimes(
        recipe=r,
        cluster=c,
        logged=logged,
        epochs=epochs,
        success_probability=probability,
        train_hours=train,
        overhead_hours=overhead,
        hours_low=total - np.hypot(below, sooner),
        hours_high=total + np.hypot(above, later),
        retry_hours=_further_runs(probability) * to_the_end,
    )


def _further_runs(probability: Floats) -> Floats:
    """The expected number of further runs after misses."""
    return (1 - probability) / np.maximum(probability, 1e-9)
