"""A Gaussian process with noise of long tails: what a smooth law says between and beyond what was measured, and how surely.

Rasmussen and Williams 2006, Gaussian Processes for Machine Learning, chapter 2. The noise is Student's, of which each row's
variance is reckoned in turns: rows far off the rest count for less (Tipping and Lawrence 2005).
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from costcalc.units import Floats

FREEDOM = 1.0  # of the noise: many a result lies far off what others took on such a system
TURNS = 6
JITTER = 1e-9


class Posterior(Struct, frozen=True, eq=False):
    """What N measured values tell: `weights` [N] times the covariances with another value are its mean, beside the prior's."""

    weights: Floats
    factor: Floats

    @classmethod
    def of(cls, covariance: Floats, values: Floats, noise: Floats) -> Posterior:
        """The posterior of values [N], less their prior mean, with this covariance [N, N] and these variances of noise [N]."""
        factor = np.linalg.cholesky(covariance + np.diag(weighted_noise(covariance, values, noise) + JITTER))
        return cls(np.linalg.solve(factor.T, np.linalg.solve(factor, values)), np.asarray(factor, float))

    def mean(self, covariance: Floats) -> Floats:
        """The means [M] of other values, less their prior mean, from their covariances with the measured ones [M, N]."""
        return np.asarray(covariance @ self.weights)

    def variance(self, covariance: Floats, own: Floats) -> Floats:
        """The variances of other values [M]; `own` are those before anything was measured [M]."""
        explained = np.linalg.solve(self.factor, covariance.T)
        return np.asarray(np.maximum(own - (explained**2).sum(axis=0), 0.0))


def weighted_noise(covariance: Floats, values: Floats, noise: Floats, freedom: float = FREEDOM) -> Floats:
    """The variance of noise [N] that each value is taken to have: larger for one far off what the others say."""
    scale = np.ones(len(values))
    for _ in range(TURNS):
        variance = noise / scale
        inverse = np.linalg.inv(covariance + np.diag(variance + JITTER))
        left = variance * (inverse @ values)
        spread = variance - variance**2 * np.diag(inverse)
        scale = (freedom + 1) / (freedom + (left**2 + spread) / noise)
    return np.asarray(noise / scale)
