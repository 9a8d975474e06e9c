"""How many images per step an accelerator's memory holds."""

from __future__ import annotations

import math

from costcalc.throughput.rates import SIXTEEN_BIT
from costcalc.training import Model

BYTES_PER_PARAMETER = 16  # weights, gradients, two optimiser moments; mixed precision keeps a 32-bit copy
GIB_PER_IMAGE = 0.08  # ResNet-50 at 224 px in 16 bits: MLPerf ran 816 images on 80 GB, 408 on 40 GB, 204 on 24 GB
USABLE = 0.95
GIB = 2**30
REFERENCE_SIZE, REFERENCE_GMACS = 224, 4.1


def most_images(memory_gib: float | None, model: Model | None, image_size: int, precision: str | None) -> float:
    """The largest batch per accelerator, below 1 where not even the network fits; infinite where memory is unknown.

    Activations are taken to grow with multiply-adds and pixels; networks that store more per multiply-add get less room.
    """
    if memory_gib is None:
        return float("inf")
    parameters = (model.parameters_millions if model else None) or 25.6
    gmacs = (model.gmacs if model else None) or REFERENCE_GMACS
    side = image_size / ((model.image_size if model else None) or REFERENCE_SIZE)
    room = memory_gib * USABLE - parameters * 1e6 * BYTES_PER_PARAMETER / GIB
    width = 1.0 if precision in SIXTEEN_BIT else 2.0
    return room / (GIB_PER_IMAGE * width * math.pow(gmacs / REFERENCE_GMACS, 0.75) * side**2)
