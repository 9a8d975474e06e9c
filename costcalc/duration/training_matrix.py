"""The training matrix: which recipes of a model can run on which clusters, and how fast, before any target is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from costcalc.convergence.curves import EpochsToTarget
from costcalc.convergence.eligibility import ModelRecipes
from costcalc.duration import overheads
from costcalc.duration.offered_clusters import NOWHERE, OfferedCluster
from costcalc.duration.running import OTHER_FRAMEWORK, Runs, Usual
from costcalc.machine_limits.host import Feed
from costcalc.machine_limits.known_limits import LimitTables
from costcalc.machine_limits.limits import LimitedSpeeds
from costcalc.recipes import EVALUATION_COUNTED, of_each
from costcalc.throughput import TIERS, SpeedTable, global_batch
from costcalc.throughput.fitted_parameters import FittedParameters
from costcalc.throughput.reference_model import is_reference
from costcalc.training import DATA_SET_GB, System, Tier
from costcalc.units import SECONDS_PER_HOUR, Flags, Floats, Indices

OTHER_ACCELERATOR = 100.0  # as a distance in ln(accelerators): farther than any count


class UsualCode(NamedTuple):
    """How many times as long as a recipe's own code other people's takes [K, C], from `low` to `high` in 8 of 10 cases; NaN where
    nobody knows."""

    low: Floats
    high: Floats


class TrainingMatrix(Struct, frozen=True, eq=False, dict=True, weakref=True):
    """One model's R recipes on C clusters. Recipes that are equally fast everywhere share one of the K rows of `speeds`.

    `clusters_of_instances` has by number of machines the cluster of each instance type, by its code; NOWHERE where nothing runs.
    `in_blocks_alone` flags likewise where nobody asked for a number that is sold in capacity blocks alone. `speed_row` [R] is
    each recipe's row of `speeds`, NOWHERE where more care is in it than was asked for; their columns are `clusters`: what the
    accelerators alone make; `limited` is what whole machines make. `own_cluster` [R] is the cluster on which a recipe's own log
    was written, NOWHERE where that cannot be rented or it is run otherwise. `feeds` [K] are the data pipelines, None where they
    are not known or not counted. `refusals` says by code of the instance type why nothing runs on machines that became no
    cluster; `usual` is what other people's code takes, `runs` where published code runs, `most_run` what is usual there.
    `is_past` says that recipes and measurements are those known on a past day; what was fitted to them knows later ones too.
    """

    recipes: ModelRecipes
    clusters: tuple[OfferedCluster, ...]
    clusters_of_instances: Mapping[int, Indices]
    in_blocks_alone: Mapping[int, Flags]
    speeds: SpeedTable
    speed_row: Indices
    limited: LimitedSpeeds
    own_cluster: Indices
    feeds: tuple[Feed | None, ...]
    limit_tables: LimitTables
    refusals: dict[int, str]
    fitted: FittedParameters
    usual: UsualCode
    runs: Runs
    most_run: Usual
    is_past: bool = False

    clock_factor = of_each(attrgetter("clock_factor"))
    """Hours on each recipe's own clock [R] for one hour of training alone."""
    counts_evaluation = of_each(lambda recipe: recipe.clock == EVALUATION_COUNTED, bool)
    """Whether each recipe's clock [R] ran during evaluation."""
    own_system_only = of_each(lambda recipe: recipe.expensive_optimizer or recipe.division == "open", bool)
    """Recipes [R] that answer on their own system only: those whose optimizer's steps cost more than the ones that speeds were
    measured with, and MLPerf's open division, which may change image sizes and network without logging it."""
    usual_code = of_each(is_reference, bool)
    """Recipes [R] whose speeds are those of MLPerf's usual code for this network and image size, not of code of their own."""
    global_batch = of_each(global_batch)
    """Images per step of each recipe [R], on all accelerators together; what is usual where none was published."""
    untimed_hours = of_each(attrgetter("untimed_hours"))
    """Hours of a run that the clock of each recipe [R] leaves out."""
    samples_per_epoch = of_each(attrgetter("samples_per_epoch"))
    """Images, or other samples, in an epoch of each recipe [R]."""
    own_nodes = of_each(lambda recipe: recipe.home.nodes or 1, np.int64)
    """Machines of each recipe's own system [R], 1 where that is unknown."""
    _data_set_gb = of_each(attrgetter("data_set_gb"))
    _is_ordinary = of_each(lambda recipe: recipe.kind == "ordinary", bool)
    _mean_rates = of_each(lambda recipe: recipe.images_per_second or None)
    """Images per second of each recipe's own run [R], NaN where unknown."""

    @property
    def about_bytes(self) -> int:
        """The memory that it holds: some 90 bytes for each of its K x C speeds and 300 for each cluster."""
        return 90 * self.speeds.tier.size + 300 * len(self.clusters)

    @property
    def seconds_per_epoch(self) -> tuple[Floats, ...]:
        """Seconds of training per epoch in each of P phases [K, C]: infinite where no speed is known, 0 beyond the last phase."""
        return self.limited.seconds_per_epoch

    @cached_property
    def is_measured(self) -> Flags:
        """Which speeds [K, C] the user measured on these very machines."""
        return np.asarray(self.speeds.tier == TIERS.index(Tier.MEASURED))

    @cached_property
    def same_speed(self) -> Indices:
        """How many recipes are as fast everywhere as each one [R]."""
        row = self.speed_row - NOWHERE
        return np.bincount(row)[row] if len(row) else row

    @cached_property
    def by_preference(self) -> Indices:
        """The recipes [R] in the order that decides between equally good ones: what most people ran comes first, then the
        newest."""
        return np.lexsort((-self.recipes.years, -self.same_speed))

    def out_of_use(self, recipes: Indices, clusters: Indices) -> Flags:
        """Which of these recipes [r, c] are ordinary scripts of another framework than what most people run on these clusters."""
        return self._out_of_use.take(recipes, axis=0).take(self.most_run.vendor.take(clusters), axis=1)

    @cached_property
    def _out_of_use(self) -> Flags:
        """The same of all recipes, by the vendor of the clusters' chips [R, V]."""
        return np.asarray((self.most_run.steps == OTHER_FRAMEWORK) & self._is_ordinary[:, None])

    @cached_property
    def nodes(self) -> Indices:
        return np.array([cluster.nodes for cluster in self.clusters], np.int64)

    @cached_property
    def rewriting_hours(self) -> Floats:
        """Hours to write the data set as the pipeline of each recipe [R] reads it; 0 where it reads the usual one."""
        stored = [feed.stored_gb if feed else DATA_SET_GB for feed in self.feeds]
        return overheads.rewriting_hours(np.array(stored, float))[self.speed_row]

    @cached_property
    def staging_hours(self) -> Floats:
        """Hours to bring the data set of each recipe [R] to the machine."""
        return overheads.staging_hours(self._data_set_gb)

    def on_own_system(self, recipes: Indices, clusters: Indices) -> Flags:
        """Whether each of these clusters [c] is as the own system of each of these recipes [r, c] was: its accelerators, as many
        of them, in as many machines."""
        homes, asked = self._homes(recipes), [self.speeds.clusters[c] for c in clusters.tolist()]
        here = [(cluster.accelerator, cluster.total_accelerators, cluster.nodes) for cluster in asked]
        alike = [home.key == key for home in homes for key in here]
        return np.array(alike, bool).reshape(len(homes), len(here))

    def unlikeness(self, recipes: Indices, clusters: Indices) -> Floats:
        """How far the own systems of these recipes [r, c] are from each of these clusters: another accelerator counts most, then
        the ratio of the counts, in ln."""
        homes, asked = self._homes(recipes), [self.speeds.clusters[c] for c in clusters.tolist()]
        own = np.array([home.accelerator for home in homes], str)
        other = own[:, None] != np.array([cluster.accelerator for cluster in asked], str)
        counts = np.log([max(home.accelerators, 1) for home in homes])
        apart = np.abs(counts[:, None] - np.log([max(cluster.total_accelerators, 1) for cluster in asked]))
        return np.asarray(OTHER_ACCELERATOR * other + apart)

    def _homes(self, recipes: Indices) -> list[System]:
        return [self.recipes.recipes[r].home for r in recipes.tolist()]

    def logged_hours(self, to_target: EpochsToTarget) -> Floats:
        """Hours to the target on each recipe's own system [R]: as logged, or its epochs at its mean rate; NaN where unknown."""
        at_mean_rate = to_target.epochs * self.samples_per_epoch / self._mean_rates / SECONDS_PER_HOUR
        return np.where(np.isnan(to_target.own_hours), at_mean_rate, to_target.own_hours)

    def work(self, epochs: Floats) -> Floats:
        """What each recipe has to do [R, P + 1] when it runs for `epochs` [R], NaN for none: epochs in each of P phases, and what
        MLPerf's clock adds to their training, in units of a power of the seconds per epoch, 0 for other recipes."""
        starts, ends = self._phases
        phases = np.fmax(np.minimum(epochs[:, None], ends) - starts, 0)
        factor, power = self.fitted.elapsed_time
        clock = np.where(self.recipes.is_mlperf, factor * epochs**power / SECONDS_PER_HOUR, 0.0)
        return np.concatenate((phases, clock[:, None]), axis=1)

    def training_hours(self, work: Floats, recipes: Indices, clusters: Indices) -> Floats:
        """Hours of training [r, c] of these recipes [r] on these clusters [c]; infinite where refused.

        `work` is that of all R recipes. MLPerf's hours hold its evaluation and warm-up, a power of the training time, which
        is one of the epochs times one of the seconds per epoch.
        """
        *phases, clock = work[recipes].T[:, :, None]
        row = self.speed_row[recipes]
        hours = self.seconds_per_epoch[0][row].take(clusters, axis=1)
        hours *= phases[0] / SECONDS_PER_HOUR
        for epochs, seconds in zip(phases[1:], self.seconds_per_epoch[1:], strict=True):
            longer = epochs[:, 0].nonzero()[0]
            hours[longer] += epochs[longer] / SECONDS_PER_HOUR * seconds[row[longer]].take(clusters, axis=1)
        mlperf = clock[:, 0].nonzero()[0]
        hours[mlperf] += clock[mlperf] * self._seconds_to_power[row[mlperf]].take(clusters, axis=1)
        hours[self.own_system_only[recipes]] = np.inf
        return hours

    @cached_property
    def _seconds_to_power(self) -> Floats:
        """Seconds per epoch to the power by which evaluation and warm-up grow with a run of MLPerf's [K, C]."""
        return np.asarray(self.seconds_per_epoch[0] ** self.fitted.elapsed_time.power)

    @cached_property
    def _phases(self) -> tuple[Floats, Floats]:
        """The epochs at which each phase of each recipe starts and ends [R, P]; infinite beyond the last."""
        most = len(self.seconds_per_epoch)
        started = ([phase.from_epoch for phase in recipe.phases[:most]] for recipe in self.recipes.recipes)
        padded = [phases + [np.inf] * (most + 1 - len(phases)) for phases in started]
        bounds = np.array(padded, float).reshape(-1, most + 1)
        return bounds[:, :-1], bounds[:, 1:]
