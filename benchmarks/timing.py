"""Measuring calls and printing figures."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable


def milliseconds(calls: Iterable[Callable[[], object]]) -> list[float]:
    """How long each call took."""
    taken = []
    for call in calls:
        started = time.perf_counter()
        call()
        taken.append((time.perf_counter() - started) * 1000)
    return taken


def median(values: list[float]) -> float:
    return statistics.median(values)


def p99(values: list[float]) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[98]


def report(what: str, figure: str, wanted: str, reached: bool) -> bool:
    """One line: what was measured, what it was, what is wanted."""
    print(f"{'ok  ' if reached else 'MISS'} {what}: {figure} (wanted: {wanted})", flush=True)
    return reached
