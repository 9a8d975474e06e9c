"""The columns of the training matrix: machines in some number, those put together on which every recipe is as fast."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from costcalc.catalogue.catalogue import Catalogue
from costcalc.machine_limits.limits import Limit, RentedMachines
from costcalc.training import Recipe
from costcalc.units import Flags, Indices

ANY_INSTANCE = NOWHERE = -1


class Home(NamedTuple):
    """Machines on which a recipe was run: the code of their instance type, and how many."""

    instance: int
    nodes: int


@dataclass(frozen=True, slots=True)
class OfferedCluster:
    """Machines of one shape (an index of `Catalogue.shapes`) in some number, with `accelerators` in each.

    `instance` is the code of an instance type that stands for itself, because a recipe was run on it, or for those of the shape
    that are limited like it; ANY_INSTANCE for all others of the shape.
    """

    shape: int
    accelerators: int
    nodes: int
    instance: int = ANY_INSTANCE


@dataclass(frozen=True, eq=False)
class OfferedClusters:
    """C clusters, each with one of the rented machines that it stands for, by its position [C] among them. `of_instances` has by
    number of machines the cluster of each instance type, by its code; NOWHERE where nothing runs."""

    clusters: tuple[OfferedCluster, ...]
    standing_for: Indices
    of_instances: Mapping[int, Indices]

    def place(self, home: Home | None) -> int:
        """The cluster that these machines are."""
        if home is None or home.nodes not in self.of_instances:
            return NOWHERE
        return int(self.of_instances[home.nodes][home.instance])


def own_cluster(recipe: Recipe, catalogue: Catalogue) -> Home | None:
    """The recipe's own system, if that can be rented under its name."""
    system = recipe.system
    if recipe.is_interpolated or system is None or system.provider is None or system.instance_type is None:
        return None
    instance = catalogue.instance_code.get((system.provider, system.instance_type))
    return None if instance is None else Home(instance, system.nodes)


def offered_clusters(
    catalogue: Catalogue,
    machines: RentedMachines,
    homes: Collection[Home],
    limits: Sequence[Limit],
    touched: Flags,
) -> OfferedClusters:
    """The rented machines [N] put together: those that no limit touches are one with all of their shape, others with those of
    equal limits; machines on which a recipe was run stand for themselves."""
    position: dict[tuple[object, ...], int] = {}
    places = {nodes: np.full(len(machines.types), NOWHERE) for nodes in set(machines.nodes.tolist())}
    clusters: list[OfferedCluster] = []
    standing_for: list[int] = []
    for n, home in enumerate(map(Home, machines.instance.tolist(), machines.nodes.tolist())):
        apart: tuple[object, ...] = (home,) if home in homes else ()
        if touched[n] and not apart:
            apart = tuple(limit.seconds_per_epoch[:, n].tobytes() for limit in limits)
        shape = int(catalogue.shape_of_instance[home.instance])
        key = (shape, home.nodes, *apart)
        if key not in position:
            position[key] = len(clusters)
            standing_for.append(n)
            accelerators = catalogue.shapes[shape][1]
            clusters.append(OfferedCluster(shape, accelerators, home.nodes, home.instance if apart else ANY_INSTANCE))
        places[home.nodes][home.instance] = position[key]
    return OfferedClusters(tuple(clusters), np.array(standing_for, np.int64), places)
