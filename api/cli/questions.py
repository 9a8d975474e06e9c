"""The commands that ask: each prints the report of an HTTP path as a table, as JSON or as CSV; some write files."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO

import click

from api.cli.completion import completer
from api.cli.failing import settings_of_environment, stopping_on_faults
from api.cli.options import FORMATS, SchemaCommand, deliver, format_of, output_option, texts
from api.cli.waiting import waiting
from api.forms.question import Command, Question
from api.forms.register import QUESTIONS

if TYPE_CHECKING:
    from marshmallow import Schema

TRAINS_NOTHING = 3


class QuestionCommand(SchemaCommand):
    """A question of the register as a command: some of its parameters are arguments, the others are options."""

    def __init__(self, question: Question, command: Command) -> None:
        shown = click.Option(["--format"], multiple=True, metavar=f"[{'|'.join(FORMATS)}]", help="Default table.",
                             shell_complete=completer("format", FORMATS))  # fmt: skip
        explain = click.Option(["--explain"], is_flag=True, help="Also print sources, assumptions and missing prices.")
        self.arguments = command.arguments
        places = range(len(self.arguments))
        arguments = [_argument(self.arguments[place], self.arguments[:place]) for place in places]
        parameters = [*arguments, *([explain] if command.explains else []), shown, output_option()]
        super().__init__(
            question.name, lambda: question.asked_in_terminal, params=parameters, callback=self.ask, help=command.help
        )
        self.question = question

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments: where too few were typed, the one in the middle that may be left out is missing, not the last."""
        rest = super().parse_args(ctx, args)
        names = [name.rstrip("?") for name in self.arguments]
        middle = next((place for place, name in enumerate(self.arguments[:-1]) if name.endswith("?")), len(names))
        is_last_needed = bool(self.arguments) and not self.arguments[-1].endswith("?")
        if is_last_needed and middle < len(names) and ctx.params[names[-1]] is None:
            values = [ctx.params[name] for name in names]
            ctx.params.update(zip(names, [*values[:middle], None, *values[middle:-1]], strict=True))
            if ctx.params[names[-1]] is None:
                ctx.fail(
                    f"too few words: write for example costcalc {self.name} {' '.join(self._completed(names, values))}"
                )
        return rest

    def _completed(self, names: Sequence[str], values: Sequence[str | None]) -> list[str]:
        """The arguments, and those of the question's example that are missing: what comes first, unless a target follows it."""
        typed, example = [value for value in values if value], self.question.example
        if len(typed) == 1 or typed[1][:1].isdigit():
            return [*typed, *(example[name] for name in names[len(typed) :])]
        return [example[names[0]], *typed]

    def ask(self, explain: bool = False, output: BinaryIO | None = None, **given: object) -> None:
        """Prints the answer or writes it into a file, or ends the command with what is wrong with the question."""
        gc.disable()  # the command is over before there is garbage worth a tenth of its time
        from api.cli.answers import answer
        from api.formats.terminal.grid import View, has_colour, terminal_width

        with stopping_on_faults(), waiting():
            view = View(terminal_width(), explain, not output and has_colour(sys.stdout))
            asked = format_of(output, FORMATS) | texts(given)
            printed = answer(self.question, settings_of_environment(), asked, view)
        deliver(printed.text, output)
        click.echo(printed.beside, nl=False, err=True)
        gc.freeze()  # nor does Python look for any as it ends


def _argument(written: str, before: Sequence[str] = ()) -> click.Argument:
    """An argument; it may be left out where its name ends in a question mark. What one that may be left out stands before is
    checked when all are known."""
    name = written.rstrip("?")
    if name == SENTENCE:
        return click.Argument([name], nargs=-1, required=True, callback=lambda _, __, words: " ".join(words))
    required = name == written and not any(each.endswith("?") for each in before)
    metavar = name.upper() if name == written else None
    return click.Argument([name], required=required, metavar=metavar, shell_complete=completer(name))


SENTENCE = "q"
"""The argument that takes all words, quoted or not."""
COMMANDS = tuple(QuestionCommand(question, question.command) for question in QUESTIONS if question.command)


def planning() -> Schema:
    """The parameters of all rows of a plan."""
    from api.forms.plan import DEFAULTS

    return DEFAULTS


@click.command(
    cls=SchemaCommand,
    schema=planning,
    params=[click.Argument(["file"], type=click.File("rb")), output_option()],
)
def plan(file: BinaryIO, output: BinaryIO | None, **given: object) -> None:
    """Find the best estimate for every row of FILE.

    FILE is CSV or JSON, - is standard input; its columns are named like the options.
    """
    from api.cli import answers

    with stopping_on_faults(), waiting():
        asked = format_of(output, ("json", "csv", "xlsx")) | texts(given)
        answer = answers.plan(settings_of_environment(), asked, file.read())
    deliver(answer.text, output)
    click.echo("".join(f"{line}\n" for line in answer.sums), nl=False, err=True)
    if answer.unanswered:
        click.echo(f"costcalc: {answer.unanswered} of {answer.rows} rows have an error", err=True)


def launching() -> Schema:
    """The parameters of a launch file."""
    from api.reports.launch import LaunchSchema

    return LaunchSchema()


@click.command(cls=SchemaCommand, schema=launching, params=[_argument("model"), _argument("target?"), output_option()])
def launch(output: BinaryIO | None, **given: object) -> None:
    """Print a launch file for training MODEL to TARGET.

    SkyPilot or dstack reads it, rents the machines and starts the recipe's own code or the command of --run. The status is 3
    where neither is known, so that the file trains nothing.
    """
    from api.cli import answers

    with stopping_on_faults(), waiting():
        printed = answers.launch(settings_of_environment(), texts(given))
    if printed.beside:
        click.echo(f"costcalc: {printed.beside}", err=True)
    deliver(printed.text, output)
    if printed.beside:
        sys.exit(TRAINS_NOTHING)
