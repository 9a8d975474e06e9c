"""How often a range of spot rates held what was paid later: in a region left out, and after a day up to which it was fitted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log

from costcalc.rate_moves import Moves
from science.fitting.spot_rates import DAYS, Move, Series, learned, moves

SCORED_DAYS = (14, 30, 90, 180)
TINY = 1e-3  # in ln: ranges are rounded to it
LEFT_OUT, AHEAD = "regions left out", "fitted until then"
LEAST_DAYS_KNOWN, LEAST_DAYS_APART = 180, 30  # of a day from which the score looks ahead
Held = tuple[Move, int]  # a move, and -1 below the range, 0 inside it, 1 above


@dataclass(frozen=True, slots=True)
class SpotCoverage:
    """The shares of rates inside their 80 % range after so many days, below it and above; `low` and `high` are the exact 95 %
    binomial interval of the first. Rates of all regions in one stretch of time move together, and count once (`stretches`)."""

    what: str
    generation: str
    days: int
    inside: float
    below: float
    above: float
    low: float
    high: float
    stretches: int

    @property
    def good(self) -> bool:
        """Whether four fifths lie in the binomial interval."""
        return self.low <= 0.8 <= self.high


def spot_coverage(known: Sequence[Series]) -> tuple[SpotCoverage, ...]:
    """By what the range was fitted to and by number of days: of all generations, then of each."""
    generations = sorted({one.generation for one in known})
    found = []
    for what, score in ((LEFT_OUT, _left_out), (AHEAD, _ahead)):
        for days in SCORED_DAYS:
            by_generation = {name: list(score(known, name, days)) for name in generations}
            together = [one for held in by_generation.values() for one in held]
            found.append(_coverage(what, "all", days, together))
            found += [_coverage(what, name, days, held) for name, held in by_generation.items()]
    return tuple(found)


def _left_out(known: Sequence[Series], generation: str, days: int) -> Iterator[Held]:
    """The moves of one stretch of time after another, by the range of all other regions."""
    own = [series for series in known if series.generation == generation]
    for region in sorted({series.region for series in own}):
        others = learned([series for series in known if series.region != region], (days,))[generation]
        for move in (move for series in own if series.region == region for move in moves(series, days, days)):
            yield move, _side(move, others, days)


def _ahead(known: Sequence[Series], generation: str, days: int) -> Iterator[Held]:
    """The moves from one day after another, by the range of what was known on that day."""
    own = [series for series in known if series.generation == generation]
    first, last = min(series.days[0] for series in own), max(series.days[-1] for series in own)
    for day in range(first + max(2 * days, LEAST_DAYS_KNOWN), last - days + 1, max(days, LEAST_DAYS_APART)):
        then = learned([series.until(day) for series in known if series.days[0] <= day - days], (days,))[generation]
        for series in (series for series in own if series.days[0] <= day <= series.days[-1] - days):
            move = Move(day, log(series.at(day + days) / series.at(day)))
            yield move, _side(move, then, days)


def _side(move: Move, ends: Moves, days: int) -> int:
    fall, rise = ends.fall[DAYS.index(days)], ends.rise[DAYS.index(days)]
    return (move.ln > rise + TINY) - (move.ln < -fall - TINY)


def _coverage(what: str, generation: str, days: int, held: Sequence[Held]) -> SpotCoverage:
    from scipy.stats import binomtest

    inside, below, above = (sum(side == each for _, side in held) / len(held) for each in (0, -1, 1))
    stretches = len({move.day // days for move, _ in held})
    share = binomtest(round(inside * stretches), stretches).proportion_ci(0.95, method="exact")
    return SpotCoverage(what, generation, days, inside, below, above, float(share.low), float(share.high), stretches)
