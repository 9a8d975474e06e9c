"""Making a plan: which recipes of a model run on which clusters of the catalogue's machines, and how fast."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

import numpy as np

from costcalc.catalogue.catalogue import Catalogue
from costcalc.duration.training_matrix import ANY_INSTANCE, NOWHERE, Plan, Shape, Site
from costcalc.evidence import Evidence
from costcalc.hardware import Cluster
from costcalc.throughput import REFUSALS, SpeedModel, SpeedTable, signature, undated
from costcalc.throughput.data_sheets import part
from costcalc.training import Recipe
from costcalc.units import Flags, Floats


@lru_cache(maxsize=4)
def speed_model(evidence: Evidence) -> SpeedModel:
    """The fitted speeds of this evidence."""
    return SpeedModel(evidence.throughputs, evidence.fitted)


def usual_nodes(evidence: Evidence, model: str) -> tuple[int, ...]:
    """One machine, and the machine counts of the model's recipes' own systems."""
    systems = (recipe.system for recipe in evidence.recipes_of(model))
    return tuple(sorted({1} | {system.nodes for system in systems if system}))


def of_one_year(recipes: Iterable[Recipe], patterns: tuple[str, ...]) -> bool:
    """Whether the recipes asked for by name are all of one year, so that their software is known to be that year's."""
    return bool(patterns) and len({recipe.year for recipe in recipes if recipe.is_named(patterns)}) == 1


def plan(
    evidence: Evidence, catalogue: Catalogue, model: str, clusters: tuple[Cluster, ...], dated: bool = True
) -> Plan:
    """The plan of a model on these clusters; those on which nothing is known to run become no site.

    Unless `dated`, MLPerf's recipes run with the usual software of each accelerator instead of that of their own year.
    """
    recipes = evidence.recipes_of(model)
    run_as = recipes if dated else tuple(map(undated, recipes))
    kinds = {signature(recipe): recipe for recipe in reversed(run_as)}
    number = {kind: k for k, kind in enumerate(kinds)}
    speeds = speed_model(evidence).speeds(tuple(kinds.values()), clusters)
    foreign = _foreign(evidence, tuple(kinds.values()), clusters)
    speeds.refusal[foreign & (speeds.refusal == 0)] = REFUSALS.index("no_throughput")
    speeds.refusal[(speeds.refusal == 0) & _apart(evidence, clusters)] = REFUSALS.index("no_network")
    homes = [_home(recipe, catalogue) for recipe in recipes]
    placed = _placed(catalogue, clusters, speeds, homes)
    position = {site: s for s, site in enumerate(placed)}
    here = speeds.of(np.array(list(placed.values()), np.int64))
    return Plan(
        recipes=recipes,
        kind=np.array([number[signature(recipe)] for recipe in run_as], np.int64),
        home=np.array([position.get(site, NOWHERE) if site else NOWHERE for site in homes], np.int64),
        sites=tuple(placed),
        speeds=replace(here, seconds_per_epoch=here.seconds_per_epoch[:, :0]),
        seconds=_seconds(here),
        refused=_refused(clusters, speeds),
        fitted=evidence.fitted,
    )


def _foreign(evidence: Evidence, recipes: tuple[Recipe, ...], clusters: tuple[Cluster, ...]) -> Flags:
    """Which kinds [K] would run on chips [C] of a vendor that their code was never seen on: PyTorch's FFCV on a TPU, say."""
    vendors = np.array([evidence.vendor(cluster.accelerator) for cluster in clusters], str)
    foreign = np.zeros((len(recipes), len(clusters)), bool)
    for k, recipe in enumerate(recipes):
        foreign[k] = ~np.isin(vendors, list(evidence.vendors_of(recipe)))
    return foreign


def _apart(evidence: Evidence, clusters: tuple[Cluster, ...]) -> Flags:
    """Several slices of a chip that is rented by the slice [C]: only the chips within a slice have its network."""
    return np.array(
        [c.nodes > 1 and part(evidence.accelerators, c.accelerator).rented_in_slices for c in clusters], bool
    )


def _refused(clusters: tuple[Cluster, ...], speeds: SpeedTable) -> dict[Shape, str]:
    worst = speeds.refusal.max(axis=0, initial=REFUSALS.index("no_throughput"))
    return {
        (cluster.accelerator, cluster.accelerators): REFUSALS[code]
        for cluster, code in zip(clusters, worst, strict=True)
    }


def _placed(
    catalogue: Catalogue, clusters: tuple[Cluster, ...], speeds: SpeedTable, homes: list[Site | None]
) -> dict[Site, int]:
    """The cluster of every site: where some kind of recipe has a speed, and where a recipe's own log was written."""
    shape = {shape: s for s, shape in enumerate(catalogue.shapes)}
    every = {
        Site(shape[cluster.accelerator, cluster.accelerators], cluster.accelerators, cluster.nodes): c
        for c, cluster in enumerate(clusters)
    }
    answered = (speeds.refusal == 0).any(axis=0)
    placed = {site: c for site, c in every.items() if answered[c]}
    for home in homes:
        if home and (c := every.get(replace(home, instance=ANY_INSTANCE))) is not None:
            placed[home] = c
    return placed


def _seconds(speeds: SpeedTable) -> tuple[Floats, ...]:
    by_phase = np.moveaxis(np.nan_to_num(speeds.seconds_per_epoch), 2, 0)
    return tuple(np.where(speeds.refusal != 0, np.inf, seconds) for seconds in by_phase)


def _home(recipe: Recipe, catalogue: Catalogue) -> Site | None:
    """The site of the recipe's own system, if that can be rented under its name."""
    system = recipe.system
    if recipe.is_interpolated or system is None or system.provider is None or system.instance_type is None:
        return None
    instance = catalogue.instance_code.get((system.provider, system.instance_type))
    if instance is None:
        return None
    shape = int(catalogue.shape_of_instance[instance])
    return Site(shape, catalogue.shapes[shape][1], system.nodes, instance)
