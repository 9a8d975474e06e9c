"""Speeds that somebody measured on the same accelerators and machines, for the same model and image size."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

import numpy as np

from costcalc.hardware import Cluster
from costcalc.recipes import Recipe
from costcalc.throughput.cluster_features import ClusterFeatures
from costcalc.throughput.reference_model import UNDATED, step_overhead
from costcalc.throughput.workloads import SIZE_EXPONENT, training_rate
from costcalc.training import Throughput
from costcalc.units import Floats, Indices

OTHER_NUMBER_OF_MACHINES = 100.0  # as a distance in ln(accelerators): farther than any count
OTHER_ACCELERATOR = 1000.0  # farther than that
SHARE_INSIDE = 0.8  # of other people's rates, within the range of the answer
FARTHEST_SIZE = math.log(2)  # of image sizes that one rate may speak for another's


class MeasuredSystem(NamedTuple):
    """What must be equal before one measurement may stand for another; `accelerators` over all machines."""

    image_size: int
    accelerator: str
    accelerators: int
    nodes: int


class Measurements:
    """The throughput rows of one model that one stack made in one class of precision, by their number in the table.

    `exact` marks the clusters that are one of the measured systems; `anywhere` and `in_one_machine` name their accelerators.
    Rates on synthetic images stand for no training: they only say `anywhere` that the accelerator was measured.
    """

    def __init__(self, rows: Mapping[int, Throughput], features: ClusterFeatures) -> None:
        self._rows, self._features = rows, features
        self._of_system = _by_system(rows)
        self._trained = _by_system({number: row for number, row in rows.items() if not row.is_synthetic})
        self.exact = features.equal_to({(s.accelerator, s.accelerators, s.nodes) for s in self._trained})
        self.anywhere = frozenset(system.accelerator for system in self._of_system)
        self.in_one_machine = frozenset(system.accelerator for system in self._trained if system.nodes == 1)

    def rates(self, recipe: Recipe, cluster: Cluster, batch: float, slope: float) -> list[float] | None:
        """Images per second of the whole cluster in each phase of the recipe, the median of what was measured there, as if with
        `batch` images per accelerator and step, `slope` being what small batches cost there (`step_overhead`).

        None when any phase has no measurement on this cluster.
        """
        systems = [
            MeasuredSystem(phase.image_size, cluster.accelerator, cluster.total_accelerators, cluster.nodes)
            for phase in recipe.phases
        ]
        if not systems or any(system not in self._trained for system in systems):
            return None
        return [self._middle(self._trained[system], batch, slope) for system in systems]

    def nearest(self, year: int) -> Indices:
        """For each cluster the row of the most similar system: same accelerator, else same chip, else same vendor; alike in
        having one machine or many, then the count, then the year (the newest for UNDATED); -1 if nobody measured."""
        features = self._features
        if not self._rows:
            return np.full(len(features.clusters), -1, np.int64)
        row_of = {
            system: max(rows, key=lambda row: self._timely(row, year)) for system, rows in self._of_system.items()
        }
        alike: dict[tuple[str, int, bool], MeasuredSystem] = {}  # of systems as near to any cluster, the timeliest
        for system in sorted(self._of_system, key=lambda system: self._timely(row_of[system], year), reverse=True):
            alike.setdefault((system.accelerator, system.accelerators, system.nodes > 1), system)
        latest = list(alike.values())
        several = np.array([system.nodes > 1 for system in latest])
        log_count = np.log([max(system.accelerators, 1) for system in latest])
        strange = np.array([features.strangeness(system.accelerator) for system in latest])
        apart = several[:, None] != (features.nodes > 1)
        distance = np.abs(log_count[:, None] - features.log_total)
        distance += OTHER_ACCELERATOR * strange + OTHER_NUMBER_OF_MACHINES * apart
        row = np.array([row_of[system] for system in latest])
        return np.asarray(row[distance.argmin(axis=0)])

    def _timely(self, number: int, year: int) -> tuple[int, int]:
        then = self._rows[number].year
        return then if year == UNDATED else -abs(then - year), -number

    def _middle(self, numbers: Sequence[int], batch: float, slope: float) -> float:
        """The median, in ln, of these rates."""
        logs = []
        for row in (self._rows[number] for number in numbers):
            logs.append(math.log(training_rate(row)))
            if row.global_batch_size and row.accelerators:
                own = row.global_batch_size / row.accelerators
                logs[-1] += slope * (step_overhead(batch) - step_overhead(own))
        return math.exp(median(logs))


def _by_system(rows: Mapping[int, Throughput]) -> dict[MeasuredSystem, list[int]]:
    found: dict[MeasuredSystem, list[int]] = defaultdict(list)
    for number, row in rows.items():
        found[MeasuredSystem(row.image_size, row.accelerator, row.accelerators, row.nodes)].append(number)
    return found


class AnybodysRates:
    """What anybody's implementation made of a model in one machine, memory sizes put together.

    `rows` are those of the recipe's model and, in bits, precision.
    """

    def __init__(self, rows: Sequence[Throughput], features: ClusterFeatures) -> None:
        part = features.reference.data_sheets.part
        logs: dict[tuple[int, str, int], list[float]] = defaultdict(list)
        for row in rows:
            if row.nodes == 1:
                logs[row.image_size, part(row.accelerator).chip, row.accelerators].append(math.log(training_rate(row)))
        self._most = max(map(len, logs.values()), default=0)
        alone = [(features.chip_of[name], count, at) for (name, count, n), at in features.at.items() if n == 1]
        self._near: dict[int, tuple[Indices, Floats, Indices]] = {}
        self._found = {size: self._placed(alone, size, logs) for size in {system[0] for system in logs}}

    def _placed(
        self, alone: Sequence[tuple[str, int, Indices]], size: int, logs: Mapping[tuple[int, str, int], list[float]]
    ) -> tuple[Indices, Floats]:
        """The clusters of one machine that were measured at this image size, and the rates there, NaN after the last."""
        found = [(c, logs[size, chip, n]) for chip, n, at in alone if (size, chip, n) in logs for c in at.tolist()]
        rates = np.full((len(found), self._most), np.nan)
        for row, (_, known) in enumerate(found):
            rates[row, : len(known)] = known
        return np.array([c for c, _ in found], np.int64), rates

    def distance(self, recipe: Recipe, log_rate: Floats) -> Floats:
        """How far in ln(rate) four of five of those rates lie at most from the recipe's [C, P], in the phase where that is
        farthest; 0 where there are none [C]."""
        apart = np.zeros(len(log_rate))
        for number, phase in enumerate(recipe.phases):
            where, rates, last = self._at(phase.image_size, len(log_rate))
            off = np.sort(np.abs(log_rate[where, number, None] - rates), axis=1)
            apart[where] = np.fmax(apart[where], off[np.arange(len(where)), last])
        return apart

    def _at(self, image_size: int, clusters: int) -> tuple[Indices, Floats, Indices]:
        """The clusters measured at nearly an image size, ln(rates) there, carried over from the nearest size, and how many of
        them are four of five, less one."""
        if image_size not in self._near:
            rates = np.full((clusters, self._most), np.nan)
            resized = {size: math.log(size / image_size) for size in self._found}
            for size in sorted(self._found, key=lambda size: -abs(resized[size])):
                if abs(resized[size]) <= FARTHEST_SIZE:
                    where, known = self._found[size]
                    rates[where] = known + SIZE_EXPONENT * resized[size]
            count = np.isfinite(rates).sum(axis=1)
            where = np.flatnonzero(count)
            last = np.ceil(SHARE_INSIDE * count[where]).astype(np.int64) - 1
            self._near[image_size] = where, rates[where], last
        return self._near[image_size]
