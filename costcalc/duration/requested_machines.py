"""Which machines a question is about, and how many of each work together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np

from costcalc.catalogue.catalogue import Catalogue
from costcalc.duration.offered_clusters import Home
from costcalc.hardware import Cluster, Machine
from costcalc.machine_limits.limits import RentedMachines
from costcalc.units import Flags, Indices


def requested_machines(
    catalogue: Catalogue, homes: Collection[Home], accelerators: int | None, nodes: int | None
) -> RentedMachines:
    """Every instance type in the number asked for, by total accelerators or machines; unasked, in those that somebody would rent.

    `homes` are the machines that recipes were run on.
    """
    machines = [machine for *_, machine in catalogue.vocabulary.instances]
    if accelerators is None and nodes is None:
        pairs = {(home.instance, home.nodes) for home in homes}
        pairs |= {(i, count) for i, machine in enumerate(machines) for count in usual_counts(machine)}
    else:
        counts = (_count(machine, accelerators, nodes) for machine in machines)
        pairs = {(i, count) for i, count in enumerate(counts) if count}
    instance, count = np.array(sorted(pairs), np.int64).reshape(-1, 2).T
    return RentedMachines(catalogue.vocabulary.instances, instance, count)


def usual_counts(machine: Machine) -> Iterator[int]:
    """One, and where it is sold as a cluster with a known network the powers of two up to the most that anybody can rent."""
    yield 1
    count = 2
    while machine.network_gbits_per_second and count <= machine.most_together:
        yield count
        count *= 2


def _count(machine: Machine, accelerators: int | None, nodes: int | None) -> int | None:
    """How many of a machine hold so many accelerators, None where none do; `nodes` where accelerators are not asked for."""
    if accelerators is None:
        return nodes
    count, rest = divmod(accelerators, machine.accelerators) if machine.accelerators else (0, 1)
    return count if rest == 0 and nodes in (None, count) else None


def as_clusters(catalogue: Catalogue, machines: RentedMachines) -> tuple[tuple[Cluster, ...], Indices]:
    """The different clusters that these machines [N] are but for what is around their accelerators, and which each is [N]."""
    shapes = np.column_stack([catalogue.shape_of_instance[machines.instance], machines.nodes])
    distinct, number = np.unique(shapes, axis=0, return_inverse=True)
    asked = [(*catalogue.shapes[shape], nodes) for shape, nodes in distinct.tolist()]
    clusters = tuple(Cluster(accelerator, count, nodes) for accelerator, count, nodes in asked)
    return clusters, number.reshape(-1)


def are_joined(machines: RentedMachines) -> Flags:
    """Whether machines [N] work together over a network, a known one or one that they are sold with; one alone needs none."""
    joined = [
        machine.network_gbits_per_second is not None or machine.most_together > 1 for *_, machine in machines.types
    ]
    return np.asarray((machines.nodes == 1) | np.array(joined, bool)[machines.instance])


def sold_in_blocks_alone(machines: RentedMachines, homes: Collection[Home]) -> Mapping[int, Flags]:
    """By number of machines, whether so many of each instance type, by its code, are sold in capacity blocks alone."""
    most = np.array([machine.most_machines for *_, machine in machines.types], np.int64)
    sold = {nodes: most < nodes for nodes in set(machines.nodes.tolist())}
    for home in homes:
        sold[home.nodes][home.instance] = False
    return sold


def are_homes(machines: RentedMachines, homes: Collection[Home]) -> Flags:
    """Whether a recipe was run on these machines [N], as many of them."""
    pairs = zip(machines.instance.tolist(), machines.nodes.tolist(), strict=True)
    return np.array([pair in homes for pair in pairs], bool)
