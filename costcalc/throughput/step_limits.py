"""What limits a training step: how many images the memory holds, and how long machines wait for one another."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from costcalc.hardware import Accelerator
from costcalc.throughput.data_sheets import part
from costcalc.throughput.rates import SIXTEEN_BIT
from costcalc.training import Model, Throughput
from costcalc.units import Floats

BYTES_PER_PARAMETER = 16  # weights, gradients, two optimiser moments; mixed precision keeps a 32-bit copy
GIB_PER_IMAGE = 0.08  # ResNet-50 at 224 px in 16 bits: MLPerf ran 816 images on 80 GB, 408 on 40 GB, 204 on 24 GB
ACTIVATION_EXPONENT = 0.75  # activations grow with the network's multiply-adds to this power
USABLE_SHARE = 0.95
BYTES_PER_GIB = 2**30
REFERENCE_SIZE, REFERENCE_GMACS, REFERENCE_PARAMETERS_MILLIONS = 224, 4.1, 25.6  # ResNet-50

WAIT_SECONDS = 3.0e-3  # launches and latency that no step of NVIDIA's A100 and H100 pods avoided
NETWORK_BYTES_PER_SECOND = 50e9  # of one accelerator to other machines: InfiniBand NDR, 400 Gb/s
GRADIENT_BYTES = 2  # of one parameter, sent in 16 bits
SHORTEST_SECONDS = 5.0e-3  # the shortest measured, less a tenth: 5.7 ms, NVIDIA's 3,584 H100 in MLPerf v3.0


def most_images(
    memory_gib: Floats, model: Model | None, image_size: int, precision: str | None, images_per_gib: float = 0.0
) -> Floats:
    """The largest batch per accelerator of each memory: below 1 where not even the network fits, infinite where the memory is.

    Activations are taken to grow with multiply-adds and pixels, but never to need more than where most images were seen in
    memory: `images_per_gib`, of `densest`.
    """
    gmacs = (model.gmacs if model else None) or REFERENCE_GMACS
    side = image_size / ((model.image_size if model else None) or REFERENCE_SIZE)
    width = 1.0 if precision in SIXTEEN_BIT else 2.0
    modelled = 1 / (GIB_PER_IMAGE * width * math.pow(gmacs / REFERENCE_GMACS, ACTIVATION_EXPONENT) * side**2)
    room = memory_gib * USABLE_SHARE - _gib_for_parameters(model)
    return np.asarray(room * max(modelled, images_per_gib * (REFERENCE_SIZE / image_size) ** 2))


def densest(rows: Iterable[Throughput], model: Model | None, accelerators: Mapping[str, Accelerator]) -> float:
    """The most images per step and GiB for activations in any of these rows, as if at 224 px; 0 if there are none."""
    return max((_images_per_gib(row, model, part(accelerators, row.accelerator)) for row in rows), default=0.0)


def _images_per_gib(row: Throughput, model: Model | None, chip: Accelerator) -> float:
    """0 where batch, count or memory is unknown, or the accelerator has no memory beside the chip."""
    stated = chip.dense_16bit_tflops and chip.memory_bandwidth_gb_per_s and chip.device_memory
    if not (row.global_batch_size and row.accelerators and stated):
        return 0.0
    room = (chip.memory_gib or math.inf) * USABLE_SHARE - _gib_for_parameters(model)
    images = row.global_batch_size / row.accelerators
    return images * (row.image_size / REFERENCE_SIZE) ** 2 / room if room > 0 else 0.0


def _gib_for_parameters(model: Model | None) -> float:
    return _parameters(model) * BYTES_PER_PARAMETER / BYTES_PER_GIB


def shortest_step(model: Model | None) -> float:
    """Seconds below which no step on several machines goes: waiting, and the ring all-reduce of the gradients.

    A ring sends each gradient twice (Patarasuk and Yuan 2009).
    """
    return WAIT_SECONDS + 2 * _parameters(model) * GRADIENT_BYTES / NETWORK_BYTES_PER_SECOND


def _parameters(model: Model | None) -> float:
    return ((model.parameters_millions if model else None) or REFERENCE_PARAMETERS_MILLIONS) * 1e6
