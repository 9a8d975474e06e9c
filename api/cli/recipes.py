"""`costcalc recipes`: the user's own training runs and speeds, kept beside the prices."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import click

from api.bootstrap import build_once
from api.cli.failing import WRONG_USE, settings_of_environment, stop, stopping_on_faults
from api.cli.log import this_user
from api.cli.measure import keep, stored_runs
from api.cli.options import SchemaCommand, json_option, texts
from api.formats.column import Column
from api.formats.tables import number
from api.formats.terminal.grid import echo_table
from api.questions.errors import BadParameters
from api.questions.own_runs import FactsSchema
from api.questions.themes import dashed
from api.reports.own_runs import check_room, new_run
from api.reports.plan_and_actual import comparisons, score
from own_runs.adding import as_read
from own_runs.logs.log import LogRefused
from own_runs.reading_apart import read_apart
from own_runs.runs import RUN, SMALL_DEVICE, SPEED, Run, measured_speed, stored_run
from pricing.store.store import Store

MOST_DRAWN, WIDEST_BAR = 12, 40
SHOWN = ("name", "model", "dataset", "metric", "reached", "epochs", "hours", "samples_per_second", "accelerator")
NO_RUNS = "Nothing of your own is stored yet: costcalc recipes add LOG stores a run."

recipes = click.Group("recipes", help="Turn training logs into recipes; list and remove your own runs.")


@recipes.command(
    cls=SchemaCommand,
    schema=FactsSchema,
    params=[
        click.Argument(["log"], type=click.Path(exists=True, dir_okay=False, path_type=Path)),
        click.Option(["--try", "only_try"], is_flag=True, help="show the curve as it is read, and store nothing"),
    ],
)
@json_option()
def add(log: Path, only_try: bool, form: str, **given: object) -> None:
    """Turn the training log LOG into a recipe.

    `costcalc cost` then answers with its name as MODEL. The log is known by its content: DAWNBench, MLPerf, Keras, Lightning,
    timm, trainer_state.json, TensorBoard, Weights & Biases, MLflow, what training scripts print, or a CSV with epoch or step
    and a metric. The command asks for what the log does not say.
    """
    settings = settings_of_environment()
    with stopping_on_faults():
        service = build_once(settings)
        try:
            run = new_run(service, service.catalogue(), service.check(FactsSchema(), texts(given)), log)
        except BadParameters as refused:
            questions, notes = [*_as_options(refused.errors, log)], list[str]()
            with suppress(LogRefused):  # of a log that can't be read this is said already
                notes += read_apart(tuple[str, ...], as_read, log)
            if form == "json":
                click.echo(json.dumps({**dict.fromkeys(SHOWN), "questions": questions, "notes": notes}))
                sys.exit(WRONG_USE)
            stop("\n".join([*questions, *notes]))
        check_room(service.runs.seen_by(None), run, None)
    if form == "json":
        shown = {name: getattr(run, name) for name in SHOWN} | {"accelerator": f"{run.accelerators}x{run.accelerator}"}
        click.echo(json.dumps({**shown, "questions": [], "notes": run.notes}))
    else:
        _tell(run)
    if not only_try:
        keep(settings, run.stored(), f"answers about {run.name}")
    elif form == "text":
        click.echo("\n".join([*_curve(run), "Nothing is stored: leave --try out to keep it."]))


def _tell(run: Run) -> None:
    """Prints how a log was understood, and what its run is."""
    for note in run.notes:
        click.echo(note, err=True)
    click.echo(
        f"{run.name}: {run.epochs:,.4g} epochs of {run.dataset} in {run.hours:,.4g} h on {run.accelerators} x {run.accelerator}, "
        f"{run.samples_per_second:,.4g} samples/s; {run.metric} reached {run.reached:,.6g}"
    )


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


@recipes.command()
@click.argument("name", required=False)
def compare(name: str | None) -> None:
    """Compare what was predicted for a run with what it took.

    Without NAME it is a score over all of your runs. Predicted is what would have been answered on the day of the run without
    it: from an earlier run of yours of the same network, data set and metric, else from what was published of the network.
    """
    settings = settings_of_environment()
    with stopping_on_faults():
        compared = comparisons(build_once(settings), name)
    if not compared:
        click.echo(NO_RUNS)
        return
    if name is not None:
        (first,) = compared
        based = first.predicted_from or "nothing is known of this network, data set and metric without it"
        click.echo(f"{first.run} on {first.machine or 'its machine'}; predicted from {based}")
        echo_table(TERM_COLUMNS, first.terms)
        if first.paid_by:
            click.echo(f"took its dollars at your own rate: {first.paid_by}")
    else:
        echo_table(COMPARED_COLUMNS, compared)
    total = score(compared)
    if total.mape is not None:
        click.echo(
            f"hours off by {total.mape:.1%} on average over {total.predicted} of {total.runs}; {total.within} took as long as "
            "the 80 % interval says"
        )


@recipes.command("list")
def list_runs() -> None:
    """List your own runs and speeds, newest first."""
    rows = list(reversed(stored_runs(settings_of_environment(), RUN, SPEED)))
    runs = [(row, stored_run(row)) for row in rows if row.kind == RUN]
    speeds = [(row, measured_speed(row)) for row in rows if row.kind == SPEED]
    for columns, listed in ((RUN_COLUMNS, runs), (SPEED_COLUMNS, speeds)):
        if listed:
            echo_table(columns, listed)
    if not rows:
        click.echo(NO_RUNS)


@recipes.command()
@click.argument("name")
def remove(name: str) -> None:
    """Remove your own run or speed called NAME."""
    settings = settings_of_environment()
    names = [row.id for row in stored_runs(settings, RUN, SPEED, SMALL_DEVICE)]
    if name not in names:
        stop(f"nothing is stored as {name}: costcalc recipes list shows what is")
    Store(settings.database_url).remove_own_run(name, this_user())
    click.echo(f"{name} removed")


SPEED_COLUMNS = (
    Column("name", lambda each: each[0].id),
    Column("model", lambda each: each[1].model),
    Column("accelerator", lambda each: f"{each[1].accelerators} x {each[1].accelerator}"),
    Column("precision\nand batch", lambda each: f"{each[1].precision} {each[1].batch_size}", leave=2),
    Column("images/s", lambda each: f"{each[1].images_per_second:,.4g} ± {each[1].spread:.0%}", is_number=True),
    Column("measured", lambda each: f"{each[1].measured_at:%Y-%m-%d}", is_number=True, leave=1),
)
RUN_COLUMNS = (
    Column("name", lambda each: each[0].id),
    Column("trained", lambda each: f"{each[1].model} on {each[1].dataset}", leave=2),
    Column("reached", lambda each: f"{each[1].reached:,.4g} {each[1].metric}"),
    Column("epochs", lambda each: f"{each[1].epochs:,.4g}", is_number=True),
    Column("hours", lambda each: f"{each[1].hours:,.4g}", is_number=True),
    Column("accelerators", lambda each: f"{each[1].accelerators} x {each[1].accelerator}"),
    Column("shared by", lambda each: each[0].shared_by or "", leave=3),
    Column("ran", lambda each: f"{each[1].ran_on}", is_number=True, leave=1),
)


TERM_COLUMNS = (
    Column("term", lambda each: each.name),
    Column("predicted", lambda each: number(each.predicted), is_number=True),
    Column("took", lambda each: number(each.took), is_number=True),
    Column("unit", lambda each: each.unit),
)
COMPARED_COLUMNS = (
    Column("run", lambda each: each.run),
    Column("hours predicted", lambda each: number(each.hours.predicted), is_number=True),
    Column("range", lambda each: f"{number(each.hours_low)}-{number(each.hours_high)}".strip("-"), is_number=True),
    Column("took", lambda each: number(each.hours.took), is_number=True),
    Column("off by", lambda each: "" if each.error is None else f"{each.error:+.0%}", is_number=True),
    Column("in range", lambda each: {True: "yes", False: "no", None: ""}[each.is_within]),
)
