"""`costcalc measure` and `costcalc recipes`: what one measured oneself, kept beside the prices."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import click

from api.bootstrap import utc_now
from api.cli.grid import Column, table, terminal_width
from api.cli.questions import FAILED, stop
from api.settings import Settings
from costcalc.evidence import load_evidence
from own_runs.speeds import SPEED, MeasuredSpeed, measured_speed
from pricing.store.connection import StoreError
from pricing.store.local_file import OwnRun
from pricing.store.store import Store


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
        stop(
            f"`costcalc measure` needs PyTorch, and {missing.name} is not installed: pip install 'costcalc[measure]'",
            FAILED,
        )
    known = load_evidence().find_model(options.model)
    names = (known.name, *known.aliases) if known else (options.model,)
    request = Request(names, options.module, options.image_size, options.precision, options.batch_size, options.seconds)
    try:
        found = measured(request, find_device(options.device, options.accelerator), _tell)
    except CannotMeasure as error:
        stop(error, FAILED)
    speed = found.speed(utc_now().replace(microsecond=0))
    click.echo(
        f"{speed.model}: {speed.images_per_second:,.4g} images/s on {speed.accelerator} in {speed.precision}, batch "
        f"{speed.batch_size}, repeats within {speed.spread:.1%}; the {found.limited_by} limits it "
        f"(accelerator {found.best.images_per_second:,.4g}, data pipeline {found.pipeline_images_per_second:,.4g} images/s)"
    )
    if known is None:
        _tell(f"no recipe trains {options.model}: name the network whose recipes it stands for to have it used")
    if options.store:
        _keep(settings, speed)


def _keep(settings: Settings, speed: MeasuredSpeed) -> None:
    run = speed.stored()
    try:
        Store(settings.database_url).add_own_run(run)
    except StoreError as error:
        stop(error, FAILED)
    _tell(
        f"stored as {run.id}: answers about 1 x {speed.accelerator} use it; costcalc recipes remove {run.id} takes it back"
    )


def list_runs(settings: Settings) -> None:
    """Prints what is stored, the newest first."""
    for line in table(COLUMNS, [(run, measured_speed(run)) for run in reversed(_runs(settings))], terminal_width()):
        click.echo(line.rstrip())


def remove(settings: Settings, name: str) -> None:
    """Forgets what is stored under this name."""
    names = [run.id for run in _runs(settings)]
    if name not in names:
        stop(f"nothing is stored as {name}: costcalc recipes list shows what is")
    Store(settings.database_url).remove_own_run(name)
    click.echo(f"{name} removed")


def _runs(settings: Settings) -> list[OwnRun]:
    try:
        return [run for run in Store(settings.database_url).own_runs() if run.kind == SPEED]
    except StoreError as error:
        stop(error, FAILED)


def _tell(text: str) -> None:
    click.echo(text, err=True)


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"


COLUMNS = (
    Column("name", lambda each: each[0].id),
    Column("model", lambda each: each[1].model),
    Column("accelerator", lambda each: f"{each[1].accelerators} x {each[1].accelerator}"),
    Column("precision\nand batch", lambda each: f"{each[1].precision} {each[1].batch_size}", leave=2),
    Column("images/s", lambda each: f"{each[1].images_per_second:,.4g} ± {each[1].spread:.0%}", figures=True),
    Column("measured", lambda each: _day(each[1].measured_at), figures=True, leave=1),
)
