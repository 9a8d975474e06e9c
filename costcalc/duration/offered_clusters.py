"""The columns of the training matrix: the machines that a question is about, how many of each work together, and which of them
are one because every recipe is as fast on them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from costcalc.catalogue.catalogue import Catalogue
from costcalc.hardware import Cluster, Machine
from costcalc.machine_limits.limits import Limit, RentedMachines
from costcalc.recipes import Recipe
from costcalc.units import Flags, Indices

ANY_INSTANCE = NOWHERE = -1
MOST_BY_THE_HOUR = 16  # machines: fast.ai's p3.16xlarge, DAWNBench 2018


class Home(NamedTuple):
    """Machines on which a recipe was run: the code of their instance type, and how many."""

    instance: int
    nodes: int


class MachinesAsked(NamedTuple):
    """The machines that a question looks at: with so many accelerators in all, so many of them together, and of these instance
    codes alone, and no more than these; None for all."""

    accelerators: int | None = None
    nodes: int | None = None
    instances: tuple[int, ...] | None = None
    max_accelerators: int | None = None
    max_nodes: int | None = None

    def allow(self, machine: Machine, count: int) -> bool:
        """Whether so many of a machine are within the most that is asked for."""
        total = count * machine.accelerators
        return count <= (self.max_nodes or count) and total <= (self.max_accelerators or total)


ALL_MACHINES = MachinesAsked()


class OfferedCluster(Struct, frozen=True):
    """A number of machines (`nodes`) of one `shape`, an index of `Catalogue.shapes`, with `accelerators` in each.

    Instance types of a shape share a cluster if their processors, disks and network limit them equally; one on which a recipe
    ran has its own. `instance` is the code of one such type, ANY_INSTANCE for all that nothing limits.
    """

    shape: int
    accelerators: int
    nodes: int
    instance: int = ANY_INSTANCE


class OfferedClusters(Struct, frozen=True, eq=False):
    """C clusters. `standing_for` [C] has the position of one rented machine of each. `of_instances` maps a number of machines to
    the cluster of every instance type, by code; NOWHERE where nothing runs."""

    clusters: tuple[OfferedCluster, ...]
    standing_for: Indices
    of_instances: Mapping[int, Indices]

    def place(self, home: Home | None) -> int:
        """The cluster formed by these machines."""
        if home is None or home.nodes not in self.of_instances:
            return NOWHERE
        return int(self.of_instances[home.nodes][home.instance])


def own_cluster(recipe: Recipe, catalogue: Catalogue) -> Home | None:
    """The recipe's own system, if that can be rented under its name."""
    instance = catalogue.instance_code.get(recipe.home.instance)
    return None if instance is None or recipe.is_interpolated else Home(instance, recipe.home.nodes)


def requested_machines(
    catalogue: Catalogue, homes: Collection[Home], asked: MachinesAsked = ALL_MACHINES
) -> RentedMachines:
    """Every instance type in the number asked for, by total accelerators or machines; unasked, in those that somebody would rent.

    `homes` are the machines that recipes were run on.
    """
    types, (accelerators, nodes, instances, *_) = catalogue.vocabulary.instances, asked
    machines = {i: types[i][-1] for i in (range(len(types)) if instances is None else instances)}
    if accelerators is None and nodes is None:
        pairs = {(home.instance, home.nodes) for home in homes}
        pairs |= {(i, count) for i, machine in machines.items() for count in usual_counts(machine)}
    else:
        pairs = set()
        for i, machine in machines.items():
            many, rest = nodes, 0
            if accelerators is not None:
                many, rest = divmod(accelerators, machine.accelerators) if machine.accelerators else (0, 1)
            if many and not rest and nodes in (None, many):
                pairs.add((i, many))
    pairs = {(i, count) for i, count in pairs if asked.allow(types[i][-1], count)}
    instance, count = np.array(sorted(pairs), np.int64).reshape(-1, 2).T
    return RentedMachines(catalogue.vocabulary.instances, instance, count)


def usual_counts(machine: Machine) -> Iterator[int]:
    """One, and where it is sold as a cluster with a known network the powers of two up to the most that anybody can rent."""
    yield 1
    count = 2
    while machine.network_gbits_per_second and count <= machine.most_together:
        yield count
        count *= 2


def as_clusters(catalogue: Catalogue, machines: RentedMachines) -> tuple[tuple[Cluster, ...], Indices]:
    """The different clusters that these machines [N] are but for what is around their accelerators, and which each is [N]."""
    shapes = np.column_stack([catalogue.shape_of_instance[machines.instance], machines.nodes])
    distinct, number = np.unique(shapes, axis=0, return_inverse=True)
    asked = [(*catalogue.shapes[shape], nodes) for shape, nodes in distinct.tolist()]
    clusters = tuple(Cluster(accelerator, count, nodes, vcpus) for accelerator, count, vcpus, nodes in asked)
    return clusters, number.reshape(-1)


def are_joined(machines: RentedMachines) -> Flags:
    """Whether machines [N] work together over a network, a known one or one that they are sold with; one alone needs none."""
    joined = [
        machine.network_gbits_per_second is not None or machine.most_together > 1 for *_, machine in machines.types
    ]
    return np.asarray((machines.nodes == 1) | np.array(joined, bool)[machines.instance])


class Published(NamedTuple):
    """The most machines, and the most accelerators, that worked together on a published run."""

    machines: int = 0
    accelerators: int = 0

    def most(self, machine: Machine) -> int:
        """How many machines stay within this size."""
        return min(self.machines, self.accelerators // machine.accelerators if machine.accelerators else self.machines)


def beyond_any_cluster(machines: RentedMachines, published: Mapping[str, Published]) -> Flags:
    """Whether machines [N] are more than anybody rents out together or published a run on, by accelerator."""
    most = [
        max(machine.most_together, MOST_BY_THE_HOUR, published.get(machine.accelerator, Published()).most(machine))
        for *_, machine in machines.types
    ]
    return np.asarray(machines.nodes > np.array(most, np.int64)[machines.instance])


def sold_in_blocks_alone(machines: RentedMachines, homes: Collection[Home]) -> Mapping[int, Flags]:
    """By number of machines, whether so many of each instance type, by its code, are sold in capacity blocks alone."""
    most = np.array([machine.most_machines for *_, machine in machines.types], np.int64)
    sold = {nodes: most < nodes for nodes in set(machines.nodes.tolist())}
    for home in homes:
        if home.nodes in sold:
            sold[home.nodes][home.instance] = False
    return sold


def are_homes(machines: RentedMachines, homes: Collection[Home]) -> Flags:
    """Whether a recipe was run on these machines [N], as many of them."""
    pairs = zip(machines.instance.tolist(), machines.nodes.tolist(), strict=True)
    return np.array([pair in homes for pair in pairs], bool)


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
