"""Picks: the few estimates to act on, and which estimates they may come from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, product
from operator import not_
from typing import Literal, NamedTuple, get_args

SURE = 0.95
"""The least probability of reaching the target with which an estimate can be the surest."""
MOST_FOR_SURE = 5
"""How many times the least cost the surest may cost: beyond that, doubts about the cheapest cost less."""
MOST_TO_START = 1.5
"""How many times the least cost the cheapest may cost for being known to start as it is."""
BALANCED_TO_START = 2
"""How many times the least cost and hours together the balanced may take for it."""
AS_NARROW = 1.02
"""How many times the narrowest range counts as equal to it."""
HOUR_WORTH = 10
"""What an hour of waiting is worth unless the question says otherwise, in US dollars."""
CHEAP_HOUR = 0.1
"""The share of what an hour is worth below which an hour saved is cheap: the balanced pick is named first then."""
A_WAIT = 0.25  # hours: shorter ones are no reason to pay more
SAFE = 0.7
"""The share of runs that stays below the figures by which the cheapest and the balanced are compared."""
MOST_DOUBTED = 2
"""How many times their middles these figures are at most."""
TOO_MUCH = 4
"""How many times more a run counts that exceeds a limit of the question: nobody keeps one by the toss of a coin."""
SELDOM = 0.15
"""How likely an estimate may exceed a limit of the question without a word about it."""
PickName = Literal["cheapest", "fastest", "balanced", "surest"]
Requirement = Literal["recipe", "runs_here", "rentable", "vouched", "confirmed", "in_stock"]
REQUIREMENTS: tuple[Requirement, ...] = get_args(Requirement)
"""What picks should meet, the most important first: a recipe among which `recipes=best` chooses, public code that runs there,
anybody can rent it for this run alone, somebody vouches for its rate, which is fresh, too, and its provider did not say that none
is left."""


RECIPE, RUNS, RENTABLE, VOUCHED, CONFIRMED, IN_STOCK, MOVING = (1 << bit for bit in range(7))
"""The marks of estimates: one for each requirement that they meet, and of spot and capacity blocks."""
OF_TIMES = RECIPE | RUNS
"""Those that training times have, the others being of offers."""
MARKS = 2 * MOVING


class Needed(NamedTuple):
    """The marks that an estimate needs to be a pick, and which requirements were given up because no estimate meets all."""

    marks: int
    missed: tuple[Requirement, ...]


def needed(counts: Sequence[int]) -> Needed:
    """What picks need, by how many estimates have each combination of marks. If none meets every requirement, the least important
    are given up first."""
    known = [marks for marks, number in enumerate(counts) if number]
    for kept in product((True, False), repeat=len(REQUIREMENTS)):
        marks = sum(compress((RECIPE, RUNS, RENTABLE, VOUCHED, CONFIRMED, IN_STOCK), kept))
        if any(each & marks == marks for each in known):
            return Needed(marks, tuple(compress(REQUIREMENTS, map(not_, kept))))
    return Needed(0, ())
