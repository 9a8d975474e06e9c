"""Makes the training matrix of a question: which machines are its columns, and how fast each recipe is on them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec.structs import replace

from costcalc.catalogue.catalogue import Catalogue
from costcalc.convergence.eligibility import ModelRecipes
from costcalc.duration.offered_clusters import (
    ALL_MACHINES,
    NOWHERE,
    Home,
    MachinesAsked,
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
from costcalc.duration.running import Runs, Usual
from costcalc.duration.training_matrix import TrainingMatrix, UsualCode
from costcalc.duration.ways import USUAL_WAY, OwnSpeeds, Way, speeds_of
from costcalc.hardware import Cluster
from costcalc.machine_limits.known_limits import known_limits
from costcalc.machine_limits.limits import LimitedSpeeds, RentedMachines
from costcalc.machine_limits.network import own_share, share_without_waiting
from costcalc.programs import Training
from costcalc.recipes import Recipe
from costcalc.throughput import REFUSALS, SpeedTable, signature, undated
from costcalc.throughput.fitted_parameters import TRANSFERRED
from costcalc.throughput.reference_model import is_reference
from costcalc.throughput.speed_model import PROCESSOR
from costcalc.units import Flags, Floats, Indices

if TYPE_CHECKING:
    from costcalc.evidence import Evidence


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
    own_speeds = OwnSpeeds.of(evidence, of.model, way)
    own_clusters = _own_clusters(evidence, catalogue, recipes, own_speeds, way)
    homes = frozenset(filter(None, own_clusters))
    machines = requested_machines(catalogue, homes, asked)
    clusters, cluster = as_clusters(catalogue, machines)
    table = speeds_of(evidence, distinct, of, clusters, own_speeds, way.running.precision)
    requested = Requested(machines, clusters, cluster, table, _published_clusters(evidence))
    running = requested.with_a_speed(homes)
    limits = known_limits(evidence.limit_tables, evidence.gradients, distinct, way.pipeline, running.machines)
    offered = offered_clusters(catalogue, running.machines, homes, limits.all(), limits.matter(running.fastest()))
    speeds = table.of(running.cluster[offered.standing_for])
    alone = _without_waiting(evidence, distinct, speeds)
    limited = limits.of(offered.standing_for).limited(alone, speeds.width_80, evidence.fitted.overlap)
    limited = limited.no_faster(speeds.width_faster)
    vendors = [evidence.vendor(one.accelerator) for one in speeds.clusters]
    in_any_number = asked.accelerators is asked.nodes is None
    return TrainingMatrix(
        recipes=of,
        clusters=offered.clusters,
        clusters_of_instances=offered.of_instances,
        in_blocks_alone=sold_in_blocks_alone(machines, homes) if in_any_number else {},
        speeds=replace(speeds, seconds_per_epoch=speeds.seconds_per_epoch[:, :0].copy()),
        speed_row=speed_row,
        limited=limited,
        own_cluster=np.array([offered.place(home) for home in own_clusters], np.int64),
        feeds=limits.feeds,
        limit_tables=evidence.limit_tables,
        refusals=requested.refusals(),
        fitted=evidence.fitted,
        usual=_usual_code(speeds, limited),
        runs=Runs.of(evidence.programs, recipes, speeds.clusters, evidence.accelerators),
        most_run=Usual.of(evidence.usual_scripts, recipes, vendors),
        is_past=evidence.is_past,
    )


def _own_clusters(
    evidence: Evidence, catalogue: Catalogue, recipes: Sequence[Recipe], own: OwnSpeeds, way: Way
) -> list[Home | None]:
    """The machines of each recipe's own log [R]; None where they cannot be rented, or where it runs otherwise than logged."""
    precision = way.running.precision
    return [
        None
        if recipe.is_run_otherwise
        or own.replace(recipe)
        or not evidence.computes_in(precision, recipe.home.accelerator)
        else own_cluster(recipe, catalogue)
        for recipe in recipes
    ]


def _equally_fast(recipes: Sequence[Recipe], wanted: Flags) -> tuple[tuple[Recipe, ...], Indices]:
    """The first of each of the wanted recipes [R] that are equally fast everywhere [K], and which of these each one is [R]."""
    signatures = [signature(recipe) for recipe in recipes]
    first = {signatures[r]: recipes[r] for r in np.flatnonzero(wanted)[::-1].tolist()}
    row = {key: number for number, key in enumerate(first)}
    places = [row[key] if is_wanted else NOWHERE for key, is_wanted in zip(signatures, wanted.tolist(), strict=True)]
    return tuple(first.values()), np.array(places, np.int64)


def _without_waiting(evidence: Evidence, recipes: Sequence[Recipe], speeds: SpeedTable) -> tuple[Floats, ...]:
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
            left[k, c] = phase[k, c] * share_without_waiting(recipes[k], speeds.clusters[c], rate, gradients, law)
    return without


def _usual_code(speeds: SpeedTable, limited: LimitedSpeeds) -> UsualCode:
    """No code passes the limits of the machine around the accelerators."""
    alone = np.nansum(speeds.seconds_per_epoch, axis=2)
    within = np.maximum(sum(limited.seconds_per_epoch), 1e-9)
    share = np.where(limited.limited_by == 0, 1.0, alone / within)
    least = np.where(limited.limited_by == 0, 0.0, np.exp(-limited.width_below))
    return UsualCode(*(np.maximum(share * np.exp(end), least) for end in (speeds.usual_low, speeds.usual_high)))
