"""The highest target within reach, found by halving: whatever fits at one target also fits at every lower one. The targets are
any accuracies, or the values that a user's own run passed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar

from msgspec import Struct

from costcalc.answers import Answer

T = TypeVar("T", int, float)

STEPS = 10_000
"""Accuracies are told apart to 0.0001."""
LEAST = 1 / STEPS
BEYOND = 0.004
"""How far above the highest accuracy that a recipe reached another run is answered for: less than twice its seed noise."""
RUNGS, RUNG = 41, 0.0025
LESS = (0.001, 0.0025, 0.005, 0.01, 0.02)
LESS_OF_OWN = (0.9, 0.75, 0.5, 0.25)
"""How far below the best, as shares of the values that a user's own run passed."""


class Accuracies(Struct, frozen=True):
    """Any accuracy up to a little above the highest that a recipe `reached`; 0 where none is known."""

    digits: ClassVar = ".4f"
    reached: float

    def highest(self, fits: Callable[[float], bool]) -> float | None:
        """The highest that fits, None where none does."""
        return highest(fits, self.reached and self.reached + BEYOND)

    def below(self, accuracy: float) -> list[float]:
        """A few lower ones, the highest first."""
        return [round(accuracy - less, 4) for less in LESS if accuracy - less > LEAST]

    def rungs(self) -> list[float]:
        """Some from far below the highest up to it; none where none is known."""
        targets = (round(self.reached - (RUNGS - 1 - rung) * RUNG, 4) for rung in range(RUNGS))
        return [target for target in targets if target >= LEAST]


class Passed(Struct, frozen=True):
    """The values that a user's own run passed, the worst first: they stand for accuracies."""

    digits: ClassVar = ".6g"
    values: tuple[float, ...]

    def highest(self, fits: Callable[[float], bool]) -> float | None:
        """The best that fits, None where none does."""
        return last_that(fits, self.values)

    def below(self, value: float) -> list[float]:
        """A few worse ones, the best first."""
        passed = self.values.index(value)
        return [self.values[int(share * passed)] for share in LESS_OF_OWN if passed]

    def rungs(self) -> Sequence[float]:
        """Some of them, from the worst on."""
        return self.values[:: -(-len(self.values) // RUNGS)]


def fits_picks(answer: Answer) -> bool:
    """Whether a training is within the limits at a rate that picks come from."""
    return bool(answer.picks) and not answer.missed


def fits_any(answer: Answer) -> bool:
    """Whether it is within them at any rate."""
    return answer.count > 0


def most_allowed(ask: Callable[[float], Answer | None], targets: Sequence[float]) -> float | None:
    """The highest of these targets whose answer is within the limits; None where not even the lowest is."""
    for fits in (fits_picks, fits_any):

        def allows(target: float, fits: Callable[[Answer], bool] = fits) -> bool:
            answer = ask(target)
            return answer is not None and fits(answer)

        if most := last_that(allows, targets):
            return most
    return None


def highest(fits: Callable[[float], bool], limit: float = 1.0) -> float | None:
    """The highest accuracy up to `limit`, in steps of 0.0001, that `fits`; None if not even the lowest step does. Asks `fits` at
    most fifteen times."""
    most = last_that(lambda step: fits(step / STEPS), range(1, min(int(limit * STEPS + 1e-6), STEPS - 1) + 1))
    return most and most / STEPS


def last_that(fits: Callable[[T], bool], targets: Sequence[T]) -> T | None:
    """The last of these targets that fits, the easiest first; None if not even the first does."""
    low = bisect_left(targets, True, key=lambda target: not fits(target))
    return targets[low - 1] if low else None
