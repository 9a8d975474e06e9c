"""How often a range of spot rates held what was paid later, the region left out that it is asked about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scipy.stats import binomtest

from costcalc.spot_rates import DAYS
from science.fitting.spot_rates import Move, Series, learned, moves

SCORED_DAYS = (14, 30, 90, 180)
TINY = 1e-3  # in ln: ranges are rounded to it


@dataclass(frozen=True, slots=True)
class SpotCoverage:
    """The shares of rates inside their 80 % range after so many days, below it and above; `low` and `high` are the exact 95 %
    binomial interval of the first. Rates of all regions in one stretch of time move together, and count once (`stretches`)."""

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
    """By number of days: of all generations, then of each."""
    found = []
    for days in SCORED_DAYS:
        by_generation = {name: list(_held_out(known, name, days)) for name in sorted({one.generation for one in known})}
        together = [one for held in by_generation.values() for one in held]
        found.append(_coverage("all", days, together))
        found += [_coverage(name, days, held) for name, held in by_generation.items()]
    return tuple(found)


def _held_out(known: Sequence[Series], generation: str, days: int) -> Iterator[tuple[Move, int]]:
    """The moves of one stretch of time after another, and -1 below the range of all other regions, 0 inside it, 1 above."""
    own = [series for series in known if series.generation == generation]
    for region in sorted({series.region for series in own}):
        others = learned([series for series in own if series.region != region], (days,))[generation]
        fall, rise = others.fall[DAYS.index(days)], others.rise[DAYS.index(days)]
        for move in (move for series in own if series.region == region for move in moves(series, days, days)):
            yield move, (move.ln > rise + TINY) - (move.ln < -fall - TINY)


def _coverage(generation: str, days: int, held: Sequence[tuple[Move, int]]) -> SpotCoverage:
    inside, below, above = (sum(side == each for _, side in held) / len(held) for each in (0, -1, 1))
    stretches = len({move.day // days for move, _ in held})
    share = binomtest(round(inside * stretches), stretches).proportion_ci(0.95, method="exact")
    return SpotCoverage(generation, days, inside, below, above, float(share.low), float(share.high), stretches)
