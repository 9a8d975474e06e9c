"""The commands that ask: each prints the report of an HTTP path as a table, as JSON or as CSV; some write files."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

import click

from api.cli.completion import completer
from api.cli.failing import FAILED, settings_of_environment, stop, told
from api.cli.options import FORMATS, SchemaCommand, texts

if TYPE_CHECKING:
    from marshmallow import Schema

    from api.cli.answers import Answering


class Question(SchemaCommand):
    """A command with the parameters of an HTTP path: some are arguments, the others are options."""

    def __init__(self, name: str, arguments: Sequence[str], help: str, explains: bool = False) -> None:
        shown = click.Option(["--format"], multiple=True, metavar=f"[{'|'.join(FORMATS)}]", help="Default table.",
                             shell_complete=completer("format", FORMATS))  # fmt: skip
        explain = click.Option(["--explain"], is_flag=True, help="Also print sources, assumptions and missing prices.")
        parameters = [*map(_argument, arguments), *([explain] if explains else []), shown]
        super().__init__(name, lambda: self.answering.schema, params=parameters, callback=self.ask, help=help)

    @property
    def answering(self) -> Answering[Any]:
        """How the question is answered; what that needs is imported now."""
        from api.cli.answers import ANSWERS

        return ANSWERS[str(self.name)]()

    def ask(self, explain: bool = False, **given: Any) -> None:
        """Prints the answer, or ends the command with what is wrong with the question."""
        gc.disable()  # the command is over before there is garbage worth a tenth of its time
        from api.cli.answers import answer
        from api.cli.grid import View, terminal_width

        with told():
            view = View(terminal_width(), explain)
            click.echo(answer(self.answering, settings_of_environment(), texts(given), view), nl=False)


def _argument(name: str) -> click.Argument:
    """An argument; it may be left out where its name ends in a question mark."""
    required = not name.endswith("?")
    return click.Argument([name.rstrip("?")], required=required, shell_complete=completer(name.rstrip("?")))


def plan_defaults() -> Schema:
    """The parameters that hold for all rows of a plan."""
    from api.reports.plan import DEFAULTS

    return DEFAULTS


QUESTIONS = (
    Question(
        "cost",
        ["model", "target"],
        "Estimate the hours and cost of training MODEL to TARGET.\n\nTARGET is a fraction, such as 0.757. The answer names "
        "what to rent first, then lists every machine that reaches it.",
        explains=True,
    ),
    Question(
        "accuracy",
        ["model"],
        "Find the highest accuracy of MODEL within a budget.\n\nGive --budget, --max-hours or both; the answer lists the "
        "machines that reach that accuracy.",
        explains=True,
    ),
    Question(
        "commitments",
        ["model", "target"],
        "Compare reserving and committing with paying by the hour.\n\nThe answer says from how many hours a month on each "
        "commitment pays, on the machines that suit training MODEL to TARGET.",
        explains=True,
    ),
    Question(
        "compare",
        ["model", "target", "a", "b"],
        "Compare training MODEL to TARGET on two machines, A and B.\n\nA and B are written provider:instance_type, such as "
        "aws:p3.16xlarge, then :2 for two machines and :spot for a way to buy them; own:1x RTX 4090 is a machine that you own. "
        "The answer says which costs less and how surely, and at which rate of B it turns.",
        explains=True,
    ),
    Question(
        "fit",
        ["model?"],
        "Find the largest batch of MODEL that an accelerator holds.\n\nMODEL may be several, with commas between "
        "them. The answer says what was measured, and gives an interval to what is modelled.",
    ),
    Question("models", ["model?"], "List the models, or all that was measured of one MODEL."),
    Question("throughput", [], "List measured training speeds, and images for the money."),
    Question("offers", [], "List the current rates of machines, with sources and dates."),
    Question("history", ["instance_type"], "List every rate ever seen of INSTANCE_TYPE."),
    Question("changes", [], "List the rates that are new or different since a date."),
)


@click.command(cls=SchemaCommand, schema=plan_defaults, params=[click.Argument(["file"], type=click.File("rb"))])
def plan(file: BinaryIO, **given: Any) -> None:
    """Find the best estimate for every row of FILE.

    FILE is CSV or JSON, - is standard input; its columns are named like the options.
    """
    from api.cli import answers

    with told():
        answer = answers.plan(settings_of_environment(), texts(given), file.read())
    click.echo(answer.text, nl=False)
    if answer.unanswered:
        click.echo(f"costcalc: {answer.unanswered} of {answer.rows} rows have an error beside them", err=True)


def swept() -> Schema:
    """The parameters of a sweep."""
    from api.questions.schemas import SweepSchema

    return SweepSchema()


@click.command(
    cls=SchemaCommand,
    schema=swept,
    params=[
        click.Argument(["folder"], type=click.Path(file_okay=False, path_type=Path)),
        click.Argument(["axes"], nargs=-1, metavar="[NAME=VALUES]..."),
        click.Option(
            ["--grid"], type=click.File("r", "utf-8"), help="Read more NAME=VALUES from this file, one a line."
        ),
        click.Option(
            ["--workers"], type=click.IntRange(1), help="Processes of this machine. Default: one for each core."
        ),
        click.Option(
            ["--dask"], metavar="ADDRESS", help="Use the workers of this Dask scheduler, such as tcp://host:8786."
        ),
    ],
)
def sweep(
    folder: Path, axes: tuple[str, ...], grid: TextIO | None, workers: int | None, dask: str | None, **given: Any
) -> None:
    """Ask every combination of VALUES, and write Parquet.

    Each question is one of `costcalc cost`; its estimates go into FOLDER.

    \b
    costcalc sweep 2026 model=resnet50,vit_b16 target=0.75,0.757 \\
        as_of=2018-05..2026-11/1mo provider=aws,gcp,aws+gcp --nodes 1

    Each NAME=VALUES is swept; options hold for all questions. Commas separate values, + joins names into one value, and
    FIRST..LAST/STEP is a range of dates (steps 1d, 1w, 1mo, 1y) or numbers. model=all sweeps every model. A call that was cut
    off goes on where it stopped when it is repeated.
    """
    try:
        from api.sweep import running as sweeping
    except ModuleNotFoundError:
        stop("`costcalc sweep` needs PyArrow: install it with pip install 'costcalc[sweep]'", FAILED)
    from api.sweep.axes import lines

    with told():
        settings, written = settings_of_environment(), [*axes, *(lines(grid.read()) if grid else [])]
        try:
            click.echo(sweeping.run(settings, folder, written, texts(given), sweeping.Workers(workers, dask)))
        except sweeping.SweepStopped as error:
            stop(error, FAILED)


def launching() -> Schema:
    """The parameters of a launch file."""
    from api.questions.schemas import LaunchSchema

    return LaunchSchema()


@click.command(
    cls=SchemaCommand,
    schema=launching,
    params=[click.Argument([name], shell_complete=completer(name)) for name in ("model", "target")],
)
def launch(**given: Any) -> None:
    """Print a launch file of the best estimate of MODEL to TARGET.

    SkyPilot or dstack reads it, rents the machines and starts the command of --run.
    """
    from api.cli import answers

    with told():
        click.echo(answers.launch(settings_of_environment(), texts(given)), nl=False)
