"""Tariffs of many offers at once: bills as arrays, in floats, for ranking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costcalc.units import SECONDS_PER_HOUR, Floats

Integers = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class TariffColumns:
    """Tariffs of many offers as arrays; fees and rates in currency units, already times nodes, discount and exchange."""

    fee: Floats
    period_hours: Integers
    minimum_periods: Integers
    metered_hourly: Floats
    increment_seconds: Integers
    minimum_seconds: Integers

    def billed(self, hours: Floats) -> Floats:
        """The array form of `Bill.billed`, in floats, for ranking."""
        seconds = np.ceil(np.round(hours * SECONDS_PER_HOUR, 6) / self.increment_seconds) * self.increment_seconds
        metered = np.maximum(seconds, self.minimum_seconds) / SECONDS_PER_HOUR * self.metered_hourly
        return metered + self.fee * self._periods(hours)

    def effective(self, hours: Floats, utilization: float) -> Floats:
        """The array form of `Bill.effective`, in floats, for ranking."""
        paid = self._periods(hours)
        left = paid * self.period_hours - hours
        return self.fee * paid * hours / (hours + utilization * left) + self.metered_hourly * hours

    def _periods(self, hours: Floats) -> Floats:
        started: Floats = np.ceil(np.round(hours / self.period_hours, 6))
        return np.maximum(started, self.minimum_periods)
