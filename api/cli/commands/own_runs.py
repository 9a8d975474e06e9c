"""The commands that measure this machine, and `costcalc recipes`: what you measured or ran yourself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from api.cli.failing import settings_of_environment, stop
from api.cli.options import SchemaCommand, texts

if TYPE_CHECKING:
    from marshmallow import Schema

OF_HTTP = ("shared", "token", "file")


@click.command()
@click.argument("model", default="resnet50")
@click.option("--module", metavar="PACKAGE.MODULE:FACTORY", help="Measure what this function returns, as MODEL.")
@click.option("--image-size", type=click.IntRange(1, 4096), default=224, show_default=True, help="Pixels a side.")
@click.option("--precision", type=click.Choice(["fp32", "bf16", "fp16"]), help="Default: the fastest of the device.")
@click.option("--batch-size", type=click.IntRange(1), help="Default: double it as long as it fits and is faster.")
@click.option("--seconds", type=click.FloatRange(0.1, 600), default=10, show_default=True, help="For each batch.")
@click.option("--device", type=click.Choice(["cuda", "mps", "xla", "cpu"]), help="Default: the fastest there is.")
@click.option("--accelerator", metavar="NAME", help="What to call the device, if not what it calls itself.")
@click.option("--store/--no-store", default=True, show_default=True, help="Have answers use it from now on.")
@click.option("--small", is_flag=True, help="Measure what decides small networks instead: see `costcalc small`.")
def measure(small: bool, **options: Any) -> None:
    """Measure how fast MODEL trains on this machine, and store it as your own speed.

    MODEL is a network of torchvision or timm, or with --module the network whose recipes your own stands for. ROCm is cuda.
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
@click.option("--samples", type=click.IntRange(1, 10**12), default=60_000, show_default=True, help="Of the data set.")
@click.option("--batch-size", type=click.IntRange(1, 10**9), default=64, show_default=True, help="Samples a step.")
@click.option("--epochs", type=click.IntRange(1, 10**6), default=10, show_default=True, help="Times that all are seen.")
@click.option("--rate", default="0.10", show_default=True, help="What an hour of this machine costs.")
def small(layers: str, samples: int, batch_size: int, epochs: int, rate: str) -> None:
    """Compare this machine with GPUs for a network so small that launches and transfer decide.

    LAYERS are those of a dense network, such as mlp:784-512-512-10, or of a small convolutional one, such as
    cnn:28x28x1-32-64-10: height, width and channels, the channels of 3 x 3 convolutions, the classes.
    """
    from decimal import Decimal, InvalidOperation

    from api.cli import own_runs as commands
    from costcalc.small_networks import Training, WrongLayers, small_network

    try:
        training = Training(small_network(layers), samples, batch_size, epochs)
        money = Decimal(rate)
    except WrongLayers as error:
        stop(error)
    except InvalidOperation:
        money = Decimal("nan")
    if not (money.is_finite() and money > 0):
        stop(f"--rate must be a number above 0, such as 0.10; got {rate}")
    commands.compare_small(settings_of_environment(), training, money)


@click.group()
def recipes() -> None:
    """Make your own training logs recipes; list and remove what you ran or measured yourself."""


def _facts_of_a_run() -> Schema:
    from api.questions.own_runs import RunSchema

    return RunSchema(exclude=OF_HTTP)


def _add(log: Path, **given: Any) -> None:
    from api.cli import own_runs as commands

    commands.add(settings_of_environment(), log, texts(given))


recipes.add_command(
    SchemaCommand(
        "add",
        _facts_of_a_run,
        params=[click.Argument(["log"], type=click.Path(exists=True, dir_okay=False, path_type=Path))],
        callback=_add,
        help="Make the training log in the file LOG a recipe, with which `costcalc cost` answers as MODEL.\n\nIt is known by its "
        "content: DAWNBench, MLPerf, Keras, Lightning, timm, trainer_state.json, TensorBoard, Weights & Biases, MLflow, or a "
        "CSV with epoch or step and a metric. What it does not tell is asked for.",
    )
)


@recipes.command("list")
def list_recipes() -> None:
    """List your own runs and speeds, the newest first."""
    from api.cli import own_runs as commands

    commands.list_runs(settings_of_environment())


@recipes.command()
@click.argument("name")
def remove(name: str) -> None:
    """Remove your own run or speed of this NAME."""
    from api.cli import own_runs as commands

    commands.remove(settings_of_environment(), name)
