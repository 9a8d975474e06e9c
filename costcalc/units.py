"""Kinds of arrays and lengths of time that the whole engine speaks of."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from math import log
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]

SECONDS_PER_HOUR = 3600
HOURS_PER_DAY = 24
DAYS_PER_WEEK = 7
SECONDS_PER_DAY = HOURS_PER_DAY * SECONDS_PER_HOUR
HOURS_PER_MONTH = 730
"""A twelfth of a year, which most clouds bill as a month; an offer may have its own `hours_in_month`."""
HOURS_PER_YEAR = 8760


def in_words(hours: float) -> str:
    """A time as a person says it: 8.2 s, 12 min, 3.1 h, 5.1 days, 78 days."""
    if hours < 1 / 60:
        return f"{hours * SECONDS_PER_HOUR:.2g} s"
    if hours < 1:
        return f"{hours * 60:.0f} min"
    days = round(hours / HOURS_PER_DAY, 6)
    if days < 3:
        return f"{hours:.1f} h"
    return f"{Decimal(repr(days)).quantize(Decimal('0.1'), ROUND_HALF_UP)} days" if days < 10 else f"{days:,.0f} days"


UPPER = NormalDist().inv_cdf(0.9)
"""The upper end of an 80 % range, in standard deviations above the middle."""


def chance_above(limit: float, middle: float, high: float) -> float:
    """The probability that an amount exceeds a limit, from the middle and the upper end of its 80 % range. Its logarithm is taken
    to be normal."""
    if high <= middle:
        return float(middle > limit)
    return 1 - NormalDist().cdf(log(limit / middle) / log(high / middle) * UPPER)


def stays_below(middle: Floats, high: Floats, share: float) -> Floats:
    """What amounts stay below with this probability, from their middles and the upper ends of their 80 % ranges."""
    wider = np.divide(high, middle, out=np.ones(len(middle)), where=middle > 0)
    return np.asarray(middle * wider ** (NormalDist().inv_cdf(share) / UPPER))


def count_in_words(count: float) -> str:
    """A count as a person says it: 1,200, 50 million, 2 trillion."""
    for scale, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if count >= scale:
            return f"{float(f'{count / scale:.4g}'):g} {word}"
    return f"{count:,.0f}"
