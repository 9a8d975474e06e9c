"""A list of clusters made ready to be asked about many recipes: what depends on the hardware alone, as arrays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from costcalc.hardware import Cluster
from costcalc.throughput.data_sheets import twin
from costcalc.throughput.reference_model import OVERHEAD_IMAGES, REFERENCE_BATCH, SLICED_VENDORS, Core, tool
from costcalc.throughput.transfer import Relative
from costcalc.throughput.workloads import Work
from costcalc.units import Flags, Floats, Indices

NOWHERE = np.zeros(0, np.int64)
FEWEST_PER_NODE = 4  # no measured cluster has machines with fewer accelerators
MODELLED_VENDORS = frozenset({"NVIDIA", "Intel", "Google"})  # those with several measured accelerators to learn from


@dataclass(frozen=True, eq=False)
class Field:
    """Clusters as columns; `core` and `relative` are asked once per distinct shape of machine, not once per cluster."""

    clusters: tuple[Cluster, ...]
    core: Core
    relative: Relative
    total: Floats
    log_total: Floats
    several: Flags
    nodes: Indices
    of_accelerator: Mapping[str, Indices]
    at: Mapping[tuple[str, int, int], list[int]]
    known: Flags
    networked: Flags
    familiar: Flags
    memory: Floats
    memory_of: Indices
    largest_batch: Floats
    scatter: Floats
    shapes: tuple[tuple[str, int, int], ...]
    shape_of: Indices
    intercept: Floats
    slope: Floats
    _added: dict[Hashable, Floats] = field(default_factory=dict)
    _hardware: dict[Hashable, Floats] = field(default_factory=dict)

    @cached_property
    def twins(self) -> Field:
        """The same clusters, chips that differ in their memory alone being one."""
        renamed = {name: twin(name) for name in self.of_accelerator if twin(name) != name}
        alike = [
            replace(c, accelerator=renamed[c.accelerator]) if c.accelerator in renamed else c for c in self.clusters
        ]
        return prepare(alike, self.core, self.relative)

    def log_rate(self, batch: Floats, year: int, framework: str, steeper: float = 0.0) -> Floats:
        """ln(images/s per accelerator) of the reference network on each cluster [C]; NaN where nothing is known.

        `steeper` is what another network adds to its cost of small batches.
        """
        overhead = np.log1p(OVERHEAD_IMAGES / REFERENCE_BATCH) - np.log1p(OVERHEAD_IMAGES / batch)
        return np.asarray(self.intercept + self._software(year, tool(framework)) + (self.slope + steeper) * overhead)

    def _software(self, year: int, framework: str) -> Floats:
        if (year, framework) not in self._added:
            added = np.zeros(len(self.clusters))
            for name, where in self.of_accelerator.items():
                if self.core.knows(name):
                    added[where] = self.core.software(name, year, framework)
            self._added[year, framework] = added
        return self._added[year, framework]

    def hardware(self, work: Work) -> Floats:
        """The part of ln(rate) relative to the reference network that changes with the hardware [C]."""
        key = (work.model, work.code, work.precision)
        if key not in self._hardware:
            kinds = {alone: self.relative.hardware(work, *alone) for alone in {shape[:2] for shape in self.shapes}}
            found = np.array([kinds[shape[:2]] for shape in self.shapes], np.float64)
            self._hardware[key] = found[self.shape_of]
        return self._hardware[key]

    def with_any(self, accelerators: Iterable[str]) -> Flags:
        """The clusters of these accelerators."""
        mask = np.zeros(len(self.clusters), bool)
        for name in accelerators:
            mask[self.of_accelerator.get(name, NOWHERE)] = True
        return mask

    def equal_to(self, systems: Iterable[tuple[str, int, int]]) -> Flags:
        """The clusters that are one of these (accelerator, total accelerators, machines)."""
        mask = np.zeros(len(self.clusters), bool)
        for system in systems:
            mask[self.at.get(system, [])] = True
        return mask


def prepare(clusters: Sequence[Cluster], core: Core, relative: Relative) -> Field:
    """The clusters with everything about their hardware that speeds need."""
    table = core.chips.table
    single = [core.chips.vendor(cluster.accelerator) in SLICED_VENDORS for cluster in clusters]
    shapes: dict[tuple[str, int, int], int] = {}
    shape_of = [
        shapes.setdefault((c.accelerator, c.accelerators, c.nodes if alone else min(c.nodes, 2)), len(shapes))
        for c, alone in zip(clusters, single, strict=True)
    ]
    places = np.array(
        [core.place(*shape) if shape[1] and core.knows(shape[0]) else (np.nan, np.nan) for shape in shapes]
    ).reshape(-1, 2)[np.array(shape_of, np.int64)]
    names = [cluster.accelerator for cluster in clusters]
    vendors_known = [name in core.years or core.chips.vendor(name) in MODELLED_VENDORS for name in names]
    several = np.array([c.nodes > 1 for c in clusters], bool) & ~np.array(single, bool)
    big = np.array([c.accelerators >= FEWEST_PER_NODE for c in clusters], bool)
    sold = [name in core.networked or core.chips.networked(name) for name in names]
    memory = [table[name].memory_gib if name in table else None for name in names]
    sizes, size_of = np.unique([np.inf if gib is None else gib for gib in memory], return_inverse=True)
    total = np.array([float(c.total_accelerators) for c in clusters])
    return Field(
        clusters=tuple(clusters),
        core=core,
        relative=relative,
        total=total,
        log_total=np.log(np.maximum(total, 1)),
        several=several,
        nodes=np.array([cluster.nodes for cluster in clusters], np.int64),
        of_accelerator=_grouped(names),
        at=_systems(clusters),
        known=_where(names, core.knows) & np.array(vendors_known, bool),
        networked=~several | big & np.array(sold, bool),
        familiar=_where(names, core.resembles_measured),
        memory=sizes,
        memory_of=size_of,
        largest_batch=np.array([core.largest_batch(name) for name in names]),
        scatter=np.array([core.scatter(name) for name in names]),
        shapes=tuple(shapes),
        shape_of=np.array(shape_of, np.int64),
        intercept=places[:, 0],
        slope=places[:, 1],
    )


def _where(names: Sequence[str], test: Callable[[str], bool]) -> Flags:
    passes = {name: test(name) for name in set(names)}
    return np.array([passes[name] for name in names], bool)


def _grouped(names: Sequence[str]) -> dict[str, Indices]:
    groups: dict[str, list[int]] = defaultdict(list)
    for position, name in enumerate(names):
        groups[name].append(position)
    return {name: np.array(positions, np.int64) for name, positions in groups.items()}


def _systems(clusters: Sequence[Cluster]) -> dict[tuple[str, int, int], list[int]]:
    systems: dict[tuple[str, int, int], list[int]] = defaultdict(list)
    for position, cluster in enumerate(clusters):
        systems[cluster.accelerator, cluster.total_accelerators, cluster.nodes].append(position)
    return systems
