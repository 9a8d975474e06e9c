"""Kinds of arrays and lengths of time that the whole engine speaks of."""

from __future__ import annotations

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
