"""What is trained, how, and what was measured while somebody trained it."""

from __future__ import annotations

import math
from calendar import monthrange
from collections.abc import Iterable
from datetime import date
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import ClassVar, Literal, NamedTuple, Self

from msgspec import Struct
from msgspec.structs import replace

from costcalc.hardware import Cluster
from costcalc.programs import Command, Program, RecipeKind
from costcalc.units import SECONDS_PER_HOUR

IMAGES_PER_EPOCH = 1_281_167  # ILSVRC-2012 training set
DATA_SET_GB = 149.0
"""ImageNet as TFRecords, 142 GB + 7 GB (RiseML, April 2018)."""
EVALUATION_SHARE = 50_000 / IMAGES_PER_EPOCH / 3
"""Validating 50,000 images after every epoch, in units of training: a forward pass is a third of a step's arithmetic."""
EVALUATION_COUNTED = "training+evaluation"  # a `Recipe.clock`
MOST_CLOCK_FACTOR = 1.3
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
IN_16_BITS = "-amp"
"""How the names of recipes end that were published in 32 bits and run in 16."""


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
    half-width in ln(images/s), at 80 %, of what is unknown about its speed where no training of it was timed.
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
    speed_width: float = 0.0

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


class Recipe(Struct, frozen=True, kw_only=True):
    """A model, its data pipeline, schedule, batch and precision, and the accuracy curve that belongs to them alone.

    `is_log` is False where only single points of the curve were published, `is_interpolated` True where nobody ran it. `clock`
    says what the hours include: `training`, `training+evaluation`, `as_logged`, or None when there are no hours. `mean_top1` is
    the mean over all runs of the accuracy they ended at, `reached` how many of them reached the target at which they stop; None
    where that was not published. `tuned_to` is the top-1 accuracy at which its runs stop (MLPerf's rules: 0.749 in round v0.5,
    0.759 since), None where they end with their schedule. `division` is MLPerf's. `expensive_optimizer` says that a step of the
    optimizer itself takes a share of the time that plain ones do not. `year` is that of the software, `published` the day (or
    month, as 2018-11) when it was published, None where only the year is known. `evaluated_size` is the side of the images that
    its accuracy was measured on where it was not trained on such, `mirrored_copies` whether each image and its mirror image
    were averaged. `schedule_shape` names the kind of its schedule where curves of that kind run alike: the logs among them lend
    their course to those that were published with their end alone, which have a borrowed curve then. `teacher` is the network
    that looks at each image too, where it distils one. `epochs_width` is the half-width in ln(epochs), at 80 %, of the length of
    its schedule, where nobody published that. `plain` is as in `Throughput`.
    """

    name: str
    model: str
    organisation: str
    family: str
    framework: str
    framework_family: str
    stack: str
    precision: str | None = None
    optimizer: str | None = None
    global_batch_size: int | None = None
    scheduled_epochs: float | None = None
    system: System | None = None
    runs: int
    is_log: bool
    clock: str | None = None
    images_per_second: float | None = None
    year: int
    source: str
    note: str = ""
    phases: tuple[Phase, ...]
    evaluations: tuple[Evaluation, ...]
    is_interpolated: bool = False
    mean_top1: float | None = None
    reached: int | None = None
    published: str | None = None
    evaluated_size: int | None = None
    mirrored_copies: bool = False
    tuned_to: float | None = None
    division: str | None = None
    expensive_optimizer: bool = False
    schedule_shape: str | None = None
    has_borrowed_curve: bool = False
    code: Code | None = None
    compilation: Compilation | None = None
    plain: bool = False
    as_published: Running | None = None
    program: Program | None = None
    command: Command | None = None
    teacher: str | None = None
    epochs_width: float = 0.0

    samples_per_epoch: ClassVar[float] = IMAGES_PER_EPOCH
    data_set_gb: ClassVar[float] = DATA_SET_GB
    run_spread: ClassVar[float] = 0.0
    untimed_hours: ClassVar[float] = 0.0
    lower_is_better: ClassVar[bool] = False
    is_closed: ClassVar[bool] = False
    title: ClassVar[str] = "image classification"
    pass_name: ClassVar[str] = "epochs"

    @property
    def known_on(self) -> date:
        """The day from which it is known."""
        return known_on(self.published, self.year)

    def is_named(self, patterns: Iterable[str]) -> bool:
        """Whether its name is asked for; a pattern may end in `*`."""
        return any(fnmatchcase(self.name, pattern.casefold()) for pattern in patterns)

    def best(self, metric: str) -> float | None:
        """The highest value of its curve in this metric; None if it was not evaluated in it."""
        values = (evaluation.in_metric(metric) for evaluation in self.evaluations)
        return max((value for value in values if value is not None), default=None)

    @property
    def is_run_otherwise(self) -> bool:
        """Whether it is to run in another way than its own code did, as far as is known."""
        return self.as_published is not None

    @property
    def running(self) -> Running:
        return Running(self.precision, self.compilation)

    def run_so(self, running: Running) -> Self:
        """This run in the requested way, if any."""
        wanted = {name: value for name, value in running._asdict().items() if value}
        changed = self.running._replace(**wanted)
        if (changed.precision in THIRTY_TWO_BIT) == (self.precision in THIRTY_TWO_BIT):
            changed = changed._replace(precision=self.precision)
        return self if changed == self.running else replace(self, as_published=self.running, **changed._asdict())

    def in_16_bits(self) -> Self | None:
        """The same script with its option for 16 bits; None where it was published so, or has none."""
        option = self.program and self.program.amp
        if not option or self.precision not in THIRTY_TWO_BIT:
            return None
        command = self.command and replace(self.command, line=f"{self.command.line} {option}")
        return replace(self.run_so(Running("amp")), name=f"{self.name}{IN_16_BITS}", command=command)

    @property
    def runs_one_way(self) -> bool:
        """Whether it is known only as it ran: nobody published its code's speed in another way."""
        return self.is_mlperf

    def not_known_in(self, asked: Running) -> list[str]:
        """What of the requested way to run it is not known in."""
        if not (self.runs_one_way and any(asked)):
            return []
        wanted = [(name, getattr(self, name)) for name, value in asked._asdict().items() if value]
        so = self.run_so(asked)
        return [name for name, ran in wanted if ran is None or ran != getattr(so, name)]

    def run_as_published(self) -> Self:
        """This run in the way its code ran when it was published."""
        return replace(self, as_published=None, **self.as_published._asdict()) if self.as_published else self

    @property
    def kind(self) -> RecipeKind:
        """How much care is in it; as much as in a benchmark's if nobody described the program."""
        return self.program.kind if self.program else "record"

    @property
    def is_public(self) -> bool:
        return bool(self.program and self.program.repository)

    @property
    def has_known_pipeline(self) -> bool:
        """Whether it may be known how its data are prepared."""
        return self.stack != OWN_DATA

    @property
    def is_mlperf(self) -> bool:
        """Whether it is a result of MLPerf, whose schedules are tuned to end just past one target."""
        return self.tuned_to is not None

    @property
    def clock_factor(self) -> float:
        """Hours on the recipe's own clock for one hour of training alone: as its log shows, if evaluation counts.

        1 for MLPerf's, whose evaluations and warm-up are modelled apart.
        """
        if self.clock != EVALUATION_COUNTED or self.is_mlperf:
            return 1.0
        end = self.evaluations[-1]
        spent = [(min(phase.to_epoch, end.epochs) - phase.from_epoch, phase.images_per_second) for phase in self.phases]
        if end.hours is None or not all(rate for _, rate in spent):
            return 1 + EVALUATION_SHARE
        train = sum(epochs * self.samples_per_epoch / (rate or 1) for epochs, rate in spent) / SECONDS_PER_HOUR
        return min(max(end.hours / train, 1.0), MOST_CLOCK_FACTOR)


class MetricRecipe(Recipe, frozen=True):
    """A recipe on any data set, in one metric of any name. `data_set_gb` is 0 where nobody said how large that is. Its clock
    counts evaluation, and its `evaluations` are of MetricEvaluation."""

    samples_per_epoch: float = IMAGES_PER_EPOCH  # type: ignore[misc]  # recipes on ImageNet have one in common
    data_set_gb: float = 0.0  # type: ignore[misc]
    metric: str = ""
    lower_is_better: bool = False  # type: ignore[misc]


class ClosedRecipe(MetricRecipe, frozen=True):
    """A result of a benchmark whose runs stop at one target, beyond which it cannot answer: of its `passes` over the data, of
    which one has `samples_per_epoch` of `unit` and is called `pass_name`.

    Its speed is that of the same task's results, not of images. `title` says what is trained and `rules` how, in sentences;
    `run_spread` is the standard deviation of ln(minutes) from run to run, 0 where unknown. Its clock leaves out `untimed_hours`
    of each run.
    """

    title: str = ""  # type: ignore[misc]  # others have theirs in common
    unit: str = "samples"
    pass_name: str = "epochs"  # type: ignore[misc]
    run_spread: float = 0.0  # type: ignore[misc]
    untimed_hours: float = 0.0  # type: ignore[misc]
    rules: tuple[str, ...] = ()

    is_closed: ClassVar[bool] = True

    @property
    def has_known_pipeline(self) -> bool:
        """False: its results' speeds hold how their data were prepared."""
        return False


class OwnRecipe(MetricRecipe, frozen=True):
    """A user's own run as a recipe. `by_word` says that nobody logged one: the user says how many epochs it takes. `shared_by` is
    whose run it is; None the asker's own."""

    by_word: bool = False
    shared_by: str | None = None

    @property
    def title(self) -> str:  # type: ignore[override]
        """What it trains, in words."""
        if self.shared_by:
            return f"a run shared by {self.shared_by}"
        return "your own training" if self.by_word else "your own run"

    @property
    def kind(self) -> RecipeKind:
        """The user's own."""
        return "own"

    @property
    def is_public(self) -> bool:
        """The user has the code."""
        return True

    @property
    def runs_one_way(self) -> bool:
        """A log is of one run; what nobody logged yet may run in any way."""
        return not self.by_word


class StatedRecipe(OwnRecipe, frozen=True):
    """A training of which the asker says how long it took where it `ran_on`, and nothing else."""

    ran_on: Cluster | None = None

    @property
    def title(self) -> str:  # type: ignore[override]
        """What it trains, in words."""
        return "the training of your hours"

    @property
    def kind(self) -> RecipeKind:
        """Nobody's recipe."""
        return "stated"


class LawRecipe(OwnRecipe, frozen=True):
    """The training of a language model on so many tokens, which are its samples."""

    title: ClassVar[str] = "training a language model"
    pass_name: ClassVar[str] = "passes"

    @property
    def kind(self) -> RecipeKind:
        """Of nobody's code, but of a law."""
        return "law"


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
