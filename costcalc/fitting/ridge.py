"""A robust ridge fit in closed form: every effect has a normal prior, every residual a t-shaped weight."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from costcalc.throughput.reference_model import Key, Term
from costcalc.units import Floats

ROUNDS = 5


@dataclass(frozen=True, eq=False)
class Fit:
    """Posterior mean of every effect, and what it came from: design [rows, effects] in units of the priors' deviations,
    target and the variance given to each row."""

    effects: dict[Key, float]
    design: Floats
    target: Floats
    variance: Floats

    def left_out(self, groups: Sequence[Hashable]) -> Floats:
        """Each row's residual when its group's rows, and those alone, are left out of the fit.

        Rasmussen and Williams, Gaussian Processes for Machine Learning, section 5.4.2, for groups instead of single rows.
        """
        inverse = np.linalg.inv(self.design @ self.design.T + np.diag(self.variance))
        pulled, residuals = inverse @ self.target, np.zeros(len(self.target))
        members: dict[Hashable, list[int]] = defaultdict(list)
        for row, group in enumerate(groups):
            members[group].append(row)
        for rows in members.values():
            residuals[rows] = np.linalg.solve(inverse[np.ix_(rows, rows)], pulled[rows])
        return residuals


def fit(rows: Sequence[Sequence[Term]], target: Floats, noise: float, degrees: float) -> Fit:
    """The effects named in the rows' terms (key, value, prior standard deviation).

    `noise` is the standard deviation of the target about its mean, `degrees` those of the t distribution whose weights
    make outliers count less. Solved by the smaller of the primal and the dual system.
    """
    names = {key: None for row in rows for key, _, _ in row}
    index = {key: column for column, key in enumerate(names)}
    design, spread = np.zeros((len(rows), len(index))), np.ones(len(index))
    for row, many in enumerate(rows):
        for key, value, deviation in many:
            design[row, index[key]] += value
            spread[index[key]] = deviation
    solution, variance = _reweighted(design * spread, target, noise, degrees)
    found = {key: float(solution[column] * spread[column]) for key, column in index.items()}
    return Fit(found, design * spread, target, variance)


def _reweighted(design: Floats, target: Floats, noise: float, degrees: float) -> tuple[Floats, Floats]:
    """The effects, in units of the priors' deviations, and the variances of the last round."""
    weights, solution, variance = np.ones(len(target)), np.zeros(design.shape[1]), np.zeros(len(target))
    kernel = design @ design.T if design.shape[0] <= design.shape[1] else None
    for _ in range(ROUNDS):
        variance = noise**2 / weights
        solution = _dual(design, kernel, target, variance) if kernel is not None else _primal(design, target, variance)
        residual = (target - design @ solution) / noise
        weights = np.minimum(1.0, (degrees + 1) / (degrees + residual**2))
    return solution, variance


def _dual(design: Floats, kernel: Floats, target: Floats, variance: Floats) -> Floats:
    return np.asarray(design.T @ np.linalg.solve(kernel + np.diag(variance), target))


def _primal(design: Floats, target: Floats, variance: Floats) -> Floats:
    weighted = design / variance[:, None]
    return np.asarray(np.linalg.solve(design.T @ weighted + np.eye(design.shape[1]), weighted.T @ target))
