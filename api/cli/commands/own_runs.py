"""The commands that measure this machine or follow what runs on it."""

from __future__ import annotations

import sys
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from api.cli.failing import settings_of_environment, stop

if TYPE_CHECKING:
    pass


def amount(context: click.Context, option: click.Parameter, value: str | None) -> Decimal | None:
    """The amount of money that an option has. Ends the command where it is none."""
    try:
        found = Decimal(value or "nan")
    except InvalidOperation:
        found = Decimal("nan")
    if value is not None and not (found.is_finite() and found > 0):
        raise click.BadParameter(f"must be a number above 0, such as 12.24; got {value}", context, option)
    return found if value is not None else None


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
def measure(small: bool, **options: Any) -> None:
    """Measure how fast MODEL trains on this machine.

    Answers then use it as your own speed. MODEL is a network of torchvision or timm, or with --module the
    network whose recipes your own stands for. ROCm is cuda.
    """
    from api.cli import own_runs as commands

    if small:
        commands.measure_small(
            settings_of_environment(), *(options[name] for name in ("device", "accelerator", "store"))
        )
    else:
        commands.measure(settings_of_environment(), commands.MeasureOptions(**options))


@click.command()
@click.argument("layers")
@click.option(
    "--samples", type=click.IntRange(1, 10**12), default=60_000, show_default=True, help="Samples of the data set."
)
@click.option("--batch-size", type=click.IntRange(1, 10**9), default=64, show_default=True, help="Samples a step.")
@click.option(
    "--epochs", type=click.IntRange(1, 10**6), default=10, show_default=True, help="Passes over the data set."
)
@click.option("--rate", callback=amount, default="0.10", show_default=True, help="What an hour of this machine costs.")
def small(layers: str, samples: int, batch_size: int, epochs: int, rate: Decimal) -> None:
    """Compare this machine with GPUs for a very small network.

    It is so small that launches and transfer decide. LAYERS are those of a dense network, such as mlp:784-512-512-10, or of a
    convolutional one, such as cnn:28x28x1-32-64-10: height, width and channels, the channels of 3 x 3 convolutions, the
    classes.
    """
    from api.cli import own_runs as commands
    from costcalc.small_networks import Training, WrongLayers, small_network

    try:
        training = Training(small_network(layers), samples, batch_size, epochs)
    except WrongLayers as error:
        stop(error)
    commands.compare_small(settings_of_environment(), training, rate)


@click.command()
@click.argument("log", type=click.Path(path_type=Path))
@click.option(
    "--max-cost", metavar="USD", callback=amount, help="What the whole run may cost, such as 200; default any sum."
)
@click.option("--rate", metavar="USD", callback=amount, help="What an hour of its machines costs, such as 12.24.")
@click.option("--instance", metavar="PROVIDER:TYPE", help="Or the machine: aws:p3.8xlarge, aws:p3.8xlarge:2, ...:spot.")
@click.option("--planned-epochs", type=click.FloatRange(0, min_open=True), help="The length of its schedule.")
@click.option("--target", type=float, help="The value of the metric to reach, such as 0.757.")
@click.option("--metric", help="Its name in the log, where that has several.")
@click.option("--lower-is-better", is_flag=True, help="For a loss or an error.")
@click.option("--like", multiple=True, metavar="RECIPE", help="Runs of its family, such as ffcv-rn50-*; repeatable.")
@click.option("--steps-per-epoch", type=click.FloatRange(0, min_open=True), help="For a log that counts steps.")
@click.option("--started", type=click.DateTime(), help="When it began (UTC), for a log without times.")
@click.option("--once", is_flag=True, help="Look once, as from cron.")
@click.option("--every", type=click.FloatRange(0.01), default=60, show_default=True, help="Seconds between looks.")
@click.option("--slack", is_flag=True, help="Post the alarm to COSTCALC_SLACK_WEBHOOK_URL and go on.")
def watch(log: Path, rate: Decimal | None, instance: str | None, **options: Any) -> None:
    """Follow the LOG of a running training, and its budget.

    It says the dollars so far, and those to the target with their range. Exit status 3: the range leaves --max-cost. Any log
    that
    `costcalc recipes` reads will do.
    """
    if (rate is None) == (instance is None):
        stop("write --rate, what an hour costs, or --instance, such as aws:p3.8xlarge")
    from datetime import UTC

    from api.cli import watch as commands
    from own_runs.watch import NO_BUDGET, Plan

    every = None if options.pop("once") else options.pop("every")
    asked = commands.WatchOptions(log, instance, options.pop("like"), every, options.pop("slack"))
    options.pop("every", None)
    started = options.pop("started")
    options["max_cost"] = options["max_cost"] or NO_BUDGET
    plan = Plan(hourly_rate=rate or Decimal(0), started=started and started.replace(tzinfo=UTC), **options)
    sys.exit(commands.watch(settings_of_environment(), asked, plan))
