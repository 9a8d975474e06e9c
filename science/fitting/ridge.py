"""A robust ridge fit in closed form: every effect has a normal prior, every residual a t-shaped weight, some sums a bound."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from scipy.optimize import nnls
from scipy.sparse import csr_array

from costcalc.throughput.reference_model import Key, Term
from costcalc.units import Flags, Floats, Indices

ROUNDS = 5
EXACT = 1e-8  # variance of a sum that is held at its bound, in units of the priors'; none would make systems singular
TOLERANCE = 1e-6  # by which a sum that is not held may pass its bound


@dataclass(frozen=True, eq=False)
class Fit:
    """The most probable value of every effect, and what it came from: design [rows, effects] in units of the priors' deviations,
    target and the variance given to each row. Sums that came to their bound are rows too, the last ones."""

    effects: dict[Key, float]
    design: Floats
    target: Floats
    variance: Floats

    def left_out(self, groups: Sequence[Hashable]) -> Floats:
        """The residual of each row that has a group when its group's rows, and those alone, are left out of the fit.

        Rasmussen and Williams, Gaussian Processes for Machine Learning, section 5.4.2, for groups instead of single rows.
        """
        inverse = np.linalg.inv(self.design @ self.design.T + np.diag(self.variance))
        pulled, residuals = inverse @ self.target, np.zeros(len(groups))
        members: dict[Hashable, list[int]] = defaultdict(list)
        for row, group in enumerate(groups):
            members[group].append(row)
        for rows in members.values():
            residuals[rows] = np.linalg.solve(inverse[np.ix_(rows, rows)], pulled[rows])
        return residuals


def fit(
    rows: Sequence[Sequence[Term]],
    target: Floats,
    noise: float,
    degrees: float,
    never_positive: Iterable[Sequence[Term]] = (),
) -> Fit:
    """The effects named in the rows' terms (key, value, prior standard deviation).

    `noise` is the standard deviation of the target about its mean, `degrees` those of the t distribution whose weights
    make outliers count less. The terms of each of `never_positive` sum to 0 at most.
    """
    bounded = dict.fromkeys(map(tuple, never_positive))
    names = {key: None for row in rows for key, _, _ in row}
    index = {key: column for column, key in enumerate(names)}
    spread = np.ones(len(index))
    for key, _, deviation in (term for row in rows for term in row):
        spread[index[key]] = deviation
    design = _design((*rows, *bounded), index) * spread
    solution, used, variance = _reweighted(design, target, noise, degrees)
    found = {key: float(solution[column] * spread[column]) for key, column in index.items()}
    return Fit(found, design[used], np.r_[target, np.zeros(used.sum() - len(rows))], variance)


def _design(rows: Sequence[Sequence[Term]], index: dict[Key, int]) -> Floats:
    """Values of the effects [rows, effects]; those of effects that no row of data names are left out."""
    design = np.zeros((len(rows), len(index)))
    for row, many in enumerate(rows):
        for key, value, _ in many:
            if key in index:
                design[row, index[key]] += value
    return design


def _reweighted(design: Floats, target: Floats, noise: float, degrees: float) -> tuple[Floats, Flags, Floats]:
    """The effects, in units of the priors' deviations, the rows in use, and the variances of those in the last round.

    Rows of `design` beyond the target are sums that may not be positive; those in use came to their bound.
    """
    rows, effects = len(target), csr_array(design)  # of which a row has a dozen
    kernel = (effects @ effects.T).toarray()
    weights, pull, variance = np.ones(rows), np.zeros(len(design)), np.full(rows, noise**2)
    for _ in range(ROUNDS):
        variance = noise**2 / weights
        pull = _pulls(kernel, target, variance, np.flatnonzero(pull[rows:]))
        residual = (target - kernel[:rows] @ pull) / noise
        weights = np.minimum(1.0, (degrees + 1) / (degrees + residual**2))
    used = np.r_[np.ones(rows, bool), pull[rows:] < 0]
    return design.T @ pull, used, np.r_[variance, np.full(used.sum() - rows, EXACT)]


def _pulls(kernel: Floats, target: Floats, variance: Floats, held: Indices) -> Floats:
    """How much each row and each bounded sum moves the effects: `design.T` times this are the most probable ones.

    Only sums that would be positive have to be held down; `held` are those to begin with.
    """
    rows = len(target)
    data = cho_factor(kernel[:rows, :rows] + np.diag(variance))
    free, pull = cho_solve(data, target), np.zeros(len(kernel))
    while True:
        across = kernel[:rows, rows + held]
        against = cho_solve(data, across)
        down = _least(across.T @ free, kernel[np.ix_(rows + held, rows + held)] - across.T @ against)
        pull[:rows], pull[rows + held] = free + against @ down, -down
        positive = np.setdiff1d(np.flatnonzero(kernel[rows:] @ pull > TOLERANCE), held)
        if not len(positive):
            return pull
        held = np.r_[held, positive]


def _least(sums: Floats, spread: Floats) -> Floats:
    """What sums of this mean and covariance must be held down by so that none is positive: by as much as it needs to come to 0,
    by nothing where it is negative. The dual of the quadratic programme, which is one of non-negative least squares."""
    if not len(sums):
        return sums
    root = cholesky((spread + spread.T) / 2 + EXACT * np.eye(len(sums)), lower=True)
    return np.asarray(nnls(root.T, solve_triangular(root, sums, lower=True))[0])
