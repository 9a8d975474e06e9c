"""How a network is trained: the recipes that somebody published, ran or described."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from costcalc.hardware import Cluster
from costcalc.programs import Command, Program, RecipeKind
from costcalc.training import (
    DATA_SET_GB,
    IMAGES_PER_EPOCH,
    OWN_DATA,
    THIRTY_TWO_BIT,
    UNKNOWN_SYSTEM,
    Code,
    Compilation,
    Evaluation,
    Phase,
    Running,
    System,
    known_on,
)
from costcalc.units import SECONDS_PER_HOUR

EVALUATION_SHARE = 50_000 / IMAGES_PER_EPOCH / 3
"""Validating 50,000 images after every epoch, in units of training: a forward pass is a third of a step's arithmetic."""
EVALUATION_COUNTED = "training+evaluation"  # a `Recipe.clock`
MOST_CLOCK_FACTOR = 1.3
IN_16_BITS = "-amp"
"""How the names of recipes end that were published in 32 bits and run in 16."""


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
    sample_name: ClassVar[str] = "images"
    has_own_metric: ClassVar[bool] = False
    is_own: ClassVar[bool] = False
    by_word: ClassVar[bool] = False
    shared_by: ClassVar[str | None] = None

    @property
    def home(self) -> System:
        """The machines it was run on; UNKNOWN_SYSTEM where nobody said which."""
        return self.system or UNKNOWN_SYSTEM

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


def of_each(read: Callable[[Recipe], object], kind: type = float) -> cached_property[NDArray[Any]]:
    """A column of what has `recipes`: what is read of each of them [R], NaN for None."""
    return cached_property(lambda of: np.array([read(recipe) for recipe in of.recipes], kind))


class MetricRecipe(Recipe, frozen=True):
    """A recipe on any data set, in one metric of any name. `data_set_gb` is 0 where nobody said how large that is. Its clock
    counts evaluation, and its `evaluations` are of MetricEvaluation."""

    samples_per_epoch: float = IMAGES_PER_EPOCH  # type: ignore[misc]  # recipes on ImageNet have one in common
    data_set_gb: float = 0.0  # type: ignore[misc]
    metric: str = ""
    lower_is_better: bool = False  # type: ignore[misc]

    has_own_metric: ClassVar[bool] = True


class ClosedRecipe(MetricRecipe, frozen=True):
    """A result of a benchmark whose runs stop at one target, beyond which it cannot answer: of its `passes` over the data, of
    which one has `samples_per_epoch` of `unit` and is called `pass_name`.

    Its speed is that of the same task's results, not of images. `title` says what is trained and `rules` how, in sentences;
    `run_spread` is the standard deviation of ln(minutes) from run to run, 0 where unknown. Its clock leaves out `untimed_hours`
    of each run. Each accelerator reserved `memory_gib`, None where that is not known.
    """

    title: str = ""  # type: ignore[misc]  # others have theirs in common
    unit: str = "samples"
    pass_name: str = "epochs"  # type: ignore[misc]
    run_spread: float = 0.0  # type: ignore[misc]
    untimed_hours: float = 0.0  # type: ignore[misc]
    rules: tuple[str, ...] = ()
    memory_gib: float | None = None

    is_closed: ClassVar[bool] = True

    @property
    def has_known_pipeline(self) -> bool:
        """False: its results' speeds hold how their data were prepared."""
        return False


class OwnRecipe(MetricRecipe, frozen=True):
    """A user's own run as a recipe. `by_word` says that nobody logged one: the user says how many epochs it takes. `shared_by` is
    whose run it is; None the asker's own."""

    by_word: bool = False  # type: ignore[misc]  # nobody else's is
    shared_by: str | None = None  # type: ignore[misc]

    sample_name: ClassVar[str] = "samples"
    is_own: ClassVar[bool] = True

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
