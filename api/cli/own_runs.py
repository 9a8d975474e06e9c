"""What `costcalc measure` and `costcalc small` do: one's own speeds, kept beside the prices."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import click

from api.bootstrap import utc_now
from api.cli.failing import FAILED, stop
from api.cli.grid import Column, table, terminal_width
from api.cli.log import this_user
from api.questions.suggestions import many
from api.reports.small_networks import SmallReport
from api.settings import Settings
from costcalc.evidence import load_evidence
from costcalc.evidence.small_devices import small_devices
from costcalc.hardware import Cluster
from costcalc.small_networks import Training
from costcalc.training import Model
from own_runs import this_machine
from own_runs.speeds import SMALL_DEVICE, MeasuredSpeed, small_device, stored_device
from pricing.store.connection import StoreError
from pricing.store.local_file import OwnRun
from pricing.store.store import Store

if TYPE_CHECKING:
    from own_runs.measure.measuring import Measurement, Request

NO_PYTORCH = "`costcalc measure` needs PyTorch, and {} is not installed: pip install 'costcalc[measure]'"


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """The options of `costcalc measure`; None where the machine decides."""

    model: str
    module: str | None
    image_size: int
    precision: str | None
    batch_size: int | None
    seconds: float
    device: str | None
    accelerator: str | None
    store: bool


def measure(settings: Settings, options: MeasureOptions) -> None:
    """Measures a network on this machine, prints the result and stores it."""
    try:
        from own_runs.measure.devices import CannotMeasure, find_device
        from own_runs.measure.measuring import Request
        from own_runs.measure.measuring import measure as measured
    except ModuleNotFoundError as missing:
        stop(NO_PYTORCH.format(missing.name), FAILED)
    known = load_evidence().find_model(options.model)
    names = (known.name, *known.aliases) if known else (options.model,)
    request = Request(names, options.module, options.image_size, options.precision, options.batch_size, options.seconds)
    try:
        device = find_device(options.device, options.accelerator)
        if known and not options.module:
            _predict(device.name, request, known)
        found = measured(request, device, _tell)
    except CannotMeasure as error:
        stop(error, FAILED)
    speed = found.speed(utc_now().replace(microsecond=0))
    _say_measured(found, speed)
    if known is None:
        _tell(f"no recipe trains {options.model}: name the network whose recipes it stands for to have it used")
    if options.store:
        keep(settings, speed.stored(), f"answers about 1 x {speed.accelerator}")


def _predict(device: str, request: Request, model: Model) -> None:
    """Says before a processor is measured what answers take it for, if they can."""
    processors = this_machine.with_this_machine(load_evidence()).processors
    if device not in processors.named:
        return
    said = processors.images_per_second(Cluster(device, 1), model, request.image_size, request.precision or "fp32")
    if said:
        _tell(
            f"predicted from its cores, clock and vector width, as answers do: {said.middle:,.3g} images/s, in 8 of 10 cases "
            f"between {said.low:,.3g} and {said.high:,.3g}"
        )


def _say_measured(found: Measurement, speed: MeasuredSpeed) -> None:
    """Prints the speed, what limits it, and whether other programs disturbed the measurement."""
    click.echo(
        f"{speed.model}: {speed.images_per_second:,.4g} images/s on {speed.accelerator} in {speed.precision}, batch "
        f"{speed.batch_size}, repeats within {speed.spread:.1%}; the {found.limited_by} limits it "
        f"(accelerator {found.best.images_per_second:,.4g}, data pipeline {found.pipeline_images_per_second:,.4g} images/s)"
    )
    if found.is_disturbed:
        _tell(
            f"only {found.processor_share:.0%} of the cores' time was left to it: what others took is not counted, but they "
            "share caches and memory, so measure again while nothing else runs"
        )


def measure_small(settings: Settings, device: str | None, accelerator: str | None, store: bool) -> None:
    """Measures what decides small networks on this machine, prints it and stores it."""
    try:
        from own_runs.measure import small
        from own_runs.measure.devices import CannotMeasure, find_device
    except ModuleNotFoundError as missing:
        stop(NO_PYTORCH.format(missing.name), FAILED)
    now = utc_now().replace(microsecond=0)
    try:
        found = find_device(device, accelerator)
    except CannotMeasure as error:
        stop(error, FAILED)
    constants = small.small_device(found, f"measured here on {now:%Y-%m-%d}, {this_machine.name()}")
    sent = constants.transfer_bytes_per_second
    click.echo(
        f"{constants.name}: {constants.step_seconds * 1e6:,.3g} µs a step and {constants.layer_seconds * 1e6:,.3g} µs a layer, "
        f"{constants.operations_per_second / 1e9:,.4g} GFLOP/s"
        + (f", {sent / 1e9:,.3g} GB/s to the device" if sent else "")
    )
    said, took = small.tried(found, constants)
    click.echo(
        f"a layer of 100 units on 784 inputs, batch 64: {said * 1e6:,.4g} µs a step by these, {took * 1e6:,.4g} measured"
    )
    if store:
        keep(settings, stored_device(constants, now), "small networks on it")


def compare_small(settings: Settings, training: Training, rate: Decimal) -> None:
    """Prints how long a small network trains on this machine and on others, and where the answer turns."""
    measured = (small_device(run) for run in stored_runs(settings, SMALL_DEVICE))
    found = SmallReport(training, rate, (*measured, *small_devices())).document()
    click.echo(
        f"{many(found.layers, 'layer')}, {found.parameters:,} parameters, {found.multiply_adds:,} multiply-adds a sample; "
        f"{found.steps:,} steps of {found.batch_size}"
    )
    for line in table(SMALL_COLUMNS, found.devices, terminal_width()):
        click.echo(line.rstrip())
    click.echo(f"Worth up to: the hourly rate at which it costs as much as {found.reference} at {rate}.")


SMALL_COLUMNS = (
    Column("device", lambda each: each.device),
    Column("step", lambda each: f"{each.step_seconds * 1e6:,.4g} µs", figures=True),
    Column("limited by", lambda each: each.limited_by),
    Column("training", lambda each: f"{each.train_seconds:,.4g} s", figures=True),
    Column("known to\na factor", lambda each: f"{each.factor_80:g}", figures=True),
    Column("worth up to\nan hour", lambda each: f"{each.worth_up_to_hourly:,.3g}", figures=True),
    Column(
        "turns at\nhidden units", lambda each: " ".join(f"{units:,}" for units in each.turns_at or ()), figures=True
    ),
    Column("evidence", lambda each: each.evidence, leave=1),
)


def keep(settings: Settings, run: OwnRun, used: str) -> None:
    """Stores a run or a speed, and says what uses it."""
    try:
        Store(settings.database_url).add_own_run(run, this_user())
    except StoreError as error:
        stop(error, FAILED)
    _tell(f"stored as {run.id}: {used} use it; costcalc recipes remove {run.id} takes it back")


def stored_runs(settings: Settings, *kinds: str) -> list[OwnRun]:
    """What is stored of these kinds, the oldest first."""
    try:
        return [run for run in Store(settings.database_url).own_runs() if run.kind in kinds]
    except StoreError as error:
        stop(error, FAILED)


def _tell(text: str) -> None:
    click.echo(text, err=True)
