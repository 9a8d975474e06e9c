"""What training needs of an accelerator's memory: the network with its optimizer's state, the framework, and a batch of images.

images = (memory x usable share - bytes of a parameter x parameters) / (factor x activations x bytes of an activation)

`activations` are what the layers put out for one image; the factor says how many times as much is held until the backward pass,
learned from the largest batches that fit an RTX 3090 (`largest_batches.csv`); a test compares it with them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Literal, TypeVar

import numpy as np
from msgspec import Struct

from costcalc.hardware import Accelerator
from costcalc.throughput.data_sheets import part
from costcalc.throughput.workloads import REFERENCE_GMACS, REFERENCE_PARAMETERS_MILLIONS, REFERENCE_SIZE, SIXTEEN_BIT
from costcalc.training import Model, Throughput, known_on
from costcalc.units import Floats

Precision = Literal["16bit", "32bit"]
Gib = TypeVar("Gib", float, Floats)
BYTES_PER_PARAMETER = 16  # weights, gradients, two optimiser moments; mixed precision keeps a 32-bit copy
BYTES_PER_ACTIVATION = {True: 2, False: 4}  # in 16 bits, or not
GIB_PER_IMAGE = 0.08  # ResNet-50 at 224 px in 16 bits: MLPerf ran 816 images on 80 GB, 408 on 40 GB, 204 on 24 GB
ACTIVATION_EXPONENT = 0.75  # unknown activations grow with the network's multiply-adds to this power
USABLE_SHARE = 0.95
FRAMEWORK_GIB = 0.6
"""Of the driver's context and the libraries, which no network can have."""
BYTES_PER_GIB = 2**30
HELD = 2.2
HELD_OF_FAMILY = {
    "convnext": 2.5, "densenet": 5.9, "efficientnet": 3.4, "inception": 2.8, "mixnet": 2.5, "mobilevit": 2.7, "nasnet": 3.1,
    "poolformer": 3.4, "xcit": 2.8,
}  # fmt: skip
"""How many times the outputs of its layers a network holds until the backward pass, where a family differs from most: a middle of
the networks in `largest_batches.csv`. Dense blocks and inverted bottlenecks hold more than layers put out."""


class MeasuredBatch(Struct, frozen=True):
    """What somebody tried: the largest batch that ran, 0 where none did, and the next larger one, which did not or was not tried.
    `image_size` and `precision` are None where they were not stated."""

    model: str
    accelerator: str
    image_size: int | None
    precision: Precision | None
    largest_batch: int
    next_tried: int
    published: str
    source: str

    @property
    def known_on(self) -> date:
        """The day from which it is known."""
        return known_on(self.published, int(self.published[:4]))


def most_images(
    memory_gib: Floats, model: Model | None, image_size: int, precision: str | None, images_per_gib: float = 0.0
) -> Floats:
    """The largest batch per accelerator of each memory: below 1 where not even the network fits, infinite where the memory is.

    An image is taken to need never more than where most images were seen in memory: `images_per_gib`, of `densest`.
    """
    modelled = 1 / gib_per_image(model, image_size, precision)
    return np.asarray(room_gib(memory_gib, model) * max(modelled, images_per_gib * (REFERENCE_SIZE / image_size) ** 2))


def room_gib(memory_gib: Gib, model: Model | None) -> Gib:
    """What of each memory is left for images; negative where not even the network fits."""
    return memory_gib * USABLE_SHARE - FRAMEWORK_GIB - parameters(model) * BYTES_PER_PARAMETER / BYTES_PER_GIB


def gib_per_image(model: Model | None, image_size: int, precision: str | None) -> float:
    """What an image of so many pixels a side needs for its activations: in proportion to what its network puts out where that is
    known, else to a power of its multiply-adds."""
    side = image_size / ((model.image_size if model else None) or REFERENCE_SIZE)
    sixteen_bit = precision in SIXTEEN_BIT
    if model and model.activations_millions:
        held = HELD_OF_FAMILY.get(model.family, HELD) * model.activations_millions * 1e6
        return held * BYTES_PER_ACTIVATION[sixteen_bit] * side**2 / BYTES_PER_GIB
    gmacs = (model.gmacs if model else None) or REFERENCE_GMACS
    width = BYTES_PER_ACTIVATION[sixteen_bit] / BYTES_PER_ACTIVATION[True]
    return GIB_PER_IMAGE * width * math.pow(gmacs / REFERENCE_GMACS, ACTIVATION_EXPONENT) * side**2


def parameters(model: Model | None) -> float:
    """The network's parameters, or ResNet-50's if unknown."""
    return ((model.parameters_millions if model else None) or REFERENCE_PARAMETERS_MILLIONS) * 1e6


def densest(rows: Iterable[Throughput], model: Model | None, accelerators: Mapping[str, Accelerator]) -> float:
    """The most images per step and GiB for activations in any of these rows, as if at 224 px; 0 if there are none."""
    return max((_images_per_gib(row, model, part(accelerators, row.accelerator)) for row in rows), default=0.0)


def _images_per_gib(row: Throughput, model: Model | None, chip: Accelerator) -> float:
    """0 where batch, count or memory is unknown, or the accelerator has no memory beside the chip."""
    stated = chip.dense_16bit_tflops and chip.memory_bandwidth_gb_per_s and chip.device_memory
    if not (row.global_batch_size and row.accelerators and stated):
        return 0.0
    room = room_gib(chip.memory_gib or math.inf, model)
    images = row.global_batch_size / row.accelerators
    return images * (row.image_size / REFERENCE_SIZE) ** 2 / room if room > 0 else 0.0
