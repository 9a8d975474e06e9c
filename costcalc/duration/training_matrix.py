"""The training matrix: which recipes of a model can run on which clusters, and how fast, before any target is asked for."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from costcalc.catalogue.catalogue import Catalogue
from costcalc.convergence.curves import EpochsToTarget
from costcalc.convergence.eligibility import ModelRecipes
from costcalc.duration import overheads
from costcalc.duration.offered_clusters import (
    ALL_MACHINES,
    NOWHERE,
    Home,
    MachinesAsked,
    OfferedCluster,
    Published,
    are_homes,
    are_joined,
    as_clusters,
    beyond_any_cluster,
    offered_clusters,
    own_cluster,
    requested_machines,
    sold_in_blocks_alone,
)
from costcalc.duration.running import OTHER_FRAMEWORK, Runs, Usual, too_small
from costcalc.duration.ways import USUAL_WAY, OwnSpeeds, Way, speeds_of
from costcalc.hardware import Cluster
from costcalc.machine_limits.host import Feed
from costcalc.machine_limits.known_limits import LimitTables, known_limits
from costcalc.machine_limits.limits import LimitedSpeeds, RentedMachines
from costcalc.machine_limits.network import own_share, share_without_waiting
from costcalc.programs import Training
from costcalc.recipes import EVALUATION_COUNTED, Recipe
from costcalc.throughput import REFUSALS, TIERS, SpeedTable, global_batch, signature, undated
from costcalc.throughput.fitted_parameters import FittedParameters
from costcalc.throughput.prediction import TRANSFERRED
from costcalc.throughput.reference_model import is_reference
from costcalc.throughput.speed_model import PROCESSOR
from costcalc.training import DATA_SET_GB, Tier
from costcalc.units import SECONDS_PER_HOUR, Flags, Floats, Indices

if TYPE_CHECKING:
    from costcalc.evidence import Evidence


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

    @cached_property
    def clock_factor(self) -> Floats:
        """Hours on each recipe's own clock [R] for one hour of training alone."""
        return np.array([recipe.clock_factor for recipe in self.recipes.recipes], float)

    @cached_property
    def counts_evaluation(self) -> Flags:
        """Whether each recipe's clock [R] ran during evaluation."""
        return np.array([recipe.clock == EVALUATION_COUNTED for recipe in self.recipes.recipes], bool)

    @cached_property
    def own_system_only(self) -> Flags:
        """Recipes [R] that answer on their own system only.

        Those whose optimizer's steps cost more than the ones that speeds were measured with, and MLPerf's open division, which
        may change image sizes and network without logging it.
        """
        return np.array([one.expensive_optimizer or one.division == "open" for one in self.recipes.recipes], bool)

    def out_of_use(self, recipes: Indices, clusters: Indices) -> Flags:
        """Which of these recipes [r, c] are ordinary scripts of another framework than what most people run on these clusters."""
        return self._out_of_use.take(recipes, axis=0).take(self.most_run.vendor.take(clusters), axis=1)

    @cached_property
    def _out_of_use(self) -> Flags:
        """The same of all recipes, by the vendor of the clusters' chips [R, V]."""
        ordinary = np.array([recipe.kind == "ordinary" for recipe in self.recipes.recipes], bool)
        return np.asarray((self.most_run.steps == OTHER_FRAMEWORK) & ordinary[:, None])

    @cached_property
    def usual_code(self) -> Flags:
        """Recipes [R] whose speeds are those of MLPerf's usual code for this network and image size, not of code of their own."""
        return np.array([is_reference(recipe) for recipe in self.recipes.recipes], bool)

    @cached_property
    def global_batch(self) -> Floats:
        """Images per step of each recipe [R], on all accelerators together; what is usual where none was published."""
        return np.array([global_batch(recipe) for recipe in self.recipes.recipes], float)

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
        return overheads.staging_hours(np.array([recipe.data_set_gb for recipe in self.recipes.recipes], float))

    @cached_property
    def untimed_hours(self) -> Floats:
        """Hours of a run that the clock of each recipe [R] leaves out."""
        return np.array([recipe.untimed_hours for recipe in self.recipes.recipes], float)

    @cached_property
    def samples_per_epoch(self) -> Floats:
        """Images, or other samples, in an epoch of each recipe [R]."""
        return np.array([recipe.samples_per_epoch for recipe in self.recipes.recipes], float)

    @cached_property
    def own_nodes(self) -> Indices:
        """Machines of each recipe's own system [R], 1 where that is unknown."""
        return np.array([recipe.system.nodes if recipe.system else 1 for recipe in self.recipes.recipes], np.int64)

    def on_own_system(self, recipes: Indices, clusters: Indices) -> Flags:
        """Whether each of these clusters [c] is as the own system of each of these recipes [r, c] was: its accelerators, as many
        of them, in as many machines."""
        own = [self.recipes.recipes[r].system for r in recipes.tolist()]
        asked = [self.speeds.clusters[c] for c in clusters.tolist()]
        here = [(one.accelerator, one.total_accelerators, one.nodes) for one in asked]
        return np.array(
            [
                [one is not None and (one.accelerator, one.accelerators, one.nodes) == each for each in here]
                for one in own
            ],
            bool,
        ).reshape(len(own), len(here))

    def unlikeness(self, recipes: Indices, clusters: Indices) -> Floats:
        """How far the own systems of these recipes [r, c] are from each of these clusters: another accelerator counts most, then
        the ratio of the counts, in ln."""
        own = [self.recipes.recipes[r].system for r in recipes.tolist()]
        asked = [self.speeds.clusters[c] for c in clusters.tolist()]
        mine = np.array([one.accelerator if one else "" for one in own], str)
        other = mine[:, None] != np.array([one.accelerator for one in asked], str)
        counts = np.log([max(one.accelerators, 1) if one else 1 for one in own])
        apart = np.abs(counts[:, None] - np.log([max(one.total_accelerators, 1) for one in asked]))
        return np.asarray(OTHER_ACCELERATOR * other + apart)

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
    def _mean_rates(self) -> Floats:
        """Images per second of each recipe's own run [R], NaN where unknown."""
        return np.array([recipe.images_per_second or np.nan for recipe in self.recipes.recipes], float)

    @cached_property
    def _phases(self) -> tuple[Floats, Floats]:
        """The epochs at which each phase of each recipe starts and ends [R, P]; infinite beyond the last."""
        most = len(self.seconds_per_epoch)
        started = ([phase.from_epoch for phase in recipe.phases[:most]] for recipe in self.recipes.recipes)
        padded = [phases + [np.inf] * (most + 1 - len(phases)) for phases in started]
        bounds = np.array(padded, float).reshape(-1, most + 1)
        return bounds[:, :-1], bounds[:, 1:]


def _published_clusters(evidence: Evidence) -> dict[str, Published]:
    """By accelerator or processor, the size of the largest clusters that published runs used."""
    most: dict[str, Published] = {}
    for system in (recipe.system for recipe in evidence.recipes if recipe.system):
        machines, accelerators = most.get(system.accelerator, Published())
        most[system.accelerator] = Published(max(machines, system.nodes), max(accelerators, system.accelerators))
    return most


class Requested(NamedTuple):
    """N machines that a question is about. But for what is around its accelerators, each is one of `clusters`, by its position
    `cluster` [N]; `speeds` are those of K recipes on the accelerators of the clusters alone. `published` has the size of the
    largest clusters that anybody published a run on, see `beyond_any_cluster`."""

    machines: RentedMachines
    clusters: tuple[Cluster, ...]
    cluster: Indices
    speeds: SpeedTable
    published: Mapping[str, Published]

    def of(self, positions: Indices) -> Requested:
        """The machines at these positions, in this order."""
        return self._replace(machines=self.machines.of(positions), cluster=self.cluster[positions])

    def with_a_speed(self, homes: Collection[Home]) -> Requested:
        """Those on which something is known to run: joined machines with a speed, and all on which a recipe was run."""
        runs = (self.speeds.refusal == 0).any(axis=0)[self.cluster] & are_joined(self.machines)
        runs &= ~beyond_any_cluster(self.machines, self.published)
        return self.of(np.flatnonzero(runs | are_homes(self.machines, homes)))

    def fastest(self) -> Floats:
        """Seconds per epoch of each recipe on each machine [K, N] in its fastest phase; infinite where refused."""
        seconds = np.nanmin(self.speeds.seconds_per_epoch, axis=2, initial=np.inf)
        return np.asarray(np.where(self.speeds.refusal != 0, np.inf, seconds)[:, self.cluster])

    def refusals(self) -> dict[int, str]:
        """Why an instance type does not run anything, by its code: in the smallest number asked about."""
        worst = self.speeds.refusal.max(axis=0, initial=REFUSALS.index("no_throughput"))[self.cluster]
        worst[~are_joined(self.machines)] = REFUSALS.index("no_network")
        worst[beyond_any_cluster(self.machines, self.published)] = REFUSALS.index("beyond_any_cluster")
        reasons = (REFUSALS[code] for code in reversed(worst.tolist()))
        return dict(zip(reversed(self.machines.instance.tolist()), reasons, strict=True))


def model_recipes(evidence: Evidence, model: str, way: Way = USUAL_WAY) -> ModelRecipes:
    """A model's recipes, run in this way."""
    known = evidence.recipes_of(model)
    if way.running.precision:  # those published in other bits run so too then
        known = tuple(recipe for recipe in known if not recipe.is_run_otherwise)
    recipes = tuple(way.run(evidence.with_curve(recipe)) for recipe in known)
    length, curve = (evidence.fitted.widths[name].ln for name in ("length", "curve"))
    return ModelRecipes(recipes, length, evidence.later_recipes_of(model), curve)


def training_matrix(
    evidence: Evidence,
    catalogue: Catalogue,
    of: ModelRecipes,
    asked: MachinesAsked = ALL_MACHINES,
    way: Way = USUAL_WAY,
    care: Training = "record",
) -> TrainingMatrix:
    """The matrix of a model's recipes, and of the machines asked about on which any with no more than this care is known to run.

    The speeds are theirs alone: those of ResNet-50's benchmark entries take as long as all others together.
    """
    recipes = of.recipes
    distinct, speed_row = _equally_fast(recipes if way.dated else tuple(map(undated, recipes)), of.of_care[care])
    own_speeds = OwnSpeeds.of(evidence, recipes[0].model if recipes else "", way)
    as_logged = [
        not (recipe.is_run_otherwise or own_speeds.replace(recipe))
        and evidence.computes_in(way.running.precision, recipe.system.accelerator if recipe.system else "")
        for recipe in recipes
    ]
    own_clusters = [
        own_cluster(recipe, catalogue) if logged else None for recipe, logged in zip(recipes, as_logged, strict=True)
    ]
    homes = frozenset(filter(None, own_clusters))
    machines = requested_machines(catalogue, homes, asked)
    clusters, cluster = as_clusters(catalogue, machines)
    table = speeds_of(evidence, distinct, of, clusters, own_speeds, way.running.precision)
    requested = Requested(machines, clusters, cluster, table, _published_clusters(evidence))
    running = requested.with_a_speed(homes)
    limits = known_limits(evidence.limit_tables, evidence.gradients, distinct, way.pipeline, running.machines)
    offered = offered_clusters(catalogue, running.machines, homes, limits.each(), limits.matter(running.fastest()))
    accelerators_of = [catalogue.shapes[each.shape][0] for each in offered.clusters]
    stands_for = running.cluster[offered.standing_for]
    speeds = requested.speeds.of(stands_for)
    alone = _without_waiting(evidence, distinct, speeds, [requested.clusters[c] for c in stands_for])
    limited = limits.of(offered.standing_for).limited(alone, speeds.width_80, evidence.fitted.overlap)
    limited = limited.no_faster(speeds.width_faster)
    return TrainingMatrix(
        recipes=of,
        clusters=offered.clusters,
        clusters_of_instances=offered.of_instances,
        in_blocks_alone=sold_in_blocks_alone(requested.machines, homes)
        if asked.accelerators is asked.nodes is None
        else {},
        speeds=replace(speeds, seconds_per_epoch=speeds.seconds_per_epoch[:, :0].copy()),
        speed_row=speed_row,
        limited=limited,
        own_cluster=np.array([offered.place(home) for home in own_clusters], np.int64),
        feeds=limits.feeds,
        limit_tables=evidence.limit_tables,
        refusals=requested.refusals(),
        fitted=evidence.fitted,
        usual=_usual_code(speeds, limited),
        runs=Runs.of(evidence.programs, recipes, accelerators_of)._replace(
            too_small=too_small(recipes, [requested.clusters[c] for c in stands_for], evidence.accelerators)
        ),
        most_run=Usual.of(evidence.usual_scripts, recipes, [evidence.vendor(name) for name in accelerators_of]),
        is_past=evidence.is_past,
    )


def _equally_fast(recipes: Sequence[Recipe], wanted: Flags) -> tuple[tuple[Recipe, ...], Indices]:
    """The first of each of the wanted recipes [R] that are equally fast everywhere [K], and which of these each one is [R]."""
    signatures = [signature(recipe) if one else None for recipe, one in zip(recipes, wanted.tolist(), strict=True)]
    first = dict(zip(reversed(signatures), reversed(recipes), strict=True))
    first.pop(None, None)
    row = {one: number for number, one in enumerate(first)}
    return tuple(first.values()), np.array([row.get(one, NOWHERE) for one in signatures], np.int64)


def _without_waiting(
    evidence: Evidence, recipes: Sequence[Recipe], speeds: SpeedTable, clusters: Sequence[Cluster]
) -> tuple[Floats, ...]:
    """Seconds per epoch of the accelerators in each phase [K, C], less what machines waited for one another where the rates were
    logged: on a recipe's own system, or where its code was measured on just so many machines."""
    law, gradients = evidence.fitted.overlap, evidence.gradients
    by_phase = np.moveaxis(np.nan_to_num(speeds.seconds_per_epoch), 2, 0)
    logged = tuple(np.where(speeds.refusal != 0, np.inf, seconds) for seconds in by_phase)
    shares = np.array([own_share(recipe, gradients, law) for recipe in recipes], float)
    without = tuple(phase * np.where(speeds.kind == PROCESSOR, 1.0, shares[:, None]) for phase in logged)
    reference = np.array([is_reference(recipe) for recipe in recipes], bool)
    measured = (speeds.kind == TRANSFERRED) & (speeds.refusal == 0) & ~reference[:, None]
    for k, c in np.argwhere(measured).tolist():
        for phase, left in zip(logged, without, strict=True):
            rate = recipes[k].samples_per_epoch / float(phase[k, c]) if phase[k, c] else math.inf
            left[k, c] = phase[k, c] * share_without_waiting(recipes[k], clusters[c], rate, gradients, law)
    return without


def _usual_code(speeds: SpeedTable, limited: LimitedSpeeds) -> UsualCode:
    """No code passes the limits of the machine around the accelerators."""
    alone = np.nansum(speeds.seconds_per_epoch, axis=2)
    within = np.maximum(sum(limited.seconds_per_epoch), 1e-9)
    share = np.where(limited.limited_by == 0, 1.0, alone / within)
    least = np.where(limited.limited_by == 0, 0.0, np.exp(-limited.width_below))
    return UsualCode(*(np.maximum(share * np.exp(end), least) for end in (speeds.usual_low, speeds.usual_high)))
