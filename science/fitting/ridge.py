"""A robust ridge fit in closed form: every effect has a normal prior, every residual a t-shaped weight, some sums a bound."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from msgspec import Struct
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.optimize import nnls
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.linalg import splu

from costcalc.throughput.reference_model import Key, Term
from costcalc.units import Flags, Floats, Indices

ROUNDS = 5
EXACT = 1e-8  # variance of a sum that is held at its bound, in units of the priors'; none would make systems singular
TOLERANCE = 1e-6  # by which a sum that is not held may pass its bound


class Fit(Struct, frozen=True, eq=False):
    """The most probable value of every effect, and what it came from: design [rows, effects] in units of the priors' deviations,
    target and the variance given to each row. Sums that came to their bound are rows too, the last ones."""

    effects: dict[Key, float]
    design: csr_array
    target: Floats
    variance: Floats

    def left_out(self, groups: Sequence[Hashable]) -> Floats:
        """The residual of each row that has a group when its group's rows, and those alone, are left out of the fit.

        Rasmussen and Williams, Gaussian Processes for Machine Learning, section 5.4.2, for groups instead of single rows.
        """
        root, _ = dpotrf(((self.design @ self.design.T).toarray() + np.diag(self.variance)), lower=True)
        lower = np.tril(dpotri(root, lower=True)[0])
        inverse = np.asarray(lower + np.tril(lower, -1).T)
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
    design = _design((*rows, *bounded), index, spread)
    solution, used, variance = _reweighted(design, target, noise, degrees)
    found = {key: float(solution[column] * spread[column]) for key, column in index.items()}
    return Fit(found, design[used], np.r_[target, np.zeros(used.sum() - len(rows))], variance)


def _design(rows: Sequence[Sequence[Term]], index: dict[Key, int], spread: Floats) -> csr_array:
    """Values of the effects [rows, effects] in units of `spread`; those of effects that no row of data names are left out."""
    found = [(row, index[key], value) for row, many in enumerate(rows) for key, value, _ in many if key in index]
    places, columns, values = (np.array(each) for each in zip(*found, strict=True))
    return csr_array((values * spread[columns], (places, columns)), (len(rows), len(index)))


def _reweighted(design: csr_array, target: Floats, noise: float, degrees: float) -> tuple[Floats, Flags, Floats]:
    """The effects, in units of the priors' deviations, the rows in use, and the variances of those in the last round.

    Rows of `design` beyond the target are sums that may not be positive; those in use came to their bound.
    """
    rows = len(target)
    measured, sums = design[:rows], design[rows:]
    effects, down, variance = np.zeros(design.shape[1]), np.zeros(sums.shape[0]), np.full(rows, noise**2)
    for _ in range(ROUNDS):
        effects, down = _most_probable(measured, target, variance, sums, np.flatnonzero(down))
        weights = np.minimum(1.0, (degrees + 1) / (degrees + ((target - measured @ effects) / noise) ** 2))
        used, last = np.r_[np.ones(rows, bool), down > 0], variance
        variance = noise**2 / weights
    return effects, used, np.r_[last, np.full(used.sum() - rows, EXACT)]


def _most_probable(
    measured: csr_array, target: Floats, variance: Floats, sums: csr_array, held: Indices
) -> tuple[Floats, Floats]:
    """The most probable effects, and by how much each bounded sum had to be held down.

    Only sums that would be positive have to be; `held` are those to begin with.
    """
    weighted = measured.T.multiply(1 / variance).tocsr()
    both = csc_array(eye_array(measured.shape[1]) + weighted @ measured)
    precision = splu(
        both, "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )  # it needs no pivots
    free, down = precision.solve(weighted @ target), np.zeros(sums.shape[0])
    against = precision.solve(sums[held].T.toarray())
    while True:
        down[held] = _least(sums[held] @ free, sums[held] @ against)
        effects = free - against @ down[held]
        positive = np.setdiff1d(np.flatnonzero(sums @ effects > TOLERANCE), held)
        if not len(positive):
            return effects, down
        held = np.r_[held, positive]
        against = np.c_[against, precision.solve(sums[positive].T.toarray())]


def _least(sums: Floats, spread: Floats) -> Floats:
    """What sums of this mean and covariance must be held down by so that none is positive: by as much as it needs to come to 0,
    by nothing where it is negative. The dual of the quadratic programme, which is one of non-negative least squares."""
    if not len(sums):
        return sums
    root = cholesky((spread + spread.T) / 2 + EXACT * np.eye(len(sums)), lower=True)
    return np.asarray(nnls(root.T, solve_triangular(root, sums, lower=True))[0])
