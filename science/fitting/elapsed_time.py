"""Learns how elapsed time grows with training time: evaluations, warm-up and the slow first epoch."""

from __future__ import annotations

import numpy as np

from costcalc.throughput.fitted_parameters import ElapsedTime
from costcalc.units import Floats

POWERS = np.arange(0.3, 1.01, 0.05)
FACTORS = np.exp(np.arange(-5.0, 1.5, 0.1))


def fit_elapsed_time(train_seconds: Floats, elapsed_seconds: Floats) -> ElapsedTime:
    """The law with the least absolute error in ln(elapsed seconds) over these runs, by search over a grid."""
    best = np.inf, ElapsedTime(0.0, 1.0)
    for power in POWERS:
        modelled = [ElapsedTime(factor, power).seconds(train_seconds) for factor in FACTORS]
        errors = np.abs(np.log(np.array(modelled) / elapsed_seconds)).mean(axis=1)
        place = int(errors.argmin())
        if errors[place] < best[0]:
            best = float(errors[place]), ElapsedTime(float(FACTORS[place]), float(power))
    return best[1]
