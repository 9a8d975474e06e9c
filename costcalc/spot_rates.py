"""How far spot rates move until a run ends, by generation of accelerator: what Google's lists of 2023 to 2026 show.

No other cloud's rates are known from week to week. Where they follow bids or hours, a range has no basis, and the widest that is
known stands for it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from math import exp, hypot, log
from typing import NamedTuple

import numpy as np

from costcalc.offer import Offer, PurchaseOption
from costcalc.units import HOURS_PER_DAY, Floats

DAYS = (0, 14, 30, 90, 180, 365)


class Moves(NamedTuple):
    """How far four in five rates fell and rose at most, in ln, after each of DAYS; a tenth fell further."""

    fall: tuple[float, ...]
    rise: tuple[float, ...]

    def after(self, days: Floats) -> tuple[Floats, Floats]:
        """Both ends after these numbers of days, at most a year."""
        return np.interp(days, DAYS, self.fall), np.interp(days, DAYS, self.rise)

    def after_days(self, days: float) -> Width:
        """Both ends after one number of days."""
        at = min(bisect_right(DAYS, days), len(DAYS) - 1) - 1
        beyond, step = min(days, DAYS[-1]) - DAYS[at], DAYS[at + 1] - DAYS[at]
        return Width(*((ends[at + 1] - ends[at]) / step * beyond + ends[at] for ends in self))


class Width(NamedTuple):
    """How far below and above the rate that was seen one offer may be paid, in ln."""

    fall: float
    rise: float


STEADY = Width(0.0, 0.0)
GOOGLE_S: Mapping[str, Moves] = {
    "A100": Moves(fall=(0.0, 0.0, 0.001, 0.123, 0.145, 0.556), rise=(0.0, 0.022, 0.095, 0.246, 0.29, 0.363)),
    "H100": Moves(fall=(0.0, 0.001, 0.049, 0.434, 0.796, 1.163), rise=(0.0, 0.051, 0.143, 0.339, 0.626, 0.727)),
    "L4": Moves(fall=(0.0, 0.0, 0.0, 0.123, 0.145, 0.556), rise=(0.0, 0.049, 0.097, 0.246, 0.29, 0.363)),
}
"""`python -m science.fitting.spot_rates` learns them from 46 series; newer years weigh more."""
GENERATIONS = {"A100-40GB": "A100", "A100-80GB": "A100", "L4": "L4", "H100": "H100", "H200": "H100"}
WIDEST = "H100"


def generation(provider: str, accelerator: str) -> str | None:
    """The generation whose moves are known of a provider's spot rates; None if the range has no basis."""
    return GENERATIONS.get(accelerator) if provider == "gcp" else None


def moves(provider: str, accelerator: str) -> Moves:
    """How far such spot rates move: as far as the widest known ones if there is no basis."""
    return GOOGLE_S[generation(provider, accelerator) or WIDEST]


def width(offer: Offer, age_days: float, hours: float) -> Width:
    """The moves of an offer seen so many days before a run of these hours starts; none unless it is spot."""
    if offer.purchase_option is not PurchaseOption.SPOT:
        return STEADY
    return moves(offer.provider, offer.machine.accelerator).after_days(age_days + hours / HOURS_PER_DAY)


def factors(moved: Width, hours: float, low: float, high: float) -> tuple[float, float]:
    """The factors on a rate that moves so, at the low and the high end of the 80 % interval of these hours."""
    return 1 / _beyond(hours / low, moved.fall), _beyond(high / hours, moved.rise)


def _beyond(ratio: float, moved: float) -> float:
    """The factor beyond that of the hours. Hours and rate are independent: their widths in ln add in quadrature."""
    own = abs(log(ratio))
    return exp(hypot(own, moved) - own)
