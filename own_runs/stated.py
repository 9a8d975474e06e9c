"""A training of which a question says only how long it took, and on what."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from costcalc.evidence import Evidence
from costcalc.hardware import Cluster
from costcalc.query import ANY, EPOCHS, EstimateQuery, OwnMachine
from costcalc.recipes import StatedRecipe
from costcalc.throughput.chip_hours import ChipHours
from costcalc.throughput.workloads import REFERENCE_SIZE
from costcalc.training import OWN_DATA, YOU, YOUR_CODE, MetricEvaluation, Model, Phase, Throughput, TrainingKind
from costcalc.units import SECONDS_PER_HOUR
from own_runs.speeds import FRAMEWORK

RECIPE, YEAR, SOURCE = "your-hours", 2022, "your question"


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
        network = Model(self.name, (), self.name, None, None, REFERENCE_SIZE, SOURCE)
        speed = ChipHours(self._speed(), self.kind, beside.accelerators)
        return replace(
            beside,
            models={**beside.models, self.name: network},
            recipes=(self._recipe(),),
            schedules=(),
            own_speeds=(),
            version=f"{beside.version}+{self.name} {self.hours:g}h on {self.machine}, {self.kind}",
            later=(),
            of_own_run=True,
            make_speeds=lambda _: speed,
        )

    def _speed(self) -> Throughput:
        return Throughput(
            name=RECIPE,
            model=self.name,
            image_size=REFERENCE_SIZE,
            accelerator=self.machine.accelerator,
            accelerators=self.machine.accelerators,
            framework=YOU,
            framework_family=FRAMEWORK,
            stack=OWN_DATA,
            images_per_second=1 / (self.hours * SECONDS_PER_HOUR),
            data="whole run",
            organisation=YOUR_CODE,
            year=YEAR,
            source=SOURCE,
            code="own",
        )

    def _recipe(self) -> StatedRecipe:
        return StatedRecipe(
            name=RECIPE,
            model=self.name,
            organisation=YOU,
            family=ANY,
            framework=YOU,
            framework_family=FRAMEWORK,
            stack=OWN_DATA,
            precision="amp",
            scheduled_epochs=1.0,
            runs=1,
            is_log=False,
            year=YEAR,
            source=SOURCE,
            phases=(Phase(REFERENCE_SIZE, 0.0, 1.0),),
            evaluations=(MetricEvaluation(1.0, None, value=1.0),),
            published="2000-01-01",  # as old as any question
            code="own",
            plain=True,
            samples_per_epoch=1,
            ran_on=Cluster(self.machine.accelerator, self.machine.accelerators),
            data_set_gb=0.0,
            metric=EPOCHS,
            by_word=True,
        )
