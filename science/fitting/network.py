"""Learns how much of an all-reduce hides behind the backward pass, from codes measured on several numbers of machines."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from costcalc.machine_limits.network import Gradients
from costcalc.throughput.fitted_parameters import USUAL_OVERLAP, Overlap
from costcalc.throughput.reference_model import REFERENCE_BATCH
from costcalc.throughput.workloads import Transfer, training_rate
from science.fitting.transfer import Ratio, residual

HIDDEN = np.arange(0.0, 1.01, 0.1)
REACHED = np.arange(0.2, 1.01, 0.1)
NARROWEST = 0.001  # ln(rate)

Scaled = tuple[Ratio, Ratio]
"""A rate, and the one that it is scaled from."""


def over_networks(learned: Sequence[Ratio], gradients: Gradients) -> list[Scaled]:
    """The rates on several machines whose network is known, each with that of the same code on the fewest machines."""
    pairs = []
    for ratio in learned:
        if _exchange(ratio, gradients):
            alike = [other for other in learned if _code(other) == _code(ratio)]
            base = min(alike, key=lambda other: (other.row.nodes, -other.row.accelerators))
            pairs += [(ratio, base)] if base.row.nodes < ratio.row.nodes else []
    return pairs


def fit_overlap(pairs: Sequence[Scaled], transfer: Transfer, gradients: Gradients) -> Overlap:
    """The mean of the laws of a grid, each with the likelihood of its errors; USUAL_OVERLAP where nothing was measured.

    Few codes are known, and each counts once: the most likely law alone would follow the errors of one of them. The errors in
    ln(rate) are taken to have a Laplace distribution, as wide as those of the best law.
    """
    if not pairs:
        return USUAL_OVERLAP
    laws = [Overlap(float(hidden), float(reached)) for hidden in HIDDEN for reached in REACHED]
    codes = [_code(ratio)[:2] for ratio, _ in pairs]
    share = np.array([1 / codes.count(code) for code in codes])
    errors = np.array([[abs(scaling_error(pair, transfer, gradients, law)) for pair in pairs] for law in laws]) @ share
    width = max(errors.min() / share.sum(), NARROWEST)
    likelihood = np.exp((errors.min() - errors) / width)
    hidden, reached = likelihood @ np.array(laws) / likelihood.sum()
    return Overlap(round(float(hidden), 3), round(float(reached), 3))


def scaling_error(pair: Scaled, transfer: Transfer, gradients: Gradients, overlap: Overlap) -> float:
    """ln(predicted / measured seconds) of a rate that is scaled from another by the model's ratio and by both networks."""
    ratio, base = pair
    step, seconds = _step(ratio), _step(base)
    waited = overlap.compute(np.array(seconds), np.array(_exchange(base, gradients))) / seconds
    computed = step * math.exp(residual(ratio, transfer) - residual(base, transfer)) * float(waited)
    return math.log(float(overlap.step(np.array(computed), np.array(_exchange(ratio, gradients)))) / step)


def _exchange(ratio: Ratio, gradients: Gradients) -> float:
    return gradients.exchange(ratio.row, ratio.row.accelerator, ratio.row.nodes)


def _step(ratio: Ratio) -> float:
    """Seconds of a step; an unknown batch is taken as usual."""
    row = ratio.row
    return (row.global_batch_size or REFERENCE_BATCH * row.accelerators) / training_rate(row)


def _code(ratio: Ratio) -> tuple[object, ...]:
    row = ratio.row
    return row.stack, row.organisation, row.model, row.image_size, row.precision, row.accelerator, row.is_synthetic
