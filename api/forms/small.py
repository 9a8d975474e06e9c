"""`/small`: a network so small that launches and transfer decide: how long it trains on a processor and on GPUs, and where that
turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, ClassVar, Literal

from msgspec import Struct

from api.formats import words
from api.formats.column import Column
from api.formats.tables import Table
from api.forms.code import Code
from api.questions.schemas.training import LayoutSchema, schema
from api.questions.suggestions import many
from api.questions.values import Values, taken
from api.service import Service
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence.small_devices import small_devices
from costcalc.fields import filled
from costcalc.parameters import Param
from costcalc.small_networks import SmallDevice, SmallNetwork, Training, hours, step_time, turning_factor, worth_up_to
from costcalc.units import SECONDS_PER_HOUR, in_words
from own_runs.runs import SMALL_DEVICE, small_device


class SmallParameters(Struct):
    """A network by its layers, and how long it is trained."""

    # fmt: off
    model: Annotated[SmallNetwork, Param(
        "layers: mlp:inputs-units-...-classes for dense ones, cnn:heightxwidthxchannels-channels-...-classes for 3 x 3 "
        "convolutions",
        "goal", "mlp:784-512-512-10", "layers", use="everyday")]
    samples: Annotated[int, Param(
        "samples of the data set; default 60000",
        "described", 60_000, low=1, high=10**12, use="usual")] = 60_000
    batch_size: Annotated[int, Param("samples per step; default 64", "described", 64, low=1, high=10**9, use="usual")] = 64
    epochs: Annotated[int, Param("passes over all samples; default 10", "described", 10, low=1, high=10**6, use="usual")] = 10
    hourly_rate: Annotated[Decimal, Param(
        "hourly rate of the processor; default 0.10",
        "money", "0.10", "money", above=0, high=10**6, use="usual")] = Decimal("0.10")
    # fmt: on


SmallSchema = schema(LayoutSchema, SmallParameters)


@dataclass(frozen=True, slots=True)
class SmallTraining:
    """The training on one device. `train_seconds` is known to the factor `factor_80`, in 8 of 10 cases. At `worth_up_to_hourly`
    the device costs as much as the `reference`; `turns_at` are the units of each hidden layer with which both are equally fast,
    null on the reference itself and where no size makes them so."""

    device: str
    step_seconds: float
    limited_by: str
    train_seconds: float
    train_seconds_low: float
    train_seconds_high: float
    factor_80: float
    worth_up_to_hourly: float
    turns_at: tuple[int, ...] | None
    evidence: Literal["measured", "modelled"]
    source: str


@dataclass(frozen=True, slots=True)
class SmallDocument:
    """The JSON answer, the fastest device first. `reference` is the processor that costs `hourly_rate`; `multiply_adds` are those
    of one sample."""

    layers: int
    parameters: int
    multiply_adds: int
    samples: int
    batch_size: int
    epochs: int
    steps: int
    reference: str
    hourly_rate: Decimal
    devices: tuple[SmallTraining, ...]
    verdict: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SmallReport:
    """A small network on all devices that are known."""

    name: ClassVar = "small"
    rest: ClassVar = None
    training: Training
    hourly_rate: Decimal
    devices: tuple[SmallDevice, ...]

    def rows(self) -> tuple[SmallTraining, ...]:
        return tuple(self._trainings())

    def document(self) -> SmallDocument:
        training, network = self.training, self.training.network
        return filled(
            SmallDocument,
            training,
            network,
            reference=self.home.name,
            hourly_rate=self.hourly_rate,
            devices=self.rows(),
            verdict=tuple(self._verdict()),
        )

    def _verdict(self) -> Iterator[str]:
        training, network = self.training, self.training.network
        yield (
            f"{many(network.layers, 'layer')}, {network.parameters:,} parameters, {network.multiply_adds:,} multiply-adds a "
            f"sample; {training.steps:,} steps of {training.batch_size}."
        )
        yield f"At the rate up to which it is worth it, a device costs as much as {self.home.name} at {self.hourly_rate} an hour."

    @property
    def home(self) -> SmallDevice:
        """The processor that the others are compared with: the user's own, if it was measured."""
        return next(device for device in self.devices if device.transfer_bytes_per_second is None)

    def _trainings(self) -> Iterator[SmallTraining]:
        spent = hours(self.training, self.home)
        for device in sorted(self.devices, key=lambda device: hours(self.training, device)):
            took, step = hours(self.training, device), step_time(self.training, device)
            factor = turning_factor(self.training, self.home, device) if device is not self.home else None
            yield filled(
                SmallTraining,
                device,
                device=device.name,
                step_seconds=step.seconds,
                limited_by=step.limited_by,
                train_seconds=took * SECONDS_PER_HOUR,
                train_seconds_low=took * SECONDS_PER_HOUR / device.factor_80,
                train_seconds_high=took * SECONDS_PER_HOUR * device.factor_80,
                worth_up_to_hourly=worth_up_to(float(self.hourly_rate), spent, took),
                turns_at=None if factor is None else self.training.network.scaled(factor).widths[:-1],
            )


def small_report(service: Service, _: Catalogue, values: Values) -> SmallReport:
    """The report that parsed parameters of `/small` ask for."""
    given = taken(SmallParameters, values)
    training = Training(given.model, given.samples, given.batch_size, given.epochs)
    measured = (small_device(run) for run in service.runs.seen_by(None) if run.kind == SMALL_DEVICE)
    return SmallReport(training, given.hourly_rate, (*measured, *small_devices()))


TABLE = Table(
    "A small network",
    "How long a network given by its layers trains on a processor and on GPUs, the fastest first.",
    "device",
    SmallTraining,
    (
        Column("Device", lambda row: row.device),
        Column("Time", lambda row: in_words(row.train_seconds / 3600), is_number=True, bar=lambda row: row.train_seconds,
               small=lambda row: words.span(row.train_seconds_low / 3600, row.train_seconds_high / 3600)),
        Column("A step", lambda row: f"{row.step_seconds * 1e6:,.4g} µs", is_number=True),
        Column("Limited by", lambda row: row.limited_by),
        Column("Worth an hour up to", lambda row: f"${row.worth_up_to_hourly:,.3g}", is_number=True),
        Column("Turns at", lambda row: " ".join(f"{units:,}" for units in row.turns_at or ()), is_number=True, leave=3,
               meaning="the units of each hidden layer with which it is as fast as the processor."),
        Column("Known", lambda row: row.evidence, source=lambda row: row.source, leave=2),
    ),
    ("model", "samples", "batch_size", "epochs", "hourly_rate"),
)  # fmt: skip

CODE: Code[SmallReport] = Code(SmallSchema, small_report, SmallDocument, TABLE)
