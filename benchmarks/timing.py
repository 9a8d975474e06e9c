"""Measuring calls, and printing figures beside bounds that hold for the machine as busy as it is."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable

import numpy as np

Clock = Callable[[], float]
USUAL = 3.0
"""Milliseconds for `_work` where the bounds were set: commit b55ff69 answered there in 2.9 ms, in 6.4 where this takes 6.5."""


def milliseconds(calls: Iterable[Callable[[], object]], clock: Clock = time.process_time) -> list[float]:
    """How long each call took, of the processor unless another clock is named."""
    taken = []
    for call in calls:
        started = clock()
        call()
        taken.append((clock() - started) * 1000)
    return taken


def median(values: list[float]) -> float:
    return statistics.median(values)


def p99(values: list[float]) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[98]


def slowness(clock: Clock = time.process_time) -> float:
    """How many times as long as there this machine takes now, which others may use too; 1 at least."""
    return max(1.0, median(milliseconds([_work] * 5, clock)) / USUAL)


def _work() -> int:
    """Words and small arrays, as an answer is made of."""
    words = dict.fromkeys(sorted(map(str, range(9000)), key=str.casefold))
    return len(words) + sum(int(np.flatnonzero(np.arange(n) % 3 == 0).sum()) for n in range(700))


def report(what: str, figure: str, wanted: str, reached: bool) -> bool:
    """One line: what was measured, what it was, what is wanted."""
    print(f"{'ok  ' if reached else 'MISS'} {what}: {figure} (wanted: {wanted})", flush=True)
    return reached
