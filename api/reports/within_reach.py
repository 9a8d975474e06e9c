"""The highest target within reach, found by halving: whatever fits at one target also fits at every lower one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

from costcalc.answers import Answer

STEPS = 10_000
"""Accuracies are told apart to 0.0001."""
LEAST = 1 / STEPS
FITS: tuple[Callable[[Answer], bool], ...] = (
    lambda answer: bool(answer.picks) and not answer.missed,
    lambda answer: answer.count > 0,
)
"""When a training is within the limits: at a rate that picks come from, or else at any."""


def most_allowed(ask: Callable[[float], Answer | None], targets: Sequence[float]) -> float | None:
    """The highest of these targets whose answer is within the limits; None where not even the lowest is."""
    for fits in FITS:

        def allows(target: float, fits: Callable[[Answer], bool] = fits) -> bool:
            answer = ask(target)
            return answer is not None and fits(answer)

        if most := last_that(allows, targets):
            return most
    return None


def highest(fits: Callable[[float], bool], limit: float = 1.0) -> float | None:
    """The highest accuracy up to `limit`, in steps of 0.0001, that `fits`; None if not even the lowest step does. Asks `fits` at
    most fifteen times."""
    low, high = 0, min(int(limit * STEPS + 1e-6), STEPS - 1)
    if high > 0 and fits(high / STEPS):
        return high / STEPS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle / STEPS) else (low, middle)
    return low / STEPS if low else None


def last_that(fits: Callable[[float], bool], targets: Sequence[float]) -> float | None:
    """The last of these targets that fits, the easiest first; None if not even the first does."""
    low = bisect_left(targets, True, key=lambda target: not fits(target))
    return targets[low - 1] if low else None
