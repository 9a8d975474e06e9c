"""Whether verdicts are right about limits: of every held-out result `it takes longer than 8 h in 3 of 10 cases` is said, with the
limit of which that would be said, and compared with how often it did."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from costcalc.units import UPPER, chance_above
from science.validation.convergence.own_runs import Reliability
from science.validation.scores import Case

TENTHS = (1, 2, 3, 4, 5)
"""Said of ten cases: an estimate in the answer ends within the limit by its middle, so no verdict says more."""


def limits_exceeded(cases: Sequence[Case]) -> tuple[Reliability, ...]:
    """By how often it is said, how often the true time was longer, of the cases that bring half-widths, first that of 80 %."""
    ranged = [case for case in cases if case.half_widths]
    return tuple(_exceeded(ranged, tenths) for tenths in TENTHS) if ranged else ()


def _exceeded(cases: Sequence[Case], tenths: int) -> Reliability:
    widths = np.array([case.half_widths[0] for case in cases])
    limits = widths * NormalDist().inv_cdf(1 - tenths / 10) / UPPER
    said = [chance_above(math.exp(limit), 1, math.exp(width)) for limit, width in zip(limits, widths, strict=True)]
    longer = -np.array([case.error for case in cases]) > limits  # ln(true / predicted)
    return Reliability(len(cases), float(np.mean(said)), float(longer.mean()))
