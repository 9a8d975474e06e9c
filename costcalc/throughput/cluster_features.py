"""Clusters made ready to be asked about many recipes: everything that depends on the hardware alone, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from costcalc.hardware import Cluster
from costcalc.throughput.data_sheets import twin
from costcalc.throughput.reference_model import OVERHEAD_IMAGES, REFERENCE_BATCH, ReferenceModel
from costcalc.throughput.workloads import Transfer, Workload
from costcalc.units import Flags, Floats, Indices

Kind = TypeVar("Kind", bound=Hashable)

Shape = tuple[str, int, int]
Line = tuple[float, float]
NOWHERE = np.zeros(0, np.int64)
FEWEST_PER_NODE = 4  # no measured cluster has machines with fewer accelerators


class ClusterFeatures:
    """C clusters as columns; models are asked once per accelerator or shape of machine, not once per cluster.

    `total` counts accelerators [C]; `several` marks clusters of several machines, a slice being one; `at` gives the positions
    of each (accelerator, total accelerators, machines). Where `predictable` is false no speed is answered but a measured one,
    where `networked` is false none across machines. `resembles` marks accelerators like those that were measured.
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
        self.several = (self.nodes > 1) & ~names.each(lambda name: part(name).rented_in_slices, bool)
        big = np.array([cluster.accelerators >= FEWEST_PER_NODE for cluster in clusters], bool)
        self.networked = ~self.several | big & names.each(reference.is_networked, bool)
        self.predictable = names.each(reference.is_known_or_predicted, bool)
        self.resembles = names.each(reference.resembles_measured, bool)
        self.largest_batch = names.each(reference.largest_batch)
        self.scatter = names.each(reference.scatter)
        self.memory_gib = names.each(lambda name: part(name).memory_gib or np.inf)
        self._line = cache(partial(_line, reference))
        self.rates = ReferenceRates(clusters, reference, self._line)
        self._machines = _Groups([(cluster.accelerator, cluster.accelerators) for cluster in clusters])
        self._known: dict[Hashable, NDArray[Any]] = {}

    @cached_property
    def rates_by_twin(self) -> ReferenceRates:
        """The reference network's rates, parts whose data sheets differ in the size of their memory alone being one."""
        return ReferenceRates(self.clusters, self.reference, self._line, by_twin=True)

    def transferred(self, workload: Workload) -> Floats:
        """The part of ln(rate) relative to the reference network that changes with the hardware [C]."""
        key = (workload.model, workload.implementation, workload.precision)
        if key not in self._known:
            self._known[key] = self._machines.each(lambda machine: self.transfer.hardware(workload, *machine))
        return self._known[key]

    def with_any(self, accelerators: Iterable[str]) -> Flags:
        """The clusters of these accelerators [C]."""
        among = frozenset(accelerators)
        if ("accelerators", among) not in self._known:
            self._known["accelerators", among] = self._names.each(lambda name: name in among, bool)
        return self._known["accelerators", among]

    def with_chip(self, chips: Iterable[str]) -> Flags:
        """The clusters of accelerators that are these chips, whatever their memory [C]."""
        among = frozenset(chips)
        return self.with_any(name for name, chip in self.chip_of.items() if chip in among)

    def equal_to(self, systems: Iterable[tuple[str, int, int]]) -> Flags:
        """The clusters that are one of these (accelerator, total accelerators, machines) [C]."""
        mask = np.zeros(len(self.clusters), bool)
        for system in systems:
            mask[self.at.get(system, NOWHERE)] = True
        return mask


class ReferenceRates:
    """The reference network on each of C clusters, as a function of batch and software.

    With `by_twin`, parts whose data sheets differ in the size of their memory alone are one.
    """

    def __init__(
        self,
        clusters: Sequence[Cluster],
        reference: ReferenceModel,
        line: Callable[[Shape], Line],
        by_twin: bool = False,
    ) -> None:
        sheets = reference.data_sheets
        names = [twin(sheets.accelerators, c.accelerator) if by_twin else c.accelerator for c in clusters]
        sliced = {name for name in names if sheets.part(name).rented_in_slices}
        self._reference, self._names = reference, _Groups(names)
        lines = _Groups(
            [
                (name, cluster.accelerators, cluster.nodes if name in sliced else min(cluster.nodes, 2))
                for name, cluster in zip(names, clusters, strict=True)
            ]
        ).each(line)
        self._intercept, self._slope = lines.reshape(-1, 2).T
        self._added: dict[tuple[int, str], Floats] = {}

    def log_rate(self, batch: Floats, year: int, framework_family: str, steeper: float = 0.0) -> Floats:
        """ln(images/s of one accelerator) [C] at these images per accelerator and step [C]; NaN where nothing is known.

        `steeper` is what another network adds to its cost of small batches.
        """
        overhead = np.log1p(OVERHEAD_IMAGES / REFERENCE_BATCH) - np.log1p(OVERHEAD_IMAGES / batch)
        software = self._software(year, framework_family)
        return np.asarray(self._intercept + software + (self._slope + steeper) * overhead)

    def _software(self, year: int, framework_family: str) -> Floats:
        def software(name: str) -> float:
            return self._reference.software(name, year, framework_family) if self._reference.knows(name) else 0.0

        key = year, framework_family
        if key not in self._added:
            self._added[key] = self._names.each(software)
        return self._added[key]


def _line(reference: ReferenceModel, shape: Shape) -> Line:
    """Intercept and slope of the reference's ln(rate) on an accelerator, so many in a machine, so many machines."""
    return reference.hardware(*shape) if shape[1] and reference.knows(shape[0]) else (np.nan, np.nan)


class _Groups(Generic[Kind]):
    """Equal values of a list: each distinct one with its positions."""

    def __init__(self, values: Sequence[Kind]) -> None:
        number: dict[Kind, int] = {}
        self._group = np.array([number.setdefault(value, len(number)) for value in values], np.int64)
        self._distinct = tuple(number)

    @cached_property
    def members(self) -> Mapping[Kind, Indices]:
        """The positions of each value."""
        order = np.argsort(self._group, kind="stable")
        ends = np.cumsum(np.bincount(self._group, minlength=len(self._distinct))).tolist()
        return {value: order[start:end] for value, start, end in zip(self._distinct, [0, *ends], ends, strict=False)}

    def each(self, find: Callable[[Kind], object], dtype: type = float) -> NDArray[Any]:
        """What `find` makes of each value, found once for equal ones."""
        found: NDArray[Any] = np.array([find(value) for value in self._distinct], dtype)
        return np.asarray(found[self._group])
