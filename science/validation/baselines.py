"""The baselines that the estimator must beat: medians, straight lines, a roofline and additive tables."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence

import numpy as np

from costcalc.hardware import Accelerator
from costcalc.throughput.workloads import bits, training_rate
from costcalc.training import IMAGES_PER_EPOCH
from costcalc.units import Flags, Floats
from science.fitting.transfer import Ratio
from science.validation.published import MLPerfRun, ReferencePoint

ELAPSED_FACTOR = 1.014  # elapsed time over epochs x images / logged rate
STEP_FACTOR, STEP_SECONDS, RUN_SECONDS = 1.137, 0.003, 1.6  # what many machines add to each step, and to a run
TFLOP_PER_IMAGE, GB_PER_IMAGE = 0.0395, 0.322


class Baselines:
    """Predicted ln(seconds) of MLPerf runs by a simple method for each kind of evidence; None without data to go by.

    Rates are those of other organisations on the same accelerator, epochs those of MLPerf's reference points.
    """

    def __init__(
        self, runs: Sequence[MLPerfRun], points: Sequence[ReferencePoint], accelerators: Mapping[str, Accelerator]
    ) -> None:
        self._runs, self._accelerators = runs, accelerators
        ordered = sorted(points, key=lambda point: point.global_batch_size)
        self._batches = [point.global_batch_size for point in ordered]
        self._epochs = [point.epochs_mean for point in ordered]

    def own(self, run: MLPerfRun) -> float | None:
        """By its own logged rate."""
        return None if run.log_rate is None else self._log_seconds(run, run.log_rate)

    def transferred(self, run: MLPerfRun) -> float | None:
        """By the median rate of other organisations' equal systems."""
        return self._by_median(run, lambda other: other.system == run.system)

    def interpolated(self, run: MLPerfRun) -> float | None:
        """By the median rate per accelerator of other counts in one machine."""
        return self._by_median(run, lambda other: other.on_one_machine and other.accelerators != run.accelerators)

    def machines(self, run: MLPerfRun) -> float | None:
        """By the rate in one machine, each step STEP_FACTOR times and STEP_SECONDS longer, and RUN_SECONDS a run."""
        log_rate = self._median_log_rate(run, lambda other: other.on_one_machine)
        if log_rate is None:
            return None
        step = run.setup.batch / math.exp(log_rate) * STEP_FACTOR + STEP_SECONDS
        steps = self._reference_epochs(run) * IMAGES_PER_EPOCH / run.global_batch_size
        return math.log(steps * step + RUN_SECONDS)

    def accelerator(self, run: MLPerfRun) -> float | None:
        """By the roofline of compute and bandwidth alone."""
        sheet = self._accelerators[run.system.accelerator]
        if not sheet.dense_16bit_tflops or not sheet.memory_bandwidth_gb_per_s:
            return None
        seconds = TFLOP_PER_IMAGE / sheet.dense_16bit_tflops + GB_PER_IMAGE / sheet.memory_bandwidth_gb_per_s
        return self._log_seconds(run, -math.log(seconds))

    def earlier(self, run: MLPerfRun, recipes: Collection[str]) -> float | None:
        """By the median rate per accelerator of these recipes, of one machine or of several as the run is."""
        log_rates = [
            other.log_rate
            for other in self._runs
            if other.log_rate is not None
            and other.name in recipes
            and other.system.accelerator == run.system.accelerator
            and other.on_one_machine == run.on_one_machine
        ]
        return self._log_seconds(run, float(np.median(log_rates))) if log_rates else None

    def _by_median(self, run: MLPerfRun, test: Callable[[MLPerfRun], bool]) -> float | None:
        log_rate = self._median_log_rate(run, test)
        return None if log_rate is None else self._log_seconds(run, log_rate)

    def _median_log_rate(self, run: MLPerfRun, test: Callable[[MLPerfRun], bool]) -> float | None:
        log_rates = [
            other.log_rate
            for other in self._runs
            if other.log_rate is not None
            and other.group != run.group
            and other.system.accelerator == run.system.accelerator
            and test(other)
        ]
        return float(np.median(log_rates)) if log_rates else None

    def _reference_epochs(self, run: MLPerfRun) -> float:
        return float(np.interp(run.global_batch_size, self._batches, self._epochs))

    def _log_seconds(self, run: MLPerfRun, log_rate: float) -> float:
        rate = math.exp(log_rate) * run.accelerators
        return math.log(self._reference_epochs(run) * IMAGES_PER_EPOCH / rate * ELAPSED_FACTOR)


def additive_errors(ratios: Iterable[Ratio], group: Callable[[Ratio], Hashable]) -> dict[str, float]:
    """ln(measured / predicted rate) by name of row, by ln(rate) = an effect of the network + an effect of the system.

    Each group of rows is predicted from the other rows of the same implementation and bits. Rows are missing where those
    do not determine the effect of their network or system.
    """
    tables: dict[Hashable, list[Ratio]] = defaultdict(list)
    for ratio in ratios:
        tables[ratio.workload.implementation, bits(ratio.row.precision)].append(ratio)
    return {name: error for table in tables.values() for name, error in _errors(table, group)}


def _errors(table: Sequence[Ratio], group: Callable[[Ratio], Hashable]) -> list[tuple[str, float]]:
    design = np.hstack([_indicators(list(map(_network, table))), _indicators(list(map(_system, table)))])
    log_rates = np.array([math.log(training_rate(ratio.row) / ratio.row.accelerators) for ratio in table])
    groups = [group(ratio) for ratio in table]
    errors = []
    for name in dict.fromkeys(groups):
        held_out = np.array([other == name for other in groups])
        errors += _left_out(design, log_rates, held_out)
    return [(table[row].row.name, error) for row, error in errors]


def _left_out(design: Floats, log_rates: Floats, held_out: Flags) -> list[tuple[int, float]]:
    """The errors of the held-out rows whose effects the other rows determine, by place."""
    inverse = np.linalg.pinv(design[~held_out])
    determined = np.isclose(design @ inverse @ design[~held_out], design).all(axis=1)
    errors = log_rates - design @ inverse @ log_rates[~held_out]
    return [(int(row), float(errors[row])) for row in np.flatnonzero(held_out & determined)]


def _indicators(names: Sequence[Hashable]) -> Floats:
    """One column per name [rows, names]: 1 where a row has it."""
    columns = {name: column for column, name in enumerate(dict.fromkeys(names))}
    return np.eye(len(columns))[[columns[name] for name in names]]


def _network(ratio: Ratio) -> Hashable:
    return ratio.workload.model, ratio.workload.image_size


def _system(ratio: Ratio) -> Hashable:
    return ratio.row.accelerator, ratio.row.accelerators, ratio.row.nodes
