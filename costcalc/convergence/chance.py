"""Chance: what another run of the same recipe would have ended at, and what that does to reaching a target."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from costcalc.training import Metric
from costcalc.units import Floats

SEED_SIGMA = {Metric.TOP1: 0.0011, Metric.TOP5: 0.0007}
"""Standard deviation of end accuracy from run to run, on the one recipe whose many seeds were published (MLPerf LARS:
410 runs of 83 systems); top-5 by the ratio of the two metrics' scatter on plateaus. Double it for any other recipe."""
INTERPOLATION_SIGMA = {Metric.TOP1: 0.0009, Metric.TOP5: 0.0009}
"""Standard error of the end accuracy of a schedule between measured lengths, left out one at a time (FFCV ResNet-18)."""
EVALUATION_SIGMA = {Metric.TOP1: 0.00094, Metric.TOP5: 0.00056}
"""Standard deviation from one evaluation to the next on a plateau of the learning rate, median of 16 DAWNBench logs."""

STOPPED_SHARE = 0.95
"""Share of runs that reach the target at which they stop (1,177 of the 1,239 LARS runs to 75.9 % in MLPerf's logs)."""


def success_probability(end_accuracy: Floats, target: float, sigma: Floats, runs: Floats) -> Floats:
    """The chance that a new run ends at or above the target: normal seed noise about an end accuracy known from `runs` runs.

    P = Phi((A_end - t) / (sigma sqrt(1 + 1/runs))). A NaN end accuracy gives 0.
    """
    margins = (end_accuracy - target) / (sigma * np.sqrt(1 + 1 / runs) * math.sqrt(2))
    return np.array([math.erfc(-margin) / 2 for margin in np.nan_to_num(margins, nan=-np.inf).tolist()])


def target_shift(metric: Metric, sigma: Floats, runs: Floats, level: float) -> Floats:
    """How far around a target the crossings of the published curves bound those of other runs at this level.

    Another run's curve lies above or below the published one by seed and evaluation noise, so where it crosses the target the
    published curve crosses the target shifted by as much. A crossing that does not exist counts as a miss, not as a time.
    """
    spread = np.hypot(sigma * np.sqrt(1 + 1 / runs), EVALUATION_SIGMA[metric])
    return np.asarray(NormalDist().inv_cdf((1 + level) / 2) * spread)
