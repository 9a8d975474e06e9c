"""What two ways of training a task have in common, and how alike that makes their speeds."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from costcalc.units import Floats

EQUAL = 1e-9
USUAL_SCATTER = 0.05
ANY_LEVEL = 3.0  # of ln(rate): what a task's samples cost is not known beforehand


class Kernel(msgspec.Struct, frozen=True):
    """Standard deviations in ln(rate) of what systems have in common, and lengths over which what is smooth changes.

    `silicon` is of a die, `chip` of a chip, `part` of its memory size; `count` of each unit of ln(count), `count_bend` of its
    bends, `silicon_count` and `chip_count` of those of a die and a chip; `batch` and `batch_bend` likewise of the batch of one
    accelerator; `year` of each year, `silicon_year` and `chip_year` of the software of a die and a chip; `machines` of each unit
    of ln(machines), `part_machines` of a part's; `cell` of one part in one number of accelerators and machines.
    """

    silicon: float
    silicon_count: float
    silicon_year: float
    chip: float
    part: float
    count: float
    count_bend: float
    count_length: float
    chip_count: float
    chip_count_length: float
    batch: float
    batch_bend: float
    batch_length: float
    year: float
    chip_year: float
    chip_year_length: float
    machines: float
    part_machines: float
    cell: float
    cell_length: float


class OfTask(NamedTuple):
    """What was learned of one task: by chip what other tasks tell of it, the mean of what it adds to ln(rate) beside its data
    sheet and the standard deviation; how far results of one system `scatter` in ln(rate), a standard deviation; and by how much
    ranges are widened."""

    chips: Mapping[str, tuple[float, float]]
    scatter: float
    widening: float = 1.0


class Fitted(msgspec.Struct, frozen=True):
    """What was learned over all tasks: the kernel; by task what other tasks tell of chips, the mean of what they add to ln(rate)
    and its standard deviation; by task how far results of one system `scatter` in ln(rate), and the `spread` of ln(minutes) from
    run to run, as standard deviations; and by how much its ranges are widened so that 8 in 10 of `cases` results lie within, each
    predicted from those of other organisations."""

    kernel: Kernel
    chips: Mapping[str, Mapping[str, tuple[float, float]]]
    scatters: Mapping[str, float]
    spreads: Mapping[str, float]
    widenings: Mapping[str, float]
    cases: int

    def of(self, task: str) -> OfTask:
        """What was learned of a task; of one that no other organisation trained, what is usual."""
        usual = statistics.median(self.widenings.values()) if self.widenings else 1.0
        return OfTask(self.chips.get(task, {}), self.scatters.get(task, USUAL_SCATTER), self.widenings.get(task, usual))


class Systems(NamedTuple):
    """N ways of training a task as columns: the part, its chip and its die, ln(count/8), ln(machines), how far the batch of one
    accelerator fills it in ln, the year from 2022 on, and the prior's mean and the chip's standard deviation."""

    part: NDArray[np.str_]
    chip: NDArray[np.str_]
    silicon: NDArray[np.str_]
    log_count: Floats
    machines: Floats
    batch: Floats
    year: Floats
    mean: Floats
    chip_deviation: Floats


def covariance(a: Systems, b: Systems, kernel: Kernel) -> Floats:
    """That of ln(rate) [A, B] before anything was measured, the scatter of single results apart."""
    same_part, same_chip, same_silicon = (
        np.equal.outer(*pair) for pair in ((a.part, b.part), (a.chip, b.chip), (a.silicon, b.silicon))
    )
    count, batch, year = (
        np.subtract.outer(*pair) for pair in ((a.log_count, b.log_count), (a.batch, b.batch), (a.year, b.year))
    )
    of_silicon = (
        kernel.silicon**2
        + kernel.silicon_count**2 * _rough(count, kernel.chip_count_length)
        + kernel.silicon_year**2 * _rough(year, kernel.chip_year_length)
    )
    of_chip = (
        np.outer(a.chip_deviation, b.chip_deviation)
        + kernel.chip_count**2 * _rough(count, kernel.chip_count_length)
        + kernel.chip_year**2 * _rough(year, kernel.chip_year_length)
    )
    machines = np.outer(a.machines, b.machines)
    same_layout = (np.abs(count) < EQUAL) & np.equal.outer(a.machines, b.machines)
    of_part = (
        kernel.part**2
        + kernel.part_machines**2 * machines
        + kernel.cell**2 * same_layout * _rough(year, kernel.cell_length)
    )
    return np.asarray(
        ANY_LEVEL**2
        + same_silicon * of_silicon
        + same_chip * of_chip
        + same_part * of_part
        + kernel.count**2 * np.outer(a.log_count, b.log_count)
        + kernel.count_bend**2 * np.asarray(np.exp(-(count**2) / (2 * kernel.count_length**2)))
        + kernel.batch**2 * np.outer(a.batch, b.batch)
        + kernel.batch_bend**2 * _rough(batch, kernel.batch_length)
        + kernel.year**2 * np.outer(a.year, b.year)
        + kernel.machines**2 * machines
    )


def variance(a: Systems, kernel: Kernel) -> Floats:
    """The diagonal of `covariance` of systems with themselves [A]."""
    alike = (
        kernel.silicon,
        kernel.silicon_count,
        kernel.silicon_year,
        kernel.part,
        kernel.cell,
        kernel.chip_count,
        kernel.chip_year,
        kernel.count_bend,
        kernel.batch_bend,
        ANY_LEVEL,
    )
    linear = (kernel.count, a.log_count), (kernel.batch, a.batch), (kernel.year, a.year)
    machines = (kernel.machines**2 + kernel.part_machines**2) * a.machines**2
    return np.asarray(
        sum(one**2 for one in alike)
        + a.chip_deviation**2
        + machines
        + sum((one * column) ** 2 for one, column in linear)
    )


def _rough(apart: Floats, length: float) -> Floats:
    return np.asarray(np.exp(-np.abs(apart) / length))
