"""What is trained, how it may be run, and what was measured while somebody trained it."""

from __future__ import annotations

import math
from calendar import monthrange
from datetime import date
from enum import StrEnum
from typing import Literal, NamedTuple

from msgspec import Struct

IMAGES_PER_EPOCH = 1_281_167  # ILSVRC-2012 training set
DATA_SET_GB = 149.0
"""ImageNet as TFRecords, 142 GB + 7 GB (RiseML, April 2018)."""
TrainingKind = Literal["language", "vision", "diffusion", "detection", "any"]
"""What is trained, as far as it decides how much faster another chip is."""
Method = Literal["pretrain", "full", "lora", "qlora"]
"""How a language model is trained: from nothing, all its weights, or adapters of low rank beside weights in 16 or 4 bits."""
Stack = Literal["any", "plain", "tuned"]
"""Whose code: transformers, peft and their like, or Megatron, NeMo, MaxText and their like."""
OWN_DATA = "own-data"  # the stack of a run on other data than ImageNet: how these are prepared is not known
YOU, YOUR_CODE = "you", "your own code"  # organisations: who ran what the asker did
MLPERF_TARGET = 0.759  # top-1, from round v0.6 on
PipelineAsked = Literal["recipe", "none", "pytorch", "dali", "ffcv", "tfdata"]
"""How the host prepares images: by the pipeline of the recipe's own code, not counted, or by the one named."""


class Metric(StrEnum):
    """Validation accuracy on ImageNet: the share of images whose label is the first, or among the first five, guesses."""

    TOP1 = "top1"
    TOP5 = "top5"


class Crossing(StrEnum):
    """When a noisy curve counts as having reached the target; see `costcalc.convergence.curves`."""

    FIRST = "first"
    ISOTONIC = "isotonic"
    SUSTAINED = "sustained"


class Tier(StrEnum):
    """How a figure is known, from best to worst."""

    MEASURED = "measured"
    TRANSFERRED = "transferred"
    INTERPOLATED = "interpolated"
    MODELLED = "modelled"

    @property
    def spoken(self) -> str:
        """What people read: `measured elsewhere`."""
        return SPOKEN[self]


SPOKEN = {
    Tier.MEASURED: "measured",
    Tier.TRANSFERRED: "measured elsewhere",
    Tier.INTERPOLATED: "read off a neighbour",
    Tier.MODELLED: "estimated",
}
Compilation = Literal["eager", "compiled"]
"""How code runs: one operation after another, or compiled (XLA, JAX, graphs)."""
THIRTY_TWO_BIT = frozenset({"fp32", "tf32"})
PrecisionAsked = Literal["amp", "bf16", "fp16", "fp8", "fp32", "tf32"]
"""What a question may ask for: `amp` is any that computes in 16 bits."""


class Running(NamedTuple):
    """How code runs, as far as it is said: its precision (`amp` for any that computes in 16 bits) and compilation."""

    precision: str | None = None
    compilation: Compilation | None = None


Code = Literal["mlperf", "contest", "vendor_example", "library", "research", "ordinary_user", "own", "unknown"]
"""Whose program a speed is: tuned for MLPerf; for another contest; example code from a chip maker or a cloud; a library's own;
a paper's; published code as somebody else runs it; the user's own; unknown where nobody published a speed of the program."""

TRANSFORMERS = frozenset((
    "vit", "deit", "swin", "convnext", "mlp", "cait", "coat", "convit", "edgenext", "mobilevit", "pit", "poolformer", "twins",
    "visformer", "xcit", "beit", "caformer", "coatnet", "convformer", "crossvit", "davit", "efficientformer", "eva", "focalnet",
    "gcvit", "hiera", "inception_next", "levit", "maxvit", "mvitv", "nest", "nextvit", "pvt", "sequencer", "tinyvit", "tnt",
    "volo",
))  # fmt: skip
"""Families of networks of attention, and their kin: those that do most of their arithmetic in matrix multiplications."""


class Model(Struct, frozen=True):
    """A network under its exact name; `gmacs` are multiply-adds in 1e9 for one image of `image_size` pixels a side.

    `family` is the architecture that its speed is compared within: resnext for se_resnext50_32x4d. Networks of a `series`
    differ in depth and width alone. `activations_millions` are what its layers put out for one image. `speed_width` is the
    half-width in ln(images/s), at 80 %, of what is unknown about its speed where no training of it was timed; `speed_of` is a
    timed network of the same operations, whose speed then stands for its own.
    """

    name: str
    aliases: tuple[str, ...]
    family: str
    parameters_millions: float | None
    gmacs: float | None
    image_size: int | None
    source: str
    series: str | None = None
    activations_millions: float | None = None
    speed_width: float | None = None
    speed_of: str | None = None

    @property
    def is_transformer(self) -> bool:
        """Whether its speed follows its own balance of arithmetic and memory from chip to chip, not that of convolutions."""
        return self.family in TRANSFORMERS

    def is_larger_than(self, other: Model) -> bool:
        """Whether both are of a series and this one computes more for each pixel, with no fewer activations and parameters."""
        if self.series is None or self.series != other.series:
            return False
        sizes = [model._sizes() for model in (self, other)]
        if not all(map(all, sizes)):
            return False
        (gmacs, *mine), (others_gmacs, *others) = sizes
        return gmacs > others_gmacs and all(more >= less for more, less in zip(mine, others, strict=True))

    def _sizes(self) -> tuple[float, float, float]:
        """Multiply-adds and activations per pixel, and parameters; 0 if unknown."""
        pixels = (self.image_size or math.inf) ** 2
        return (self.gmacs or 0) / pixels, (self.activations_millions or 0) / pixels, self.parameters_millions or 0


class System(Struct, frozen=True):
    """The machines a recipe was run on. `provider` and `instance_type` are None for on-premise hardware."""

    accelerator: str
    accelerators: int
    nodes: int
    provider: str | None = None
    instance_type: str | None = None

    @property
    def accelerators_per_node(self) -> int:
        return self.accelerators // self.nodes

    @property
    def key(self) -> tuple[str, int, int]:
        """Systems that agree in this are equally fast."""
        return self.accelerator, self.accelerators, self.nodes

    @property
    def instance(self) -> tuple[str, str]:
        """The provider and the name of the instance type, empty for on-premise hardware."""
        return self.provider or "", self.instance_type or ""


UNKNOWN_SYSTEM = System("", 0, 0)


class Phase(Struct, frozen=True):
    """A stretch of epochs at one image size; the rate is the recipe's own system's, None where unknown."""

    image_size: int
    from_epoch: float
    to_epoch: float
    images_per_second: float | None = None


class Evaluation(Struct, frozen=True):
    """One point of an accuracy curve: epochs completed, hours on the recipe's own clock, accuracies as fractions."""

    epochs: float
    hours: float | None
    top1: float | None
    top5: float | None

    def in_metric(self, metric: str) -> float | None:
        """The value in this metric; None if it was not evaluated."""
        return self.top1 if metric == Metric.TOP1 else self.top5


class MetricEvaluation(Evaluation, frozen=True):
    """One point of a curve in one metric, whatever that is: its `value`."""

    top1: float | None = None
    top5: float | None = None
    value: float = math.nan

    def in_metric(self, metric: str) -> float | None:
        return self.value


def known_on(published: str | None, year: int) -> date:
    """The day from which a publication is known: the last of its month (`2018-11`) or year, if no day is."""
    if published and len(published) > len("2018-11"):
        return date.fromisoformat(published)
    first, month, *_ = (*map(int, (published or str(year)).split("-")), 12)
    return date(first, month, monthrange(first, month)[1])


class OwnSpeed(Struct, frozen=True):
    """How fast your own code trains on one machine with so many accelerators: `1450@1xA100-80GB`."""

    images_per_second: float
    accelerators: int
    accelerator: str

    def __str__(self) -> str:
        """As it is asked."""
        return f"{self.images_per_second:.12g}@{self.accelerators}x{self.accelerator}"


class Throughput(Struct, frozen=True, kw_only=True):
    """Training images per second of a model at one image size on one cluster, with the software of a `year` that made it.

    `data` says what the rate was measured on: `synthetic` images, which nobody reads or decodes, `real` ones, or a `whole run`,
    whose epochs were divided by all its hours. `published` is as in `Recipe`. `plain` says that the code is an ordinary loop of
    PyTorch, which nobody tuned to the chip.
    """

    name: str
    model: str
    image_size: int
    accelerator: str
    accelerators: int
    nodes: int = 1
    precision: str | None = None
    framework: str
    framework_family: str
    stack: str
    global_batch_size: int | None = None
    images_per_second: float
    includes_evaluation: bool = False
    data: Literal["synthetic", "real", "whole run"]
    organisation: str
    provider: str | None = None
    instance_type: str | None = None
    year: int
    round: str | None = None
    source: str
    note: str = ""
    published: str | None = None
    code: Code | None = None
    compilation: Compilation | None = None
    plain: bool = False

    @property
    def known_on(self) -> date:
        """The day from which it is known."""
        return known_on(self.published, self.year)

    @property
    def is_synthetic(self) -> bool:
        """Whether no image was read or decoded."""
        return self.data == "synthetic"

    @property
    def is_own(self) -> bool:
        """Whether the user measured it, with their own code."""
        return self.code == "own"

    @property
    def system(self) -> System:
        """The machines it was measured on."""
        return System(self.accelerator, self.accelerators, self.nodes, self.provider, self.instance_type)
