"""What two ways of training a task have in common, how alike that makes their speeds, and a Gaussian process over such likeness:
what a smooth law says between and beyond what was measured, and how surely.

Rasmussen and Williams 2006, Gaussian Processes for Machine Learning, chapter 2. The noise is Student's, of which each row's
variance is reckoned in turns: rows far off the rest count for less (Tipping and Lawrence 2005).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from costcalc.units import Floats

EQUAL = 1e-9
SILICON, PART, CELL = 0.06, 0.06, 0.08
"""Standard deviations in ln(rate) of what systems have in common: of a die, of a memory size of a chip, and of such a part in one
number of accelerators and machines. These and the next ones are rounded: near the likeliest under all tasks' rates, those that
predicted best the organisations that were left out. What predicted these no better, is gone."""
CELL_YEAR, CELL_YEAR_LENGTH = 0.05, 2.0  # of the software of such a part in one number
CHIP = 0.3  # of a chip that no other task was trained on
COUNT, COUNT_LENGTH = 0.08, 1.0  # of bends in ln(count), and how long these are
SILICON_COUNT, SILICON_COUNT_LENGTH = 0.08, 3.2  # of those of a die
BATCH, MACHINES = 0.1, 0.1  # of each unit of how far the batch fills any accelerator or a die, and of ln(machines)
BANDWIDTH = 0.2  # of each unit of ln(bandwidth), beside what is usual: tasks wait for memory more or less
YEAR, SILICON_YEAR, SILICON_YEAR_LENGTH = 0.19, 0.2, 1.1  # of each year, and of the software of a die
SCATTER = 0.045  # of results of one system
HALF_OF_80 = 1.2816  # standard deviations on either side that hold 80 %
OLDER, NEWER = 0.16, 0.1
"""Half-widths in ln(rate), at 80 %, of what software makes of a system between rounds: slower with that of the round before its
newest, faster with that of the next. Over eighteen months of rounds it was 0.16 to 0.2 for organisations left out."""
ANY_LEVEL = 3.0  # what a task's samples cost is not known beforehand


class OfTask(NamedTuple):
    """What was learned of one task: by chip what other tasks tell of it, the mean of what it adds to ln(rate) beside its data
    sheet and the standard deviation; and by how much ranges are widened, those of another count or chip than anybody had more."""

    chips: Mapping[str, tuple[float, float]]
    widening: float = 1.0
    other_count: float = 1.0
    other_chip: float = 1.0


class Fitted(msgspec.Struct, frozen=True):
    """What was learned over all tasks: by task what other tasks tell of chips, the mean of what they add to ln(rate) and its
    standard deviation; by task the `spread` of ln(minutes) from run to run, a standard deviation; and by how much its
    ranges are widened so that 8 in 10 of `cases` results lie within, each predicted from those of other organisations, those of
    an accelerator in another number than anybody had by as much again, those of another accelerator too."""

    chips: Mapping[str, Mapping[str, tuple[float, float]]]
    spreads: Mapping[str, float]
    widenings: Mapping[str, float] = {}
    other_count: float = 1.0
    other_chip: float = 1.0
    cases: int = 0

    def of(self, task: str) -> OfTask:
        """What was fitted to a task; usual values for one that no other organisation trained."""
        usual = statistics.median(self.widenings.values()) if self.widenings else 1.0
        return OfTask(self.chips.get(task, {}), self.widenings.get(task, usual), self.other_count, self.other_chip)


class Systems(NamedTuple):
    """N ways of training a task as columns: the part, its chip and its die, ln(count/8), ln(machines), how far the batch of one
    accelerator fills it in ln, ln of its bandwidth beside a usual one, the year from 2022 on, and the prior's mean and the chip's
    standard deviation."""

    part: NDArray[np.str_]
    chip: NDArray[np.str_]
    silicon: NDArray[np.str_]
    log_count: Floats
    machines: Floats
    batch: Floats
    bandwidth: Floats
    year: Floats
    mean: Floats
    chip_deviation: Floats


def covariance(a: Systems, b: Systems) -> Floats:
    """The covariance of ln(rate) [A, B] before anything was measured, without the scatter of single results."""
    same_part, same_chip, same_silicon = (
        np.equal.outer(*pair) for pair in ((a.part, b.part), (a.chip, b.chip), (a.silicon, b.silicon))
    )
    count, year = (np.subtract.outer(*pair) for pair in ((a.log_count, b.log_count), (a.year, b.year)))
    of_silicon = (
        SILICON**2
        + SILICON_COUNT**2 * np.exp(-np.abs(count) / SILICON_COUNT_LENGTH)
        + SILICON_YEAR**2 * np.exp(-np.abs(year) / SILICON_YEAR_LENGTH)
    )
    same_layout = (np.abs(count) < EQUAL) & np.equal.outer(a.machines, b.machines)
    of_cell = CELL**2 + CELL_YEAR**2 * np.exp(-np.abs(year) / CELL_YEAR_LENGTH)
    return np.asarray(
        ANY_LEVEL**2
        + same_silicon * of_silicon
        + same_chip * np.outer(a.chip_deviation, b.chip_deviation)
        + same_part * (PART**2 + of_cell * same_layout)
        + COUNT**2 * np.exp(-(count**2) / (2 * COUNT_LENGTH**2))
        + BATCH**2 * np.outer(a.batch, b.batch) * (1 + same_silicon)
        + BANDWIDTH**2 * np.outer(a.bandwidth, b.bandwidth)
        + YEAR**2 * np.outer(a.year, b.year)
        + MACHINES**2 * np.outer(a.machines, b.machines)
    )


def variance(a: Systems) -> Floats:
    """The diagonal of `covariance` of systems with themselves [A]."""
    alike = SILICON, SILICON_COUNT, SILICON_YEAR, PART, CELL, CELL_YEAR, COUNT, ANY_LEVEL
    of_batch, of_bandwidth = (math.sqrt(2) * BATCH, a.batch), (BANDWIDTH, a.bandwidth)
    linear = of_batch, of_bandwidth, (YEAR, a.year), (MACHINES, a.machines)
    steady = sum(each**2 for each in alike)
    return np.asarray(steady + a.chip_deviation**2 + sum((each * column) ** 2 for each, column in linear))


FREEDOM = 1.0  # of the noise: many a result lies far off what others took on such a system
TURNS = 6
JITTER = 1e-9


class Posterior(msgspec.Struct, frozen=True, eq=False):
    """What N measured values tell: `weights` [N] times the covariances with another value are its mean, beside the prior's."""

    weights: Floats
    factor: Floats

    @classmethod
    def of(cls, covariance: Floats, values: Floats, noise: Floats) -> Posterior:
        """The posterior of values [N], less their prior mean, with this covariance [N, N] and these variances of noise [N]."""
        factor = np.linalg.cholesky(covariance + np.diag(weighted_noise(covariance, values, noise) + JITTER))
        return cls(np.linalg.solve(factor.T, np.linalg.solve(factor, values)), np.asarray(factor, float))

    def mean(self, covariance: Floats) -> Floats:
        """The means [M] of other values, less their prior mean, from their covariances with the measured ones [M, N]."""
        return np.asarray(covariance @ self.weights)

    def variance(self, covariance: Floats, own: Floats) -> Floats:
        """The variances of other values [M]; `own` are those before anything was measured [M]."""
        explained = np.linalg.solve(self.factor, covariance.T)
        return np.asarray(np.maximum(own - (explained**2).sum(axis=0), 0.0))


def weighted_noise(covariance: Floats, values: Floats, noise: Floats, freedom: float = FREEDOM) -> Floats:
    """The variance of noise [N] that each value is taken to have: larger for one far off what the others say."""
    scale = np.ones(len(values))
    for _ in range(TURNS):
        variance = noise / scale
        inverse = np.linalg.inv(covariance + np.diag(variance + JITTER))
        left = variance * (inverse @ values)
        spread = variance - variance**2 * np.diag(inverse)
        scale = (freedom + 1) / (freedom + (left**2 + spread) / noise)
    return np.asarray(noise / scale)
