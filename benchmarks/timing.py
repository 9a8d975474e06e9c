"""Measuring calls, and printing figures beside bounds."""

from __future__ import annotations

import statistics
import time

import numpy as np

USUAL = 3.0
"""Milliseconds for `_work` where the bounds of `dearest` were set."""


def median(values: list[float]) -> float:
    return statistics.median(values)


def p99(values: list[float]) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[98]


def slowness() -> float:
    """How many times as long as there this machine takes now, which others may use too; 1 at least."""
    return max(1.0, median([_milliseconds_of_work() for _ in range(5)]) / USUAL)


def _milliseconds_of_work() -> float:
    """Words and small arrays, as an answer is made of."""
    started = time.process_time()
    words = dict.fromkeys(sorted(map(str, range(9000)), key=str.casefold))
    _ = len(words) + sum(int(np.flatnonzero(np.arange(n) % 3 == 0).sum()) for n in range(700))
    return (time.process_time() - started) * 1000


def report(what: str, figure: str, wanted: str, reached: bool) -> bool:
    """One line: what was measured, what it was, what is wanted."""
    print(f"{'ok  ' if reached else 'MISS'} {what}: {figure} (wanted: {wanted})", flush=True)
    return reached
