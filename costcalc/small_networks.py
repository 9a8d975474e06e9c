"""Networks so small that a step's fixed costs decide: how long they train on a processor and on a GPU, and where that turns.

A step takes a fixed time, a fixed time for each layer, the arithmetic, and on a GPU the transfer of its batch. A processor does
one after the other; a GPU computes while the host launches what comes next, so that the longer of launches and arithmetic counts.
"""

from __future__ import annotations

import math
import re
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from costcalc.units import SECONDS_PER_HOUR

OPERATIONS_PER_MAC = 6
"""A multiplication and an addition in each of three passes: forward, and backward to inputs and weights."""
BYTES_PER_NUMBER = 4  # 32-bit floating point
KERNEL = 9  # weights of a 3 x 3 convolution
MOST_LAYERS, MOST_UNITS = 100, 10**7
WIDEST, HALVINGS = 2.0**14, 40
DENSE = re.compile(r"mlp:\d+(-\d+)+")
CONVOLUTIONAL = re.compile(r"cnn:\d+x\d+x\d+(-\d+)+")
EXAMPLES = "mlp:784-512-512-10 for dense layers, cnn:28x28x1-32-64-10 for 3 x 3 convolutions and a dense layer"


class WrongLayers(ValueError):
    """The layers cannot be read; the message says what to type."""


class SmallNetwork(Struct, frozen=True):
    """A network by its layers. `widths` are the units of each dense layer or the channels of each convolution, the classes last;
    `inputs` the numbers that a sample has, `sides` (height, width) and `channels` where it is a picture.

    After each convolution a 2 x 2 pooling halves the sides.
    """

    widths: tuple[int, ...]
    inputs: int
    sides: tuple[int, int] | None = None
    channels: int = 0

    @property
    def layers(self) -> int:
        """Layers with weights."""
        return len(self.widths)

    @property
    def multiply_adds(self) -> int:
        """Multiply-adds of one sample's forward pass."""
        return sum(positions * weights for positions, weights in self._layers())

    @property
    def parameters(self) -> int:
        """Weights and biases."""
        return sum(weights for _, weights in self._layers()) + sum(self.widths)

    def scaled(self, factor: float) -> SmallNetwork:
        """The same with so many times the units in each hidden layer, at least one."""
        hidden = (max(1, round(width * factor)) for width in self.widths[:-1])
        return replace(self, widths=(*hidden, self.widths[-1]))

    def _layers(self) -> list[tuple[int, int]]:
        """For each layer, at how many places its weights are used, and how many weights it has."""
        if self.sides is None:
            ins = (self.inputs, *self.widths[:-1])
            return [(1, before * after) for before, after in zip(ins, self.widths, strict=True)]
        height, width = self.sides
        layers, before = [], self.channels
        for after in self.widths[:-1]:
            layers.append((height * width, KERNEL * before * after))
            before, height, width = after, max(height // 2, 1), max(width // 2, 1)
        return [*layers, (1, height * width * before * self.widths[-1])]


class SmallDevice(Struct, frozen=True):
    """What decides small networks on a device: seconds of a step whatever it computes, of each layer, operations per second of
    large matrix products in 32 bits, and bytes per second from the host's memory, None for a processor, which has them.

    `factor_80` says to what factor the times that follow are known, in 8 of 10 cases.
    """

    name: str
    step_seconds: float
    layer_seconds: float
    operations_per_second: float
    transfer_bytes_per_second: float | None
    factor_80: float
    evidence: Literal["measured", "modelled"]
    source: str


class Training(Struct, frozen=True):
    """How a small network is trained."""

    network: SmallNetwork
    samples: int
    batch_size: int
    epochs: int

    @property
    def steps(self) -> int:
        """Steps of all epochs."""
        return self.epochs * math.ceil(self.samples / self.batch_size)


class StepTime(Struct, frozen=True):
    """Seconds of one step, by what takes them."""

    overhead: float
    arithmetic: float
    transfer: float
    overlaps: bool

    @property
    def seconds(self) -> float:
        together = max(self.overhead, self.arithmetic) if self.overlaps else self.overhead + self.arithmetic
        return together + self.transfer

    @property
    def limited_by(self) -> str:
        """The part that takes most of the step."""
        parts = {"launches": self.overhead, "arithmetic": self.arithmetic, "transfer": self.transfer}
        return max(parts, key=lambda name: parts[name])


def small_network(text: str) -> SmallNetwork:
    """The network of a specification such as `mlp:784-512-512-10`. Raises WrongLayers."""
    written = text.strip().lower().replace(" ", "")
    if not (DENSE.fullmatch(written) or CONVOLUTIONAL.fullmatch(written)):
        raise WrongLayers(f"layers must be whole numbers with - between them: {EXAMPLES}; got {text[:60]!r}")
    kind, _, layers = written.partition(":")
    first, *rest = layers.split("-")
    shape, widths = [int(number) for number in first.split("x")], tuple(map(int, rest))
    if len(widths) > MOST_LAYERS or not all(0 < number <= MOST_UNITS for number in (*shape, *widths)):
        raise WrongLayers(f"at most {MOST_LAYERS} layers, each of 1 to {MOST_UNITS:,} units; got {text[:60]!r}")
    if kind == "mlp":
        return SmallNetwork(widths, shape[0])
    height, width, channels = shape
    return SmallNetwork(widths, height * width * channels, (height, width), channels)


def step_time(training: Training, device: SmallDevice) -> StepTime:
    """How long a step takes on a device."""
    network, batch = training.network, training.batch_size
    sent = batch * (network.inputs + 1) * BYTES_PER_NUMBER
    rate = device.transfer_bytes_per_second
    return StepTime(
        overhead=device.step_seconds + network.layers * device.layer_seconds,
        arithmetic=batch * OPERATIONS_PER_MAC * network.multiply_adds / device.operations_per_second,
        transfer=sent / rate if rate else 0.0,
        overlaps=rate is not None,
    )


def hours(training: Training, device: SmallDevice) -> float:
    """How long the whole training takes."""
    return training.steps * step_time(training, device).seconds / SECONDS_PER_HOUR


def turning_factor(training: Training, device: SmallDevice, other: SmallDevice) -> float | None:
    """How many times the units in each hidden layer make both devices equally fast; None where no size does."""

    def difference(factor: float) -> float:
        scaled = replace(training, network=training.network.scaled(factor))
        return step_time(scaled, device).seconds - step_time(scaled, other).seconds

    low, high = 1 / WIDEST, WIDEST
    if (difference(low) > 0) == (difference(high) > 0):
        return None
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if (difference(middle) > 0) == (difference(low) > 0) else (low, middle)
    return high


def worth_up_to(rate: float, hours_here: float, hours_there: float) -> float:
    """The hourly rate below which a device that takes `hours_there` costs less than one that takes `hours_here` at `rate`."""
    return rate * hours_here / hours_there
