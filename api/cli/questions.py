"""The commands that ask a question: each prints the report of an HTTP path as a table, as JSON or as CSV."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import click

from api.cli.completion import completer
from api.cli.options import FORMATS, SchemaCommand, as_options, texts
from api.settings import BadSetting, Settings, read_settings

if TYPE_CHECKING:
    from api.cli.answers import Answering

FAILED, WRONG_USE = 1, 2


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


def settings_of_environment() -> Settings:
    """The settings, or the end of the command with what is wrong with them."""
    try:
        return read_settings(os.environ)
    except BadSetting as error:
        stop(error)


@contextmanager
def told() -> Iterator[None]:
    """Ends the command with a message where a question is refused, or where prices or evidence cannot be read."""
    from api.bootstrap import CannotStart
    from api.questions.errors import Refused

    try:
        yield
    except Refused as refused:
        stop(as_options(refused.detail))
    except CannotStart as error:
        stop(error, FAILED)


def stop(message: object, status: int = WRONG_USE) -> NoReturn:
    """Ends the command with a message on standard error."""
    click.echo(f"costcalc: {message}", err=True)
    sys.exit(status)
