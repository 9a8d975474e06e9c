"""How many passes over its data a task takes with a batch: a smooth law of ln(batch) through reference points and results.

What a batch has of its own, its schedule, is an effect beside the law, what its schedule is in a round another, and that of so
many accelerators a third: rounds near in time have much of it in common, one round all. Runs scatter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from functools import cached_property
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from costcalc.tasks.kernel import Posterior
from costcalc.tasks.tables import ReferencePoint, Result, Schedule
from costcalc.units import Floats

LEVEL, SLOPE, BEND, BEND_LENGTH = 3.0, 0.3, 0.2, 1.2
"""Standard deviations in ln(passes) of the whole law, for each unit of ln(batch), and of its bends, that many units long."""
OWN, OF_YEAR, YEARS = 0.15, 0.08, 1.0
"""Of a batch's own, and of what changes about it from round to round: rounds so many years apart have a third in common."""
OF_COUNT = 0.7  # of a batch on so many accelerators, in units of how much runs scatter
SCATTER, REFERENCE_SCATTER = 0.005, 0.03
"""Of what organisations differ in with one batch, and of reference runs, whose code is another than that of results."""
DAYS_PER_YEAR = 365.2425
SAME = 1e-9
NO_COUNT = math.nan  # of reference runs: like no other


class Mean(NamedTuple):
    """One mean of runs: ln(batch), how many accelerators, the year, ln(passes), and the variance of that mean."""

    batch: float
    accelerators: float
    year: float
    passes: float
    variance: float


class SamplesLaw(Struct, frozen=True, eq=False, dict=True):
    """The law of one task and target; `spread` is the standard deviation of ln(passes) from run to run."""

    means: tuple[Mean, ...]
    spread: float

    @classmethod
    def of(cls, results: Sequence[Result], points: Sequence[ReferencePoint], spread: float) -> SamplesLaw:
        """The law of these results and reference points."""
        rows: list[tuple[Result | ReferencePoint, float, float | None, float]] = [
            *((result, result.accelerators, result.counted_passes, SCATTER) for result in results),
            *((point, NO_COUNT, point.passes, REFERENCE_SCATTER) for point in points),
        ]
        means = []
        for row, count, passes, own in rows:
            if row.global_batch_size and passes:
                batch, variance = math.log(row.global_batch_size), own**2 + spread**2 / row.runs
                means.append(Mean(batch, count, _year(row.published), math.log(passes), variance))
        return cls(tuple(means), spread)

    def passes(self, schedules: Sequence[Schedule], day: date) -> Floats:
        """The passes of each schedule [N] on a day; NaN if nothing is known, or no batch."""
        if not self.means:
            return np.full(len(schedules), np.nan)
        _, batches, counts = np.array(schedules, float).reshape(-1, 3).T
        wanted = np.log(batches), counts, np.full(len(schedules), _year(day))
        return np.exp(self._middle + self._posterior.mean(self._covariance(wanted, self._columns[:3])))

    @cached_property
    def _columns(self) -> tuple[Floats, ...]:
        return tuple(np.array(self.means).T)

    @cached_property
    def _middle(self) -> float:
        return float(np.median(self._columns[3]))

    @cached_property
    def _posterior(self) -> Posterior:
        *places, passes, variance = self._columns
        return Posterior.of(self._covariance(places, places), passes - self._middle, variance)

    def _covariance(self, a: Sequence[Floats], b: Sequence[Floats]) -> Floats:
        middle = self._columns[0].mean()
        apart, counts, years = (np.subtract.outer(left, right) for left, right in zip(a, b, strict=True))
        own = OWN**2 + OF_YEAR**2 * np.exp(-np.abs(years) / YEARS) + (OF_COUNT * self.spread) ** 2 * (counts == 0)
        bends = BEND**2 * np.exp(-(apart**2) / (2 * BEND_LENGTH**2))
        slopes = SLOPE**2 * np.outer(a[0] - middle, b[0] - middle)
        return np.asarray(LEVEL**2 + slopes + bends + own * (np.abs(apart) < SAME))


def _year(day: date) -> float:
    return day.toordinal() / DAYS_PER_YEAR
