"""What `costcalc measure`, `costcalc small` and `costcalc recipes` do: one's own runs and speeds, kept beside the prices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from api.bootstrap import utc_now
from api.cli.failing import FAILED, stop, told
from api.cli.grid import Column, table, terminal_width
from api.cli.log import this_user
from api.cli.options import dashed
from api.questions.errors import BadParameters
from api.questions.suggestions import many
from api.reports.small_networks import SmallReport
from api.settings import Settings
from costcalc.evidence import load_evidence
from costcalc.evidence.small_devices import small_devices
from costcalc.hardware import Cluster
from costcalc.small_networks import Training
from costcalc.training import Model
from own_runs import this_machine
from own_runs.runs import RUN, Run, stored_run
from own_runs.speeds import SMALL_DEVICE, SPEED, MeasuredSpeed, measured_speed, small_device, stored_device
from pricing.store.connection import StoreError
from pricing.store.local_file import OwnRun
from pricing.store.store import Store

if TYPE_CHECKING:
    from own_runs.measure.measuring import Measurement, Request

NO_PYTORCH = "`costcalc measure` needs PyTorch, and {} is not installed: pip install 'costcalc[measure]'"
MOST_DRAWN, WIDEST_BAR = 12, 40
NO_RUNS = "Nothing of your own is stored yet: costcalc recipes add LOG stores a run."


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
        _keep(settings, speed.stored(), f"answers about 1 x {speed.accelerator}")


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
        _keep(settings, stored_device(constants, now), "small networks on it")


def compare_small(settings: Settings, training: Training, rate: Decimal) -> None:
    """Prints how long a small network trains on this machine and on others, and where the answer turns."""
    measured = (small_device(run) for run in _runs(settings, SMALL_DEVICE))
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


def _keep(settings: Settings, run: OwnRun, used: str) -> None:
    try:
        Store(settings.database_url).add_own_run(run, this_user())
    except StoreError as error:
        stop(error, FAILED)
    _tell(f"stored as {run.id}: {used} use it; costcalc recipes remove {run.id} takes it back")


def add(settings: Settings, log: Path, given: dict[str, list[str]], only_try: bool) -> None:
    """Makes a log a recipe that everybody sees who asks this store; `only_try` draws its curve instead."""
    from api.bootstrap import build_once
    from api.questions.own_runs import RunSchema
    from api.reports.own_runs import check_room, new_run

    with told():
        service = build_once(settings)
        try:
            run = new_run(service, service.catalogue(), service.check(RunSchema(), given), log)
        except BadParameters as refused:
            stop("\n".join(_as_options(refused.errors, log)))
        check_room(service.runs(), run, None)
    for note in run.notes:
        _tell(note)
    click.echo(
        f"{run.name}: {run.epochs:,.4g} epochs of {run.dataset} in {run.hours:,.4g} h on {run.accelerators} x {run.accelerator}, "
        f"{run.samples_per_second:,.4g} samples/s; {run.metric} reached {run.reached:,.6g}"
    )
    if only_try:
        click.echo("\n".join([*_curve(run), "Nothing is stored: leave --try out to keep it."]))
    else:
        _keep(settings, run.stored(), f"answers about {run.name}")


def _curve(run: Run) -> Iterator[str]:
    """A few points of a run's curve, each with a bar from its lowest to its highest value."""
    values = [point.value for point in run.curve]
    low, high = min(values), max(values)
    for point in run.curve[:: -(-len(run.curve) // MOST_DRAWN)]:
        bar = "█" * round(WIDEST_BAR * (point.value - low) / (high - low or 1))
        yield f"{point.epochs:10,.4g} epochs  {point.value:<10.5g} {bar}".rstrip()


def _as_options(errors: dict[str, list[str]], log: Path) -> Iterator[str]:
    """`--batch-size is missing: ...`"""
    for name, lines in errors.items():
        option = str(log) if name == "file" else f"--{dashed(name)}"
        yield from (f"{option} is {line}" if line.startswith("missing") else f"{option}: {line}" for line in lines)


def compare(settings: Settings, name: str | None) -> None:
    """Prints what was predicted of a run, or of all, beside what it took."""
    from api.bootstrap import build_once
    from api.reports.plan_and_actual import comparisons, score

    with told():
        compared = comparisons(build_once(settings), name)
    if not compared:
        click.echo(NO_RUNS)
        return
    if name is not None:
        (one,) = compared
        based = one.predicted_from or "nothing is known of this network, data set and metric without it"
        click.echo(f"{one.run} on {one.machine or 'its machine'}; predicted from {based}")
        lines = table(TERM_COLUMNS, one.terms, terminal_width())
    else:
        lines = table(COMPARED_COLUMNS, compared, terminal_width())
    for line in lines:
        click.echo(line.rstrip())
    found = score(compared)
    if found.mape is not None:
        click.echo(
            f"hours off by {found.mape:.1%} on average over {found.predicted} of {found.runs}; {found.within} took as long as "
            "the 80 % interval says"
        )


def list_runs(settings: Settings) -> None:
    """Prints the runs and the speeds that are stored, each the newest first."""
    rows = list(reversed(_runs(settings, RUN, SPEED)))
    runs = [(row, stored_run(row)) for row in rows if row.kind == RUN]
    speeds = [(row, measured_speed(row)) for row in rows if row.kind == SPEED]
    for columns, listed in ((RUN_COLUMNS, runs), (SPEED_COLUMNS, speeds)):
        for line in table(columns, listed, terminal_width()) if listed else ():
            click.echo(line.rstrip())
    if not rows:
        click.echo(NO_RUNS)


def remove(settings: Settings, name: str) -> None:
    """Forgets what is stored under this name."""
    names = [row.id for row in _runs(settings, RUN, SPEED, SMALL_DEVICE)]
    if name not in names:
        stop(f"nothing is stored as {name}: costcalc recipes list shows what is")
    Store(settings.database_url).remove_own_run(name, this_user())
    click.echo(f"{name} removed")


def _runs(settings: Settings, *kinds: str) -> list[OwnRun]:
    try:
        return [run for run in Store(settings.database_url).own_runs() if run.kind in kinds]
    except StoreError as error:
        stop(error, FAILED)


def _tell(text: str) -> None:
    click.echo(text, err=True)


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"


SPEED_COLUMNS = (
    Column("name", lambda each: each[0].id),
    Column("model", lambda each: each[1].model),
    Column("accelerator", lambda each: f"{each[1].accelerators} x {each[1].accelerator}"),
    Column("precision\nand batch", lambda each: f"{each[1].precision} {each[1].batch_size}", leave=2),
    Column("images/s", lambda each: f"{each[1].images_per_second:,.4g} ± {each[1].spread:.0%}", figures=True),
    Column("measured", lambda each: _day(each[1].measured_at), figures=True, leave=1),
)
RUN_COLUMNS = (
    Column("name", lambda each: each[0].id),
    Column("trained", lambda each: f"{each[1].model} on {each[1].dataset}", leave=2),
    Column("reached", lambda each: f"{each[1].reached:,.4g} {each[1].metric}"),
    Column("epochs", lambda each: f"{each[1].epochs:,.4g}", figures=True),
    Column("hours", lambda each: f"{each[1].hours:,.4g}", figures=True),
    Column("accelerators", lambda each: f"{each[1].accelerators} x {each[1].accelerator}"),
    Column("seen by", lambda each: "a token" if each[0].owner else "all", leave=3),
    Column("ran", lambda each: f"{each[1].ran_on}", figures=True, leave=1),
)


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:,.4g}"


TERM_COLUMNS = (
    Column("term", lambda each: each.name),
    Column("predicted", lambda each: _figure(each.predicted), figures=True),
    Column("took", lambda each: _figure(each.took), figures=True),
    Column("unit", lambda each: each.unit),
)
COMPARED_COLUMNS = (
    Column("run", lambda each: each.run),
    Column("hours predicted", lambda each: _figure(each.hours.predicted), figures=True),
    Column("range", lambda each: f"{_figure(each.hours_low)}-{_figure(each.hours_high)}".strip("-"), figures=True),
    Column("took", lambda each: _figure(each.hours.took), figures=True),
    Column("off by", lambda each: "" if each.error is None else f"{each.error:+.0%}", figures=True),
    Column("in range", lambda each: {True: "yes", False: "no", None: ""}[each.is_within]),
)
