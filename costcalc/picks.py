"""Picks: the few estimates to act on, and which estimates they may come from. Over columns of equal length, without words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, product
from typing import Literal, NamedTuple, get_args

import numpy as np

from costcalc.units import Flags

SURE = 0.95
"""The least probability of reaching the target with which an estimate can be the surest."""
MOST_FOR_SURE = 5
"""How many times the least cost the surest may cost: beyond that, doubts about the cheapest cost less."""
AS_CHEAP = 1.05
"""How many times the least cost the cheapest may cost where hours are worth it: no estimate is that close."""
MOST_TO_START = 1.5
"""How many times the least cost the cheapest may cost for being known to start as it is."""
AS_NARROW = 1.02
"""How many times the narrowest range counts as equal to it."""
HOUR_WORTH = 10
"""What an hour of waiting is worth unless the question says otherwise, in US dollars."""
CHEAP_HOUR = 0.1
"""The share of what an hour is worth below which an hour saved is cheap: the balanced pick is named first then."""
A_WAIT = 0.25  # hours: shorter ones are no reason to pay more
MOST_IN_TIME = 2
"""How many times the cheapest the balanced pick may cost to be named first because it is surer to end in time."""
SELDOM = 0.15
"""How likely an estimate may exceed a limit of the question and still count as within it."""
PickName = Literal["cheapest", "fastest", "balanced", "surest"]
Requirement = Literal["runs_here", "rentable", "confirmed", "in_stock"]
REQUIREMENTS: tuple[Requirement, ...] = get_args(Requirement)
"""What picks should meet, the most important first: public code runs there, anybody can rent it for this run alone, somebody
vouches for its rate, and its provider did not say that none is left."""


class Pickable(NamedTuple):
    """Which estimates picks may come from, and which requirements these miss because no estimate meets all."""

    flags: Flags
    missed: tuple[Requirement, ...]


def pickable(meets: Sequence[Flags]) -> Pickable:
    """The estimates that meet every requirement; `meets` has flags for each of REQUIREMENTS. If none meets all, the least
    important are given up first."""
    for kept in product((True, False), repeat=len(REQUIREMENTS)):
        flags = np.ones_like(meets[0])
        for each in compress(meets, kept):
            flags &= each
        if flags.any():
            return Pickable(flags, tuple(compress(REQUIREMENTS, np.logical_not(kept))))
    return Pickable(np.zeros_like(meets[0]), ())
