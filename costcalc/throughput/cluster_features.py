"""Clusters made ready to be asked about many recipes: everything that depends on the hardware alone, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from costcalc.hardware import Cluster
from costcalc.throughput.data_sheets import twin
from costcalc.throughput.reference_model import (
    OVERHEAD_IMAGES,
    REFERENCE_BATCH,
    ReferenceModel,
    next_doubling,
    steepest,
)
from costcalc.throughput.workloads import Transfer, Workload
from costcalc.units import Flags, Floats, Indices

Kind = TypeVar("Kind", bound=Hashable)

NOWHERE = np.zeros(0, np.int64)
FEWEST_PER_NODE = 4  # no measured cluster has machines with fewer accelerators


class ClusterFeatures:
    """C clusters as columns; models are asked once per accelerator or shape of machine, not once per cluster.

    `total` counts accelerators [C]; `several` marks clusters of several machines, a slice being one; `at` gives the positions
    of each (accelerator, total accelerators, machines). Where `predictable` is false no speed is answered but a measured one,
    where `networked` is false none across machines. `resembles` marks accelerators like those that were measured; `slower` and
    `faster` are how far others may be from what their data sheets and other tasks say, `log_roof` is `ReferenceModel.roof`.
    `memory_gib` is that of one accelerator, infinite where unknown.
    """

    def __init__(self, clusters: Sequence[Cluster], reference: ReferenceModel, transfer: Transfer) -> None:
        self._names = names = _Groups([cluster.accelerator for cluster in clusters])
        part = reference.data_sheets.part
        self.clusters, self.reference, self.transfer = tuple(clusters), reference, transfer
        self.chip_of = {name: part(name).chip for name in names.members}
        self.of_accelerator = names.members
        self.at = _Groups([(c.accelerator, c.total_accelerators, c.nodes) for c in clusters]).members
        self.total = np.array([float(cluster.total_accelerators) for cluster in clusters])
        self.log_total = np.log(np.maximum(self.total, 1))
        self.nodes = np.array([cluster.nodes for cluster in clusters], np.int64)
        self.several = (self.nodes > 1) & ~names.of_each(lambda name: part(name).rented_in_slices, bool)
        big = np.array([cluster.accelerators >= FEWEST_PER_NODE for cluster in clusters], bool)
        self.networked = ~self.several | big & names.of_each(reference.is_networked, bool)
        self.predictable = names.of_each(reference.is_known_or_predicted, bool)
        self.resembles = names.of_each(reference.resembles_measured, bool)
        self.largest_batch = names.of_each(reference.largest_batch)
        self.scatter = names.of_each(reference.scatter)
        self.slower = names.of_each(lambda name: reference.prior(name).slower)
        self.faster = names.of_each(lambda name: reference.prior(name).faster)
        self.log_roof = names.of_each(reference.roof)
        self.memory_gib = names.of_each(lambda name: part(name).memory_gib or np.inf)
        self.log_peak = np.log(names.of_each(lambda name: part(name).dense_16bit_tflops or np.inf) * 1e12)
        self._bandwidth = names.of_each(lambda name: part(name).memory_bandwidth_gb_per_s or np.nan)
        self.rates = ReferenceRates(clusters, reference)
        self._known: dict[Hashable, NDArray[Any]] = {}
        self._transferred: dict[Hashable, tuple[Floats, Floats]] = {}
        self._around: dict[int, tuple[Indices, Indices]] = {}
        self._of_chip = _Groups([self.chip_of[cluster.accelerator] for cluster in clusters]).members

    @cached_property
    def reference_of_chips(self) -> ReferenceModel:
        """The reference model as other networks are compared with it."""
        return self.reference.of_chips()

    @cached_property
    def rates_by_twin(self) -> ReferenceRates:
        """The reference network's rates, parts whose data sheets differ in the size of their memory alone being one."""
        return ReferenceRates(self.clusters, self.reference_of_chips, by_twin=True)

    def transferred(self, workload: Workload) -> tuple[Floats, Floats]:
        """The part of ln(rate) relative to the reference network that changes with the hardware [C], and the most that a doubling
        of the accelerators in a machine takes off it [C]."""
        key = (workload.model, workload.implementation, workload.precision, workload.compilation, workload.plain)
        if key not in self._transferred:
            self._transferred[key] = self._find_transferred(workload)
        return self._transferred[key]

    def _find_transferred(self, workload: Workload) -> tuple[Floats, Floats]:
        accelerator = self._names.numbers
        per_node = np.array([max(cluster.accelerators, 1) for cluster in self.clusters], np.int64)
        most = 2 * int(per_node.max(initial=1))
        known = self.transfer.by_doublings(workload, tuple(self.of_accelerator), most)
        doubled = np.log2(per_node)
        whole = doubled.astype(np.int64)
        before, after = known[accelerator, whole], known[accelerator, whole + 1]
        return before + (doubled - whole) * (after - before), steepest(known)[accelerator, next_doubling(per_node)]

    def around(self, cluster: int) -> tuple[Indices, Indices]:
        """The clusters whose accelerators are no worse off than those of this one, and those whose are no better off.

        No worse off is the same chip with no less and no slower memory, no more others beside it in its machine, and no more
        machines to share with; a slice is one machine.
        """
        if cluster not in self._around:
            at = self._of_chip[self.chip_of[self.clusters[cluster].accelerator]]
            means, here = self._means[at], self._means[cluster]
            self._around[cluster] = at[~(means < here).any(axis=1)], at[~(means > here).any(axis=1)]
        return self._around[cluster]

    @cached_property
    def doubled(self) -> tuple[Indices, Indices]:
        """Every cluster and one with twice as many of its accelerators in as many machines, or in twice as many."""
        pairs = [
            (c, twice)
            for (name, count, nodes), at in self.at.items()
            for machines in (nodes, 2 * nodes)
            for twice in self.at.get((name, 2 * count, machines), NOWHERE).tolist()
            for c in at.tolist()
            if count
        ]
        one, two = np.array(pairs, np.int64).reshape(-1, 2).T
        return one, two

    @cached_property
    def _means(self) -> Floats:
        """What an accelerator of each cluster has, the more the better [C, 4]: size and speed of its memory, and how few others
        beside it in its machine, and how few machines, share its gradients."""
        nodes = np.where(self.several, self.nodes, 1)
        return np.column_stack([self.memory_gib, self._bandwidth, -self.total / nodes, -nodes])

    def with_any(self, accelerators: Iterable[str]) -> Flags:
        """The clusters of these accelerators [C]."""
        among = frozenset(accelerators)
        if ("accelerators", among) not in self._known:
            self._known["accelerators", among] = self._names.of_each(lambda name: name in among, bool)
        return self._known["accelerators", among]

    def with_chip(self, chips: Iterable[str]) -> Flags:
        """The clusters of accelerators that are these chips, whatever their memory [C]."""
        among = frozenset(chips)
        return self.with_any(name for name, chip in self.chip_of.items() if chip in among)

    def strangeness(self, accelerator: str) -> Indices:
        """How unlike the accelerators of each cluster are to this one [C]: 0 for the same, 1 for the same chip with another
        memory, 2 for one of the same vendor, 3 for others."""
        if ("strangeness", accelerator) not in self._known:
            part = self.reference.data_sheets.part
            one = part(accelerator)
            self._known["strangeness", accelerator] = self._names.of_each(
                lambda name: (name != accelerator) + (part(name).chip != one.chip) + (part(name).vendor != one.vendor),
                int,
            )
        return self._known["strangeness", accelerator]

    def equal_to(self, systems: Iterable[tuple[str, int, int]]) -> Flags:
        """The clusters that are one of these (accelerator, total accelerators, machines) [C]."""
        mask = np.zeros(len(self.clusters), bool)
        for system in systems:
            mask[self.at.get(system, NOWHERE)] = True
        return mask


def halved_and_doubled(cluster: Cluster) -> Iterator[Cluster]:
    """The clusters with half and with twice as many accelerators, in as many machines, and in half and twice as many."""
    for name in ("accelerators", "nodes") if cluster.accelerators else ():
        count = getattr(cluster, name)
        yield replace(cluster, **{name: 2 * count})
        if count % 2 == 0:
            yield replace(cluster, **{name: count // 2})


class ReferenceRates:
    """The reference network on each of C clusters, as a function of batch and software.

    With `by_twin`, parts whose data sheets differ in the size of their memory alone are one. `steepest` is the most that twice as
    many take off ln(rate), the batch of each being the same [C].
    """

    def __init__(self, clusters: Sequence[Cluster], reference: ReferenceModel, by_twin: bool = False) -> None:
        sheets = reference.data_sheets
        names = [twin(sheets.accelerators, c.accelerator) if by_twin else c.accelerator for c in clusters]
        shapes = np.array([(c.accelerators, c.nodes) for c in clusters], np.int64).reshape(-1, 2)
        self._lines = _Lines(reference, names, shapes)
        lesser = [(c, other) for c, name in enumerate(names) for other in sheets.no_better(name) if other != name]
        self._has_lesser = np.array([c for c, _ in lesser], np.int64)
        self._lesser = _Lines(reference, [other for _, other in lesser], shapes[self._has_lesser])
        self.steepest = self._lines.steepest.copy()
        np.fmax.at(self.steepest, self._has_lesser, self._lesser.steepest)

    def log_rate(self, batch: Floats, year: int, framework_family: str, steeper: float = 0.0) -> Floats:
        """ln(images/s of one accelerator) [C] at these images per accelerator and step [C]; NaN where nothing is known.

        `steeper` is what another network adds to its cost of small batches. No chip is slower than it is with less memory.
        """
        found = self._lines.log_rate(batch, year, framework_family, steeper)
        np.fmax.at(
            found, self._has_lesser, self._lesser.log_rate(batch[self._has_lesser], year, framework_family, steeper)
        )
        return found

    def slope(self, steeper: float) -> Floats:
        """What small batches cost [C]: the factor of `step_overhead`, 0 where nothing is known."""
        return np.fmax(self._lines.slope + steeper, 0)


class _Lines:
    """The fitted lines of accelerators by name, `shapes` [C, 2] being how many are in a machine and how many machines."""

    def __init__(self, reference: ReferenceModel, names: Sequence[str], shapes: Indices) -> None:
        self.names = _Groups(names)
        self._reference = reference
        self._intercept, self.slope, self.steepest = np.full((3, len(names)), np.nan)
        for name, at in self.names.members.items():
            if reference.knows(name):
                self._intercept[at], self.slope[at], self.steepest[at] = reference.hardware(name, *shapes[at].T)
        self._intercept[shapes[:, 0] == 0] = np.nan
        self._roof = self.names.of_each(reference.roof)
        self._added: dict[tuple[int, str], Floats] = {}

    def log_rate(self, batch: Floats, year: int, framework_family: str, steeper: float) -> Floats:
        overhead = np.log1p(OVERHEAD_IMAGES / REFERENCE_BATCH) - np.log1p(OVERHEAD_IMAGES / batch)
        software = self._software(year, framework_family)
        each = self._intercept + software + np.maximum(self.slope + steeper, 0) * overhead
        return np.asarray(np.minimum(each, self._roof))

    def _software(self, year: int, framework_family: str) -> Floats:
        def software(name: str) -> float:
            return self._reference.software(name, year, framework_family) if self._reference.knows(name) else 0.0

        key = year, framework_family
        if key not in self._added:
            self._added[key] = self.names.of_each(software)
        return self._added[key]


class _Groups(Generic[Kind]):
    """Equal values of a list: each distinct one with its positions."""

    def __init__(self, values: Sequence[Kind]) -> None:
        number: dict[Kind, int] = {}
        self.numbers = np.array([number.setdefault(value, len(number)) for value in values], np.int64)
        self._distinct = tuple(number)

    @cached_property
    def members(self) -> Mapping[Kind, Indices]:
        """The positions of each value."""
        order = np.argsort(self.numbers, kind="stable")
        ends = np.cumsum(np.bincount(self.numbers, minlength=len(self._distinct))).tolist()
        return {value: order[start:end] for value, start, end in zip(self._distinct, [0, *ends], ends, strict=False)}

    def of_each(self, find: Callable[[Kind], object], dtype: type = float) -> NDArray[Any]:
        """What `find` makes of each value, found once for equal ones."""
        found: NDArray[Any] = np.array([find(value) for value in self._distinct], dtype)
        return np.asarray(found[self.numbers])
