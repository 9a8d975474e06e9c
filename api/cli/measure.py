"""`costcalc measure`: the user's own speeds, kept beside the prices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from api.bootstrap import utc_now
from api.cli.failing import FAILED, settings_of_environment, stop, stopping_on_faults
from api.cli.log import this_user
from api.settings import Settings
from costcalc.evidence import load_evidence
from costcalc.hardware import Cluster
from costcalc.training import Model
from own_runs import this_machine
from own_runs.runs import MeasuredSpeed, stored_device
from pricing.store.local_file import OwnRun
from pricing.store.store import Store

if TYPE_CHECKING:
    from own_runs.measure.measuring import Measurement, Request

NO_PYTORCH = "`costcalc measure` needs PyTorch, and {} is not installed: pip install 'costcalc[measure]'"


@click.command()
@click.argument("model", default="resnet50")
@click.option("--module", metavar="PACKAGE.MODULE:FACTORY", help="Measure what this function returns, as MODEL.")
@click.option("--image-size", type=click.IntRange(1, 4096), default=224, show_default=True, help="Pixels a side.")
@click.option(
    "--precision",
    type=click.Choice(["fp32", "bf16", "fp16"], case_sensitive=False),
    help="Default: the fastest of the device.",
)
@click.option("--batch-size", type=click.IntRange(1), help="Default: doubled while it fits and gets faster.")
@click.option(
    "--seconds",
    type=click.FloatRange(0.1, 600),
    default=10,
    show_default=True,
    help="Seconds to spend on each batch size.",
)
@click.option(
    "--device",
    type=click.Choice(["cuda", "mps", "xla", "cpu"], case_sensitive=False),
    help="Default: the fastest there is.",
)
@click.option("--accelerator", metavar="NAME", help="A name for the device, instead of its own.")
@click.option("--store/--no-store", default=True, show_default=True, help="Use it in answers from now on.")
@click.option("--small", is_flag=True, help="Measure what matters to small networks instead: see `costcalc small`.")
def measure(model: str, device: str | None, accelerator: str | None, store: bool, small: bool, **how: Any) -> None:
    """Measure how fast MODEL trains on this machine.

    Answers then use it as your own speed. MODEL is a network of torchvision or timm, or with --module the
    network whose recipes your own stands for. ROCm is cuda.
    """
    settings = settings_of_environment()
    if small:
        measure_small(settings, device, accelerator, store)
        return
    try:
        from own_runs.measure.devices import CannotMeasure, find_device
        from own_runs.measure.measuring import Request
        from own_runs.measure.measuring import measure as measured
    except ModuleNotFoundError as missing:
        stop(NO_PYTORCH.format(missing.name), FAILED)
    network = load_evidence().find_model(model)
    request = Request((network.name, *network.aliases) if network else (model,), **how)
    try:
        found_device = find_device(device, accelerator)
        if network and not request.module:
            _predict(found_device.name, request, network)
        result = measured(request, found_device, _tell)
    except CannotMeasure as error:
        stop(error, FAILED)
    speed = result.speed(utc_now().replace(microsecond=0))
    _say_measured(result, speed)
    if network is None:
        _tell(f"no recipe trains {model}: name the network whose recipes it stands for to have it used")
    if store:
        keep(settings, speed.stored(), f"answers about 1 x {speed.accelerator}")


def _predict(device: str, request: Request, model: Model) -> None:
    """Says before a processor is measured what answers take it for, if they can."""
    processors = this_machine.with_this_machine(load_evidence()).processors
    if device not in processors.named:
        return
    speed = processors.images_per_second(Cluster(device, 1), model, request.image_size, request.precision or "fp32")
    if speed:
        _tell(
            f"predicted from its cores, clock and vector width, as answers do: {speed.middle:,.3g} images/s, in 8 of 10 cases "
            f"between {speed.low:,.3g} and {speed.high:,.3g}"
        )


def _say_measured(result: Measurement, speed: MeasuredSpeed) -> None:
    """Prints the speed, what limits it, and whether other programs disturbed the measurement."""
    click.echo(
        f"{speed.model}: {speed.images_per_second:,.4g} images/s on {speed.accelerator} in {speed.precision}, batch "
        f"{speed.batch_size}, repeats within {speed.spread:.1%}; the {result.limited_by} limits it "
        f"(accelerator {result.best.images_per_second:,.4g}, data pipeline {result.pipeline_images_per_second:,.4g} images/s)"
    )
    if result.is_disturbed:
        _tell(
            f"only {result.processor_share:.0%} of the cores' time was left to it: what others took is not counted, but they "
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
        processor = find_device(device, accelerator)
    except CannotMeasure as error:
        stop(error, FAILED)
    constants = small.small_device(processor, f"measured here on {now:%Y-%m-%d}, {this_machine.name()}")
    sent = constants.transfer_bytes_per_second
    click.echo(
        f"{constants.name}: {constants.step_seconds * 1e6:,.3g} µs a step and {constants.layer_seconds * 1e6:,.3g} µs a layer, "
        f"{constants.operations_per_second / 1e9:,.4g} GFLOP/s"
        + (f", {sent / 1e9:,.3g} GB/s to the device" if sent else "")
    )
    step, took = small.tried(processor, constants)
    click.echo(
        f"a layer of 100 units on 784 inputs, batch 64: {step * 1e6:,.4g} µs a step by these, {took * 1e6:,.4g} measured"
    )
    if store:
        keep(settings, stored_device(constants, now), "small networks on it")


def keep(settings: Settings, run: OwnRun, used: str) -> None:
    """Stores a run or a speed, and says what uses it."""
    with stopping_on_faults():
        by = this_user()
        Store(settings.database_url).add_own_run(replace(run, shared_by=by.who), by)
    _tell(f"stored as {run.id}: {used} use it; costcalc recipes remove {run.id} takes it back")


def stored_runs(settings: Settings, *kinds: str) -> list[OwnRun]:
    """What is stored of these kinds, the oldest first."""
    with stopping_on_faults():
        return [run for run in Store(settings.database_url).own_runs() if run.kind in kinds]


def _tell(text: str) -> None:
    click.echo(text, err=True)
