"""How much a user's run would differ if repeated, estimated from its single log."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from costcalc.convergence.curves import isotonic
from costcalc.units import Floats

SEED_PER_EVALUATION = 1.2
"""The standard deviation from run to run for that from one evaluation to the next: 0.0011 and 0.00094 of ImageNet's recipes."""
RISE_SHARE = 0.14
"""From run to run, of the last rise of a log's monotone fit, which hides whatever scatters less than it rises. Of 0.02, 0.04 and
so on the share that predicted best what MLPerf's equal runs had reached after 30, 50, 70 and 100 % of them: 0.14 without NVIDIA's
runs, 0.16 without those of any other organisation, and as good as 0.14 over all."""
LEAST_SHARE = 0.0015
"""Of the way from the worst to the best value: the 0.0011 of ImageNet's recipes, whose accuracies go from 0 to about 0.76."""

ENDS_WIDER = 1.26
"""How many times as wide as these deviations say is the range in which another run ends: 8 in 10 of MLPerf's equal runs lie in it
after 30, 50 and 70 % of them, each organisation and each share counting once. Without any one organisation 1.22 to 1.29."""


def evaluation_sigma(values: Sequence[float]) -> float:
    """The standard deviation of a log's later half about its own monotone fit, and no less than such a fit may hide, nor than
    LEAST_SHARE of its way.

    `values` are in order of epochs, a loss with its sign changed.
    """
    later = np.asarray(values, float)[len(values) // 2 :]
    scatter = float(np.sqrt(np.mean((later - isotonic(later.tolist())) ** 2)))
    last_rise = float(np.ptp(isotonic(values)[-2:]))
    way = (max(values) - min(values)) or abs(values[-1]) or 1.0  # of a single value, from 0
    return max(scatter, RISE_SHARE * last_rise / SEED_PER_EVALUATION, LEAST_SHARE * way / SEED_PER_EVALUATION)


def seed_sigma(evaluation_sigmas: Floats) -> Floats:
    """The standard deviation of the end from run to run [R]."""
    return np.asarray(SEED_PER_EVALUATION * evaluation_sigmas)
