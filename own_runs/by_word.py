"""A training without any log, as a question tells of it: so many epochs of a network that has a name, a speed or a size, or so
many hours on a machine."""

from __future__ import annotations

from hashlib import blake2b
from math import inf

from msgspec import Struct
from msgspec.structs import replace

from costcalc.evidence import Evidence
from costcalc.evidence.hub import SIZE_WIDTH, effect_of_size
from costcalc.evidence.timed_networks import OF_DATA, find_timed_network
from costcalc.fields import filled
from costcalc.hardware import Cluster
from costcalc.query import ANY, EPOCHS, EstimateQuery, OwnMachine
from costcalc.recipes import OwnRecipe, StatedRecipe
from costcalc.throughput.chip_hours import ChipHours
from costcalc.throughput.fitted_parameters import FittedParameters, HalfWidth
from costcalc.throughput.workloads import REFERENCE_SIZE
from costcalc.training import (
    DATA_SET_GB,
    IMAGES_PER_EPOCH,
    OWN_DATA,
    YOU,
    YOUR_CODE,
    Compilation,
    MetricEvaluation,
    Model,
    Phase,
    Throughput,
    TrainingKind,
)
from costcalc.units import SECONDS_PER_HOUR
from own_runs.evidence import alone
from own_runs.runs import FRAMEWORK, OWN_CODE

HOURS = "your-hours"
BY_WORD = OwnRecipe(
    name="your-epochs",
    model="",
    organisation=YOU,
    family="",
    framework=YOU,
    framework_family=FRAMEWORK,
    stack=OWN_DATA,
    precision="amp",
    runs=1,
    is_log=False,
    year=2022,
    source="your question",
    phases=(),
    evaluations=(),
    published="2000-01-01",  # as old as any question
    code="own",
    plain=True,
    data_set_gb=0.0,
    metric=EPOCHS,
    by_word=True,
)
"""What all trainings have in common of which nobody sent a log."""


class Described(Struct, frozen=True):
    """What a question says of its training: the network's name or ANY, how many epochs reach a `target` in which metric, and how
    large the network (millions of parameters, 1e9 multiply-adds) and its data set are, as far as that is said. It is a plain
    loop, which runs as PyTorch's do unless the question says more."""

    model: str
    epochs: float
    metric: str
    target: float
    parameters: float | None = None
    gmacs: float | None = None
    samples_per_epoch: int | None = None
    precision: str = "amp"
    compilation: Compilation = "eager"

    @classmethod
    def of(cls, query: EstimateQuery) -> Described | None:
        """What the question describes; None if it leaves the epochs to recipes."""
        if query.epochs is None:
            return None
        sizes = query.parameters, query.gmacs, query.samples_per_epoch
        timed = find_timed_network(query.model)
        running = query.precision or (timed.precision if timed else "amp"), query.compilation or "eager"
        return cls(query.model, query.epochs, query.metric, query.target, *sizes, *running)

    def evidence(self, beside: Evidence) -> Evidence:
        """The evidence for questions about it, which have this recipe alone."""
        network, timed = beside.models.get(self.model) or self._network(), find_timed_network(self.model)
        fitted = beside.fitted if network.name in beside.models else _of_size(network, beside.fitted)
        known = alone(
            beside,
            network,
            self._recipe(network),
            blake2b(repr(self).encode(), digest_size=4).hexdigest(),
            fitted=fitted,
        )
        if timed is None:
            return replace(known, own_speeds=beside.own_speeds_of(network.name))
        speeds = ChipHours(timed.speed, timed.kind, beside.accelerators, OF_DATA, timed.needed_gib)
        return replace(known, make_speeds=lambda _: speeds)

    def _network(self) -> Model:
        has_size = self.parameters is not None and self.gmacs is not None
        return Model(
            name=self.model,
            aliases=(),
            family=self.model,
            parameters_millions=self.parameters,
            gmacs=self.gmacs,
            image_size=REFERENCE_SIZE,
            source="your question",
            speed_width=SIZE_WIDTH if has_size else 0.0,
        )

    def _recipe(self, network: Model) -> OwnRecipe:
        own_data = self.samples_per_epoch not in (None, IMAGES_PER_EPOCH)
        return replace(
            BY_WORD,
            model=network.name,
            family=network.family,
            stack=OWN_DATA if own_data else OWN_CODE,
            precision=self.precision,
            compilation=self.compilation,
            scheduled_epochs=self.epochs,
            phases=(Phase(network.image_size or REFERENCE_SIZE, 0.0, self.epochs),),
            evaluations=(MetricEvaluation(self.epochs, None, value=self.target),),
            samples_per_epoch=self.samples_per_epoch or IMAGES_PER_EPOCH,
            data_set_gb=0.0 if own_data else DATA_SET_GB,
            metric=self.metric,
        )


def _of_size(network: Model, fitted: FittedParameters) -> FittedParameters:
    """The parameters fitted to networks of that size; without a size, the range is wide by rule."""
    effects, widths = {**fitted.transfer.effects}, {**fitted.widths}
    if network.gmacs is None:
        widths["network"] = HalfWidth(fitted.widths["code"].ln, by_rule=True)
    else:
        effects["model", network.name] = effect_of_size(network.gmacs)
    transfer = replace(fitted.transfer, models={**fitted.transfer.models, network.name: network}, effects=effects)
    return replace(fitted, transfer=transfer, widths=widths)


class Stated(Struct, frozen=True):
    """So many hours on a machine, of a kind of training; `name` is what the question calls it."""

    name: str
    hours: float
    machine: OwnMachine
    kind: TrainingKind

    @classmethod
    def of(cls, query: EstimateQuery) -> Stated | None:
        """What the question states; None if it says what is trained."""
        return None if query.took is None else cls(query.model, query.took, query.on[0], query.kind)

    def evidence(self, beside: Evidence) -> Evidence:
        """The evidence for questions about it, which have this recipe and this speed alone: one sample is the whole training."""
        network = Model(self.name, (), self.name, None, None, REFERENCE_SIZE, BY_WORD.source)
        speed = ChipHours(self._speed(), self.kind, beside.accelerators)
        version = f"{self.name} {self.hours:g}h on {self.machine}, {self.kind}"
        return alone(beside, network, self._recipe(), version, make_speeds=lambda _: speed)

    def _speed(self) -> Throughput:
        return Throughput(
            name=HOURS,
            model=self.name,
            image_size=REFERENCE_SIZE,
            accelerator=self.machine.accelerator,
            accelerators=self.machine.accelerators,
            framework=BY_WORD.framework,
            framework_family=BY_WORD.framework_family,
            stack=BY_WORD.stack,
            images_per_second=1 / (self.hours * SECONDS_PER_HOUR),
            data="whole run",
            organisation=YOUR_CODE,
            year=BY_WORD.year,
            source=BY_WORD.source,
            code="own",
        )

    def _recipe(self) -> StatedRecipe:
        return filled(
            StatedRecipe,
            BY_WORD,
            name=HOURS,
            model=self.name,
            family=ANY,
            scheduled_epochs=1.0,
            phases=(Phase(REFERENCE_SIZE, 0.0, 1.0),),
            evaluations=(MetricEvaluation(1.0, None, value=1.0),),
            samples_per_epoch=1,
            ran_on=Cluster(self.machine.accelerator, self.machine.accelerators),
        )


BATCH = 512
STEPS = ((20_000, 500), (500_000, 10_000), (inf, 20_000))
"""Below so many images, so many steps: the schedule of Big Transfer (Kolesnikov et al., 2020, https://arxiv.org/abs/1912.11370,
section 3.3), which its authors used for all data sets."""


def usual_steps(images: int) -> int:
    """The steps for so many images."""
    return next(steps for below, steps in STEPS if images < below)


def usual_epochs(images: int) -> float:
    """The passes over so many images that these steps are, to a tenth."""
    return max(round(usual_steps(images) * BATCH / images, 1), 0.1)
