"""How far rates move by who asks them, how they are bought and how long ago they were seen.

`python -m science.fitting.rate_moves` writes `rate_moves.csv` of the packaged prices. Google's spot rates are learned from lists
of every week (`science.fitting.spot_rates`), all others from each two days on which somebody saw the same offer.
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from io import StringIO
from math import log, sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np

from costcalc.offer import ENDED, Offer, PurchaseOption
from costcalc.rate_moves import HYPERSCALER, HYPERSCALERS, OTHER_CLOUD, Moves, Moving
from pricing.packaged.offers import read_packaged
from pricing.packaged.rate_moves import RATE_MOVES
from pricing.packaged.tables import packaged_folder
from science.fitting.spot_rates import BEYOND, LEAST_OF_OTHER_END, listed_series
from science.fitting.spot_rates import learned as learned_of_spot
from science.fitting.spot_rates import moved as moved_on_spot

DAYS = (0, 30, 60, 120, 180, 365)
SHORTEST, LONGEST = 21, 518  # days of a move that is learned from: those between lists a day apart are mostly none
DRIFT_DAYS = 180  # the half-life of a move, and the days up to which rates are expected to drift on
FEWEST = 20  # moves


class Seen(NamedTuple):
    """The rates of one offer by day, as ordinals."""

    provider: str
    option: PurchaseOption
    accelerator: str
    days: tuple[int, ...]
    rates: tuple[float, ...]

    @property
    def moving(self) -> Moving:
        """Whose rates these move like."""
        return HYPERSCALER if self.provider in HYPERSCALERS else OTHER_CLOUD, self.option, ""

    def until(self, day: int) -> Seen:
        """What was seen by a day."""
        known = [(on, rate) for on, rate in zip(self.days, self.rates, strict=True) if on <= day]
        days, rates = zip(*known, strict=True) if known else ((), ())
        return self._replace(days=days, rates=rates)


class Move(NamedTuple):
    """ln of a rate over the one that was seen so many days before; `day` is the later one. Rates of one provider for one kind of
    accelerator (`of`) move together, and count as one."""

    of: tuple[str, str]
    day: int
    days: int
    ln: float


class Learned(NamedTuple):
    """How some rates move, and from how many moves of how many providers that is learned."""

    moves: Moves
    n: int
    providers: int


def seen_rates(offers: Iterable[Offer]) -> tuple[Seen, ...]:
    """The rates of each offer that was seen more than once, spot apart."""
    known: dict[tuple[str, ...], dict[int, Offer]] = defaultdict(dict)
    for offer in offers:
        if offer.hourly_rate and ENDED not in offer.flags and offer.purchase_option is not PurchaseOption.SPOT:
            known[*offer.key, offer.currency][offer.observed_at.toordinal()] = offer
    return tuple(_seen(by_day) for by_day in known.values() if len(by_day) > 1)


def _seen(by_day: Mapping[int, Offer]) -> Seen:
    days = tuple(sorted(by_day))
    offer, rates = by_day[days[0]], tuple(float(by_day[day].hourly_rate) for day in days)
    return Seen(offer.provider, offer.purchase_option, offer.machine.accelerator, days, rates)


def moves(seen: Seen) -> Iterator[Move]:
    """Those between each two sightings of an offer."""
    for nth, (first, rate) in enumerate(zip(seen.days, seen.rates, strict=True)):
        for day, later in zip(seen.days[nth + 1 :], seen.rates[nth + 1 :], strict=True):
            yield Move((seen.provider, seen.accelerator), day, day - first, log(later / rate))


def learned(known: Iterable[Seen], today: int) -> dict[Moving, Learned]:
    """How rates of each class and kind of purchase move, newer moves weighing more, of those with enough of them."""
    by_kind: dict[Moving, list[Move]] = defaultdict(list)
    for seen in known:
        by_kind[seen.moving] += moves(seen)
    return {kind: _learned(found, today) for kind, found in sorted(by_kind.items()) if len(found) >= FEWEST}


def _learned(found: Sequence[Move], today: int) -> Learned:
    """The ends for every age from all moves at once: like those of a random walk they grow with the root of the days."""
    used = [move for move in found if SHORTEST <= move.days <= LONGEST] or found
    fall, rise = _ends([move._replace(ln=move.ln / sqrt(move.days)) for move in used], today)
    drift = _drift([move for move in found if max(move.days, today - move.day) <= DRIFT_DAYS], today)
    after = [(days, round(fall * sqrt(days), 3), round(rise * sqrt(days), 3)) for days in DAYS]
    expected = (round(min(max(drift * min(days, DRIFT_DAYS), -down), up), 3) for days, down, up in after)
    days, falls, rises = zip(*after, strict=True)
    return Learned(Moves(days, falls, tuple(expected), rises), len(used), len({move.of[0] for move in used}))


def _ends(found: Collection[Move], today: int) -> tuple[float, float]:
    """How far down and up moves went that a tenth went beyond on either side. Rates that fell for a while rose as far when
    the market turned, in the spring of 2026: the upper end is at least the lower one, and that at least half of it."""
    order = sorted(found, key=lambda move: move.ln)
    share = np.cumsum(_weights(order, today))
    low, high = (order[int(np.searchsorted(share, part * share[-1]))].ln for part in (BEYOND, 1 - BEYOND))
    fall, rise = max(0.0, -low), max(0.0, high)
    return max(fall, LEAST_OF_OTHER_END * rise), max(rise, fall)


def _drift(found: Sequence[Move], today: int) -> float:
    """The change a day on average, in ln; 0 where there are too few moves to say."""
    if len(found) < FEWEST:
        return 0.0
    weights = np.array(_weights(found, today))
    return float(weights @ [move.ln for move in found] / (weights @ [move.days for move in found]))


def _weights(found: Sequence[Move], today: int) -> list[float]:
    together = Counter(move.of for move in found)
    return [0.5 ** ((today - move.day) / DRIFT_DAYS) / together[move.of] for move in found]


def of_spot() -> dict[Moving, Learned]:
    """How Google's spot rates move, by generation."""
    series = listed_series()
    found = {}
    for name, known in learned_of_spot(series).items():
        own = [one for one in series if one.generation == name]
        n = sum(len(list(moved_on_spot(own, days))) for days in known.days[1:])
        found[HYPERSCALER, PurchaseOption.SPOT.value, name] = Learned(known, n, 1)
    return found


def table(found: Mapping[Moving, Learned], today: date) -> str:
    """The packaged table of what was learned by a day."""
    since, out = today - timedelta(days=DRIFT_DAYS), StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    write(RATE_MOVES.columns)
    for name, (known, n, providers) in sorted(found.items()):
        for days, *figures in zip(known.days[1:], *(end[1:] for end in known[1:]), strict=True):
            write((*name, days, n, providers, *figures, since))
    return out.getvalue()


if __name__ == "__main__":
    offers = read_packaged().offers
    newest = max(offer.observed_at for offer in offers).date()
    text = table(learned(seen_rates(offers), newest.toordinal()) | of_spot(), newest)
    Path(str(packaged_folder() / RATE_MOVES.name)).write_text(text, encoding="utf-8")
