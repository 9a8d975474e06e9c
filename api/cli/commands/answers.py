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
from api.questions.register import QUESTIONS, Command, Question

if TYPE_CHECKING:
    from marshmallow import Schema


class QuestionCommand(SchemaCommand):
    """A question of the register as a command: some of its parameters are arguments, the others are options."""

    def __init__(self, question: Question, command: Command) -> None:
        shown = click.Option(["--format"], multiple=True, metavar=f"[{'|'.join(FORMATS)}]", help="Default table.",
                             shell_complete=completer("format", FORMATS))  # fmt: skip
        explain = click.Option(["--explain"], is_flag=True, help="Also print sources, assumptions and missing prices.")
        self.arguments = command.arguments
        places = range(len(self.arguments))
        arguments = [_argument(self.arguments[place], self.arguments[:place]) for place in places]
        parameters = [*arguments, *([explain] if command.explains else []), shown]
        super().__init__(
            question.name, lambda: question.asked_in_terminal, params=parameters, callback=self.ask, help=command.help
        )
        self.question = question

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments: where too few were typed, the one in the middle that may be left out is missing, not the last."""
        rest = super().parse_args(ctx, args)
        names = [name.rstrip("?") for name in self.arguments]
        middle = next((place for place, name in enumerate(self.arguments[:-1]) if name.endswith("?")), len(names))
        if middle < len(names) and ctx.params[names[-1]] is None:
            values = [ctx.params[name] for name in names]
            ctx.params.update(zip(names, [*values[:middle], None, *values[middle:-1]], strict=True))
            if ctx.params[names[-1]] is None:
                ctx.fail(f"Missing argument '{names[-1].upper()}'.")
        return rest

    def ask(self, explain: bool = False, **given: Any) -> None:
        """Prints the answer, or ends the command with what is wrong with the question."""
        gc.disable()  # the command is over before there is garbage worth a tenth of its time
        from api.cli.answers import answer
        from api.cli.grid import View, terminal_width

        with told():
            view = View(terminal_width(), explain)
            printed = answer(self.question, settings_of_environment(), texts(given), view)
        click.echo(printed.text, nl=False)
        click.echo(printed.beside, nl=False, err=True)


def _argument(written: str, before: Sequence[str] = ()) -> click.Argument:
    """An argument; it may be left out where its name ends in a question mark. What one that may be left out stands before is
    checked when all are known."""
    name = written.rstrip("?")
    required = name == written and not any(each.endswith("?") for each in before)
    metavar = name.upper() if name == written else None
    return click.Argument([name], required=required, metavar=metavar, shell_complete=completer(name))


def plan_defaults() -> Schema:
    """The parameters that hold for all rows of a plan."""
    from api.reports.plan import DEFAULTS

    return DEFAULTS


COMMANDS = tuple(QuestionCommand(question, question.command) for question in QUESTIONS if question.command)


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
        click.echo(f"costcalc: {answer.unanswered} of {answer.rows} rows have an error", err=True)


def swept() -> Schema:
    """The parameters of a sweep."""
    from api.questions.schemas.trainings import SweepSchema

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
    """Answer every combination of VALUES into Parquet files.

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
    from api.questions.schemas.trainings import LaunchSchema

    return LaunchSchema()


@click.command(
    cls=SchemaCommand,
    schema=launching,
    params=[_argument("model"), _argument("target?")],
)
def launch(**given: Any) -> None:
    """Print a launch file for training MODEL to TARGET.

    SkyPilot or dstack reads it, rents the machines and starts the command of --run.
    """
    from api.cli import answers

    with told():
        click.echo(answers.launch(settings_of_environment(), texts(given)), nl=False)
