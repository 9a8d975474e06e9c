"""How far a listed spot rate moves before the bill comes: the part of a cost's interval that its hours do not hold."""

from __future__ import annotations

from decimal import Decimal
from math import exp, hypot, log

from costcalc.offers import PurchaseOption

SPOT_RATE_WIDTH = 0.17
"""ln half-width at 80 %: of the 300 pairs of successive spot rates that Google listed for one machine in one region, at most a
year apart (2023 to 2025, in the packaged price table), 80 % differ by 0.166 or less in ln."""


def rate_moves(option: PurchaseOption, low: Decimal, hours: Decimal, high: Decimal) -> tuple[Decimal, Decimal]:
    """What the rate is multiplied with at the low and the high end of the 80 % interval of these hours; 1 unless it is spot."""
    if option is not PurchaseOption.SPOT:
        return Decimal(1), Decimal(1)
    return 1 / _beyond(hours / low), _beyond(high / hours)


def _beyond(apart: Decimal) -> Decimal:
    """Hours and rate are independent, so that their half-widths in ln add in quadrature: the factor beyond that of the hours."""
    own = abs(log(apart))
    return Decimal(repr(exp(hypot(own, SPOT_RATE_WIDTH) - own)))
