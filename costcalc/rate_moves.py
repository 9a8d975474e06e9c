"""How far rates move after they were seen, by who asks them and how they are bought, as the book of prices shows.

Spot rates are known from week to week at Google alone. Where nobody has recorded how rates move, the widest moves known stand for
them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from datetime import datetime
from math import exp, hypot, log
from typing import NamedTuple

import numpy as np
from msgspec import Struct, field

from costcalc.offer import YOURS, Offer, PurchaseOption
from costcalc.units import Floats

HYPERSCALER, OTHER_CLOUD = "hyperscaler", "other"
HYPERSCALERS = frozenset({"alibaba", "aws", "azure", "gcp", "oci"})
GENERATIONS = {"A100-40GB": "A100", "A100-80GB": "A100", "L4": "L4", "H100": "H100", "H200": "H100"}
WIDEST = "H100"


class Width(NamedTuple):
    """How far below and above the rate that was seen one offer may be paid, in ln."""

    fall: float
    rise: float


class Moves(NamedTuple):
    """How far four in five rates fell and rose at most, in ln, so many `days` after they were seen; a tenth fell further.
    `expected` is the change on average. Beyond the last of the days, as after that one."""

    days: tuple[int, ...]
    fall: tuple[float, ...]
    expected: tuple[float, ...]
    rise: tuple[float, ...]

    def after(self, days: Floats) -> tuple[Floats, Floats]:
        """Both ends after these numbers of days."""
        return np.interp(days, self.days, self.fall), np.interp(days, self.days, self.rise)

    def after_days(self, days: float) -> Width:
        """Both ends after one number of days."""
        at, after, share = self._between(days)
        fall, rise = self.fall, self.rise
        return Width(fall[at] + (fall[after] - fall[at]) * share, rise[at] + (rise[after] - rise[at]) * share)

    def expected_after(self, days: float) -> float:
        """The change on average after one number of days, in ln."""
        at, after, share = self._between(days)
        return self.expected[at] + (self.expected[after] - self.expected[at]) * share

    def _between(self, days: float) -> tuple[int, int, float]:
        """Between which of the known days a number of days lies, and how far: `np.interp` in a tenth of its time."""
        known = self.days
        if days >= known[-1]:
            return -1, -1, 0.0
        at = bisect_right(known, days) - 1
        return at, at + 1, (days - known[at]) / (known[at + 1] - known[at])


STILL = Moves((0,), (0.0,), (0.0,), (0.0,))
Moving = tuple[str, str, str]
"""Whose rates move alike: the class of provider, the purchase option, and the generation of accelerator of spot rates, else
empty."""
Mover = tuple[str, str]
"""The class of a provider, and the generation by whose spot rates its own move."""


class RateMoves(Struct, frozen=True):
    """What is known of the moves of rates, and the moment since when they were like this. Of earlier days only the moves of spot
    rates are known."""

    known: Mapping[Moving, Moves] = field(default_factory=dict)
    since: datetime | None = None

    def at(self, as_of: datetime) -> RateMoves:
        """What is known of moves at a moment."""
        if self.since is None or as_of >= self.since:
            return self
        return RateMoves({name: moves for name, moves in self.known.items() if name[1] == PurchaseOption.SPOT})

    def of(self, provider: str, option: PurchaseOption, accelerator: str) -> Moves:
        """How such rates move. Fees of terms and months stay, unless they are known to move."""
        return self.of_mover(mover(provider, accelerator), option)

    def of_mover(self, asked_by: Mover, option: PurchaseOption) -> Moves:
        """The same of what is rented from one of these."""
        cloud, spot = asked_by
        name = (HYPERSCALER, option, spot) if option is PurchaseOption.SPOT else (cloud, option, "")
        return self.known.get(name, STILL)

    def of_offer(self, offer: Offer) -> Moves:
        """How the rate of an offer moves: not at all where the asker stated it."""
        return (
            STILL if YOURS in offer.flags else self.of(offer.provider, offer.purchase_option, offer.machine.accelerator)
        )


NONE_KNOWN = RateMoves()


def mover(provider: str, accelerator: str) -> Mover:
    """Whose rates those of a provider's machines with such accelerators are like."""
    return HYPERSCALER if is_hyperscaler(provider) else OTHER_CLOUD, generation(provider, accelerator) or WIDEST


def is_hyperscaler(provider: str) -> bool:
    """Whether a provider is one of the largest clouds."""
    return provider in HYPERSCALERS


def generation(provider: str, accelerator: str) -> str | None:
    """The generation whose moves are known of a provider's spot rates; None if the range has no basis."""
    return GENERATIONS.get(accelerator) if provider == "gcp" else None


def factors(moved: Width, hours: float, low: float, high: float) -> tuple[float, float]:
    """The factors on a rate that moves so, at the low and the high end of the 80 % interval of these hours, beyond those of the
    hours. Hours and rate are independent: their widths in ln add in quadrature."""
    sooner, later = abs(log(hours / low)), abs(log(high / hours))
    return 1 / exp(hypot(sooner, moved.fall) - sooner), exp(hypot(later, moved.rise) - later)
