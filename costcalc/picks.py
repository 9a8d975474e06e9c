"""Picks: the few estimates to act on, and which estimates they may come from. Over columns of equal length, without words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, product
from typing import Literal, NamedTuple, get_args

import numpy as np

from costcalc.units import Flags, Floats

SURE = 0.95
"""The least probability of reaching the target with which an estimate can be the surest."""
MOST_FOR_SURE = 5
"""How many times the least cost the surest may cost: beyond that, doubts about the cheapest cost less."""
PickName = Literal["cheapest", "fastest", "balanced", "surest"]
Requirement = Literal["runs_here", "rentable", "confirmed"]
REQUIREMENTS: tuple[Requirement, ...] = get_args(Requirement)
"""What picks should meet, the most important first: public code runs there, anybody can rent it for this run alone, and somebody
vouches for its rate."""


class Pickable(NamedTuple):
    """Which estimates picks may come from, and which requirements these miss because no estimate meets all."""

    flags: Flags
    missed: tuple[Requirement, ...]


def pickable(meets: Sequence[Flags]) -> Pickable:
    """The estimates that meet every requirement; `meets` has flags for each of REQUIREMENTS. Where none does, the least important
    are given up first."""
    for kept in product((True, False), repeat=len(REQUIREMENTS)):
        flags = np.logical_and.reduce([np.ones_like(meets[0]), *compress(meets, kept)])
        if flags.any():
            return Pickable(flags, tuple(compress(REQUIREMENTS, np.logical_not(kept))))
    return Pickable(np.zeros_like(meets[0]), ())


@dataclass(frozen=True, slots=True)
class Options:
    """The estimates that picks may come from, least cost first: what each costs by the question's basis, its hours on the
    calendar with the upper end of their 80 % range, and the ratio of both ends of its cost's, infinite where that is not sure."""

    cost: Floats
    hours: Floats
    hours_high: Floats
    spread: Floats


def picks(options: Options, hour_worth: float) -> Iterator[tuple[PickName, int]]:
    """Each pick's name and position: of equal ones the first, which costs least.

    The fastest is the cheapest of those that end within the range of the one with the fewest hours. The balanced has the least
    cost + `hour_worth` x hours. The surest has the narrowest range of cost and at most MOST_FOR_SURE times the least cost.
    """
    if not len(options.cost):
        return
    fewest = np.argmin(options.hours)
    yield "cheapest", 0
    yield "fastest", int(np.argmax(options.hours <= options.hours_high[fewest]))
    yield "balanced", int(np.argmin(options.cost + hour_worth * options.hours))
    spread = np.where(options.cost <= MOST_FOR_SURE * options.cost[0], options.spread, np.inf)
    narrowest = int(np.argmin(spread))
    if spread[narrowest] < np.inf:
        yield "surest", narrowest
