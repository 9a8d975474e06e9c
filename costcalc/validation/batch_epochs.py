"""Epochs to a target at batches that nobody ran, inside one recipe family whose learning rate was tuned for each batch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from costcalc.convergence.curves import isotonic
from costcalc.fitting.schedules import OutOfRange
from costcalc.units import Floats

BATCH_REACH = 1.25  # times the largest measured batch
WIDEST_GAP = 4.0  # between neighbouring measured batches
CRITICAL_BATCH = 46_000.0  # of ResNet-50 on ImageNet: MLPerf's reference points fit E0 (1 + B / 46,000) within 5 %


@dataclass(frozen=True, slots=True)
class BatchCurve:
    """Epochs to one target against the global batch, inside one family: medians, made monotone with the
    weight of their number, and straight lines between."""

    batches: Floats
    epochs: Floats

    @classmethod
    def through(cls, points: Iterable[tuple[float, float]]) -> BatchCurve:
        """The curve through (batch, epochs) points; several at one batch count as their median. Raises ValueError if none."""
        found: dict[float, list[float]] = defaultdict(list)
        for batch, epochs in points:
            found[batch].append(epochs)
        if not found:
            raise ValueError("a batch curve needs at least one measured batch")
        batches = sorted(found)
        counts = [len(found[batch]) for batch in batches]
        weighted = isotonic([float(np.median(found[batch])) for batch in batches for _ in found[batch]])
        return cls(np.array(batches), weighted[np.cumsum(counts) - 1])

    def at(self, batch: float) -> float:
        """Epochs at a batch: constant below the smallest measured, on the last line up to BATCH_REACH times the largest.

        Raises OutOfRange further out, or where the neighbours lie more than WIDEST_GAP apart.
        """
        low, high = float(self.batches[0]), float(self.batches[-1])
        if batch > BATCH_REACH * high:
            raise OutOfRange(f"batch {batch:g} is beyond {BATCH_REACH} times the largest measured, {high:g}")
        right = int(np.searchsorted(self.batches, batch))
        if 0 < right < len(self.batches) and self.batches[right] > WIDEST_GAP * self.batches[right - 1]:
            raise OutOfRange(
                f"batch {batch:g} lies between {self.batches[right - 1]:g} and {self.batches[right]:g}: too far apart"
            )
        if batch <= high or len(self.batches) == 1:
            return float(np.interp(max(batch, low), self.batches, self.epochs))
        slope = (self.epochs[-1] - self.epochs[-2]) / (high - self.batches[-2])
        return float(self.epochs[-1] + slope * (batch - high))


def batch_factor(batch: float | None, measured_at: float | None) -> float:
    """Epochs at a batch over epochs at another, by E0 (1 + B / CRITICAL_BATCH); 1 where either batch is unknown."""
    if not batch or not measured_at:
        return 1.0
    return (1 + batch / CRITICAL_BATCH) / (1 + measured_at / CRITICAL_BATCH)
