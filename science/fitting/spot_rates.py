"""What the listed spot rates of a cloud moved by, by generation of accelerator.

A rate counts from the day on which a list first had it. One machine stands for each accelerator in a region, as all sizes move
alike.
"""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import log
from typing import NamedTuple

import numpy as np

from costcalc.offer import PurchaseOption
from costcalc.rate_moves import GENERATIONS, Moves
from costcalc.units import Floats
from pricing.packaged.offers import read_packaged

DAYS = (0, 14, 30, 90, 180, 365)
LISTS = ("Cyclenerd/", "cloudpilot-ai/")  # their lists of Google's rates follow each other by weeks
LEAST_RATES = 6  # of a series
BEYOND = 0.1  # the share of moves below the range, and above it
FEW_STRETCHES, LEAST_OF_OTHER_END = 20, 0.5  # with them ranges of an earlier day hold four fifths of what came
HALF_LIFE_DAYS = 730  # newer moves weigh more


class Series(NamedTuple):
    """The rates of one machine in one region by day, as ordinals."""

    generation: str
    region: str
    days: tuple[int, ...]
    rates: tuple[float, ...]

    def until(self, day: int) -> Series:
        """What was known on a day, which its list still had."""
        listed = bisect(self.days, day)
        return self._replace(days=(*self.days[:listed], day), rates=(*self.rates[:listed], self.at(day)))

    def at(self, day: int) -> float:
        """The rate that was listed on a day."""
        return self.rates[bisect(self.days, day) - 1]


class Move(NamedTuple):
    """ln of a rate over that of so many days before; `day` is the earlier one."""

    day: int
    ln: float


def listed_series() -> tuple[Series, ...]:
    """Google's, as packaged."""
    known: dict[tuple[str, str, str], dict[int, float]] = defaultdict(dict)
    for offer in read_packaged().offers:
        if offer.purchase_option is PurchaseOption.SPOT and offer.source.startswith(LISTS):
            name = (offer.machine.accelerator, offer.region, offer.instance_type)
            known[name][offer.observed_at.date().toordinal()] = float(offer.hourly_rate)
    chosen: dict[tuple[str, str], Series] = {}
    for (accelerator, region, _), rates in sorted(known.items()):
        if accelerator in GENERATIONS and len(rates) >= LEAST_RATES:  # N1 hosts are none of theirs
            series = Series(GENERATIONS[accelerator], region, *zip(*sorted(rates.items()), strict=True))
            chosen.setdefault((accelerator, region), series)
    return tuple(chosen.values())


def moves(series: Series, days: int, every: int = 7) -> Iterator[Move]:
    """Those of a series in so many days, from each of the days that lie so far apart."""
    for start in range(series.days[0], series.days[-1] - days + 1, every):
        yield Move(start, log(series.at(start + days) / series.at(start)))


def learned(known: Sequence[Series], lags: Collection[int] = DAYS[1:]) -> Mapping[str, Moves]:
    """The ranges of each generation, after so many days each; 0 after others."""
    found = {}
    for generation in sorted({series.generation for series in known}):
        own = [series for series in known if series.generation == generation]
        ends = [_ends(own, known, days) if days in lags else (0.0, 0.0) for days in DAYS]
        fall, rise = (tuple(np.round(np.maximum.accumulate(end), 3).tolist()) for end in np.array(ends).T)
        expected = (_mean(list(moved(own, days))) if days in lags else 0.0 for days in DAYS)
        found[generation] = Moves(DAYS, fall, tuple(expected), rise)
    return found


def moved(own: Sequence[Series], days: int) -> Iterator[Move]:
    """The moves of all of these series in so many days."""
    return (move for series in own for move in moves(series, days))


def _mean(found: Sequence[Move]) -> float:
    """The move on average, newer ones weighing more."""
    newest = max(move.day for move in found)
    return round(float(np.average([move.ln for move in found], weights=_weights(found, newest))), 3)


def _weights(found: Sequence[Move], newest: int) -> Sequence[float]:
    return [0.5 ** ((newest - move.day) / HALF_LIFE_DAYS) for move in found]


def _ends(own: Sequence[Series], known: Sequence[Series], days: int) -> tuple[float, float]:
    """How far a generation's rates fell and rose after so many days.

    Few stretches of that length may have moved one way alone: an end is then at least that of all generations together, and
    half of the other end.
    """
    fall, rise = _range(list(moved(own, days)))
    if max(series.days[-1] - series.days[0] for series in own) < FEW_STRETCHES * days:
        together = _range(list(moved(known, days)))
        fall, rise = max(fall, together[0]), max(rise, together[1])
        fall, rise = max(fall, LEAST_OF_OTHER_END * rise), max(rise, LEAST_OF_OTHER_END * fall)
    return fall, rise


def _range(found: Sequence[Move]) -> tuple[float, float]:
    """How far down and up a range reaches that leaves a tenth of the moves below, and holds four fifths and a rate that stays."""
    order = sorted(found, key=lambda move: move.ln)
    moved = [move.ln for move in order]
    share: Floats = np.cumsum(_weights(order, max(move.day for move in found)))
    share /= share[-1]
    low = min(float(moved[np.searchsorted(share, BEYOND)]), 0.0)
    first = int(np.searchsorted(moved, low))
    below = share[first - 1] if first else 0.0
    high = moved[min(np.searchsorted(share, below + 1 - 2 * BEYOND), len(moved) - 1)]
    return abs(low), max(float(high), 0.0)
