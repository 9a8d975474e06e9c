"""How a task was laid out: which batches on how many accelerators, with how much memory. Beyond that nothing is answered."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from costcalc.hardware import Accelerator, Cluster
from costcalc.recipes import Recipe
from costcalc.throughput import REFUSALS
from costcalc.throughput.data_sheets import part
from costcalc.throughput.fitted_parameters import ACCELERATOR, INTERPOLATED, MACHINES, TRANSFERRED
from costcalc.throughput.memory import FRAMEWORK_GIB, USABLE_SHARE
from costcalc.training import Throughput
from costcalc.units import Flags, Indices

OTHERS = math.log(4)
"""A batch that others trained on this number comes after the accelerator's own on a quarter or four times as many."""
ROOM = 0.9  # of the least memory that anybody used: cards of one size state it in different units
WORKING_GIB = 12.0
"""What an accelerator needs beside its part of the network: activations of one sequence, recomputed layer by layer, and the
layer that is gathered from the others; by arithmetic for a language model of 70 billion parameters and 8,192 tokens. A smaller
network needs no more than for itself again, on an accelerator as large as somebody used."""
SAFE_SHARE = 0.9
"""Of an accelerator's memory, what a run that reserved so much elsewhere may count on: cards keep some for themselves."""
EQUAL = 1e-9


class Work(NamedTuple):
    """A batch, None where it was not logged; the day of the software, UNDATED for the newest on each part; the target; on how
    many accelerators somebody trained so; and the memory that it reserved of each, None where that is not known."""

    batch: int | None
    day: int
    target: float | None = None
    accelerators: int = 1
    memory_gib: float | None = None


class Layouts(Struct, frozen=True, eq=False, dict=True):
    """Those of a task's `recipes` and of its published `rows`, one at least. `network_gib` is what its network takes with the
    state of its optimizer, infinite where nobody said, 0 where each result has its own; it may be split among the
    accelerators."""

    rows: tuple[Throughput, ...]
    accelerators: Mapping[str, Accelerator]
    network_gib: float = math.inf
    recipes: tuple[Recipe, ...] = ()

    def allowed(self, works: Sequence[Work], clusters: Sequence[Cluster]) -> Flags:
        """Which works may be done on which clusters [works, clusters]: those done on so many of the accelerator, or if there are
        none, on the nearest numbers of it or on so many others; on an accelerator that nobody used, those done on any."""
        systems = list(dict.fromkeys((cluster.accelerator, max(cluster.total_accelerators, 1)) for cluster in clusters))
        apart = np.array([[self._apart(work, *system) for system in systems] for work in works])
        targets = np.array([work.target or 0.0 for work in works])
        nearest = np.zeros(apart.shape, bool)
        for target in set(targets.tolist()):
            to_it = targets == target
            nearest[to_it] = apart[to_it] <= apart[to_it].min(axis=0) + EQUAL
        place = {system: number for number, system in enumerate(systems)}
        at = [place[cluster.accelerator, max(cluster.total_accelerators, 1)] for cluster in clusters]
        return np.asarray(nearest[:, at])

    def refusals(self, clusters: Sequence[Cluster]) -> NDArray[np.int8]:
        """Why no batch is trained on a cluster, as codes of REFUSALS, 0 where one may be."""
        memory = np.array([self._memory(self._part(cluster.accelerator)) for cluster in clusters], float)
        total = np.array([cluster.total_accelerators for cluster in clusters], float)
        least, together = self._least_memory
        refusal = np.zeros(len(clusters), np.int8)
        refusal[total > max(row.accelerators for row in self.rows)] = REFUSALS.index("beyond_any_cluster")
        each, many = memory >= least, np.maximum(total, 1)
        room = np.where(each, min(WORKING_GIB, self.network_gib), WORKING_GIB)
        split = (memory * USABLE_SHARE - room) * many >= self.network_gib
        as_published = each & (memory * many >= together)
        refusal[~split & ~as_published] = REFUSALS.index("does_not_fit_memory")
        # the fewest that anybody had in each of several machines; none will do for a contest, whose rules name one machine
        none = math.inf if any(row.code == "contest" for row in self.rows) else 0
        least_here = min((row.accelerators // row.nodes for row in self.rows if row.nodes > 1), default=none)
        spread = np.array([cluster.nodes > 1 and cluster.accelerators < least_here for cluster in clusters], bool)
        refusal[spread] = REFUSALS.index("no_network")
        refusal[total == 0] = REFUSALS.index("no_throughput")
        return refusal

    def holds(self, works: Sequence[Work], clusters: Sequence[Cluster]) -> Flags:
        """Which clusters have the memory that works reserved elsewhere, as far as that is known [works, clusters]."""
        memory = np.array([self._memory(self._part(cluster.accelerator)) for cluster in clusters], float)
        needed = np.array([work.memory_gib + FRAMEWORK_GIB if work.memory_gib else 0.0 for work in works])
        return np.asarray(memory * SAFE_SHARE >= needed[:, None])

    def kinds(self, clusters: Sequence[Cluster]) -> NDArray[np.int8]:
        """The nearest thing measured to each cluster, as codes of KINDS."""
        return np.array([self._kind(cluster.accelerator, cluster.total_accelerators) for cluster in clusters], np.int8)

    def nearest(self, clusters: Sequence[Cluster]) -> Indices:
        """The row of the most similar system: same part, else same chip, else same vendor, then the count, then the newest."""
        counts: dict[str, set[int]] = defaultdict(set)
        for cluster in clusters:
            counts[cluster.accelerator].add(cluster.total_accelerators)
        rows = {(name, total): row for name, totals in counts.items() for total, row in self._alike(name, totals)}
        return np.array([rows[cluster.accelerator, cluster.total_accelerators] for cluster in clusters], np.int64)

    def _alike(self, accelerator: str, totals: Iterable[int]) -> Iterator[tuple[int, int]]:
        """Numbers of an accelerator, each with the row of the most similar system."""
        wanted, parts = self._part(accelerator), [self._part(row.accelerator) for row in self.rows]
        likeness = [
            (each.name == wanted.name, each.chip == wanted.chip, each.vendor == wanted.vendor) for each in parts
        ]
        most = max(likeness)
        rows = np.array([number for number in self._newest_first if likeness[number] == most])
        log_counts = np.log([self.rows[number].accelerators for number in rows.tolist()])
        for total in totals:
            yield total, int(rows[np.abs(log_counts - math.log(max(total, 1))).round(9).argmin()])

    @cached_property
    def _newest_first(self) -> list[int]:
        return sorted(range(len(self.rows)), key=lambda number: self.rows[number].known_on, reverse=True)

    def _kind(self, accelerator: str, total: int) -> int:
        counts = self._counts.get(accelerator)
        if counts is None:
            return ACCELERATOR
        if total in counts:
            return TRANSFERRED
        return INTERPOLATED if min(counts) < total < max(counts) else MACHINES

    def _memory(self, chip: Accelerator) -> float:
        """Memory in GiB. A chip without memory beside it holds whatever was trained on it."""
        logged = not chip.device_memory and chip.name in self._counts
        return math.inf if logged or not chip.memory_gib else chip.memory_gib

    def _part(self, name: str) -> Accelerator:
        return part(self.accelerators, name)

    @cached_property
    def _counts(self) -> dict[str, set[int]]:
        counts: dict[str, set[int]] = {}
        for row in self.rows:
            counts.setdefault(row.accelerator, set()).add(row.accelerators)
        return counts

    def _apart(self, work: Work, accelerator: str, total: int) -> float:
        """How far a number of accelerators is from that of a work, in ln."""
        apart = abs(math.log(max(work.accelerators, 1) / total))
        used = (work.batch, work.target, work.accelerators, accelerator) in self._trained_on
        return apart if used else OTHERS + apart

    @cached_property
    def _trained_on(self) -> set[tuple[int | None, float | None, int, str]]:
        """Each batch with its target, and on how many of which accelerator somebody trained it."""
        return {
            (recipe.global_batch_size, recipe.tuned_to, system.accelerators, system.accelerator)
            for recipe in self.recipes
            if (system := recipe.system)
        }

    @cached_property
    def _least_memory(self) -> tuple[float, float]:
        """The least memory of an accelerator, and of all together, in GiB, that anybody trained it with."""
        parts = [(row.accelerators, self._part(row.accelerator)) for row in self.rows]
        sizes = [(count, chip.memory_gib) for count, chip in parts if chip.memory_gib and chip.device_memory]
        each = min((size for _, size in sizes), default=0.0)
        return ROOM * each, ROOM * min((count * size for count, size in sizes), default=0.0)
