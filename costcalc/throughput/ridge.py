"""A robust ridge fit in closed form: every effect has a normal prior, every residual a t-shaped weight."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Key = tuple[str, ...]
Term = tuple[Key, float, float]

ROUNDS = 5


def effects(rows: Sequence[Sequence[Term]], target: Floats, noise: float, degrees: float) -> dict[Key, float]:
    """Posterior mean of every effect named in the rows' terms (key, value, prior standard deviation).

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
    solution = _reweighted(design * spread, target, noise, degrees) * spread
    return {key: float(solution[column]) for key, column in index.items()}


def _reweighted(design: Floats, target: Floats, noise: float, degrees: float) -> Floats:
    weights, solution = np.ones(len(target)), np.zeros(design.shape[1])
    kernel = design @ design.T if design.shape[0] <= design.shape[1] else None
    for _ in range(ROUNDS):
        variance = noise**2 / weights
        solution = _dual(design, kernel, target, variance) if kernel is not None else _primal(design, target, variance)
        residual = (target - design @ solution) / noise
        weights = np.minimum(1.0, (degrees + 1) / (degrees + residual**2))
    return solution


def _dual(design: Floats, kernel: Floats, target: Floats, variance: Floats) -> Floats:
    return np.asarray(design.T @ np.linalg.solve(kernel + np.diag(variance), target))


def _primal(design: Floats, target: Floats, variance: Floats) -> Floats:
    weighted = design / variance[:, None]
    return np.asarray(np.linalg.solve(design.T @ weighted + np.eye(design.shape[1]), weighted.T @ target))
