"""What a budget buys: the highest accuracy that a test allows, found by halving."""

from __future__ import annotations

from collections.abc import Callable

STEPS = 10_000
"""Accuracies are told apart to 0.0001."""


def highest(fits: Callable[[float], bool], limit: float = 1.0) -> float | None:
    """The highest accuracy up to `limit`, in steps of 0.0001, that `fits`; None if not even the lowest step does.

    A stricter target never costs less nor takes less time, so whatever fits at one accuracy fits at every lower one. The
    test is made some fifteen times.
    """
    low, high = 0, min(int(limit * STEPS + 1e-6), STEPS - 1)
    if high > 0 and fits(high / STEPS):
        return high / STEPS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle / STEPS) else (low, middle)
    return low / STEPS if low else None
