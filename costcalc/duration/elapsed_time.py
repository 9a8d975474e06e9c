"""From training time to elapsed time: evaluations, warm-up and the slow first epoch."""

from __future__ import annotations

import numpy as np

from costcalc.units import Floats

POWERS = np.arange(0.3, 1.01, 0.05)
FACTORS = np.exp(np.arange(-5.0, 1.5, 0.1))


def fit_wall(train_seconds: Floats, wall_seconds: Floats) -> tuple[float, float]:
    """(a, p) of wall = t + a t^p with the least absolute error in ln(wall), by search over a grid."""
    best = (np.inf, 0.0, 1.0)
    for power in POWERS:
        modelled = train_seconds + FACTORS[:, None] * train_seconds**power
        errors = np.abs(np.log(modelled / wall_seconds)).mean(axis=1)
        place = int(errors.argmin())
        if errors[place] < best[0]:
            best = (float(errors[place]), float(FACTORS[place]), float(power))
    return best[1], best[2]


def wall(train_seconds: float, law: tuple[float, float]) -> float:
    """Elapsed seconds of a run that trains for so long."""
    factor, power = law
    return float(train_seconds + factor * train_seconds**power)
