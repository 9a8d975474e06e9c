"""How fast a processor will train a network, from its matrix products alone: said before it is measured.

seconds of an image = (ARITHMETIC x 6 x multiply-adds + MEMORY x numbers that the layers put out) / operations per second of large
matrix products. Both constants follow from ResNet-18 (12.3 images/s) and MobileNet v2 (16.9) in 32 bits on one core of an EPYC
(Zen 5), whose products of 512 x 512 reached 99 GFLOP/s, by processor time, with PyTorch 2.13.0 on 2026-11-22. ResNet-50, which
was left out, made 3.9 images/s where they say 4.5.
"""

from __future__ import annotations

from typing import NamedTuple

from costcalc.small_networks import OPERATIONS_PER_MAC
from costcalc.training import Model

ARITHMETIC, MEMORY = 0.572, 715.0
FACTOR_80 = 2.0  # set by hand: one machine is known


class Foretold(NamedTuple):
    """Images per second, and the ends of the range that holds 8 in 10 cases."""

    low: float
    middle: float
    high: float


def foretold(model: Model | None, image_size: int, operations_per_second: float) -> Foretold | None:
    """The speed of a network of which arithmetic and activations are known; None of any other."""
    if model is None or not (model.gmacs and model.activations_millions and model.image_size):
        return None
    work = ARITHMETIC * OPERATIONS_PER_MAC * model.gmacs * 1e9 + MEMORY * model.activations_millions * 1e6
    middle = operations_per_second / work / (image_size / model.image_size) ** 2
    return Foretold(middle / FACTOR_80, middle, middle * FACTOR_80)
