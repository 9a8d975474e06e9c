"""How many images per step an accelerator's memory holds."""

from __future__ import annotations

import math
from collections.abc import Iterable

from costcalc.throughput.data_sheets import Chips
from costcalc.throughput.rates import SIXTEEN_BIT, bits
from costcalc.training import Model, Throughput

BYTES_PER_PARAMETER = 16  # weights, gradients, two optimiser moments; mixed precision keeps a 32-bit copy
GIB_PER_IMAGE = 0.08  # ResNet-50 at 224 px in 16 bits: MLPerf ran 816 images on 80 GB, 408 on 40 GB, 204 on 24 GB
USABLE = 0.95
GIB = 2**30
REFERENCE_SIZE, REFERENCE_GMACS = 224, 4.1


def most_images(
    memory_gib: float | None, model: Model | None, image_size: int, precision: str | None, densest: float = 0.0
) -> float:
    """The largest batch per accelerator, below 1 where not even the network fits; infinite where memory is unknown.

    Activations are taken to grow with multiply-adds and pixels, but never to need more than where most images were seen in
    memory: `densest`.
    """
    if memory_gib is None or math.isinf(memory_gib):
        return math.inf
    gmacs = (model.gmacs if model else None) or REFERENCE_GMACS
    side = image_size / ((model.image_size if model else None) or REFERENCE_SIZE)
    width = 1.0 if precision in SIXTEEN_BIT else 2.0
    modelled = 1 / (GIB_PER_IMAGE * width * math.pow(gmacs / REFERENCE_GMACS, 0.75) * side**2)
    return _room(memory_gib, model) * max(modelled, densest * (REFERENCE_SIZE / image_size) ** 2)


def densest(rows: Iterable[Throughput], model: Model | None, precision: str | None, chips: Chips) -> float:
    """The most images per step and GiB for activations that anybody ran in this precision, as if at 224 px; 0 if nobody did."""
    return max((_density(row, model, chips) for row in rows if bits(row.precision) == bits(precision)), default=0.0)


def _density(row: Throughput, model: Model | None, chips: Chips) -> float:
    """0 for chips without memory of their own for activations, or where batch or count is unknown."""
    if not (row.global_batch_size and row.accelerators) or chips.roofline(row.accelerator) is None:
        return 0.0
    room = _room(chips.table[row.accelerator].memory_gib or math.inf, model)
    images = row.global_batch_size / row.accelerators
    return images * (row.image_size / REFERENCE_SIZE) ** 2 / room if room > 0 else 0.0


def _room(memory_gib: float, model: Model | None) -> float:
    parameters = (model.parameters_millions if model else None) or 25.6
    return memory_gib * USABLE - parameters * 1e6 * BYTES_PER_PARAMETER / GIB
