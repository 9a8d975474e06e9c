"""The `costcalc` command. Heavy things are imported by the command that needs them, so that an answer comes at once."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import takewhile
from pathlib import Path

import click
from click.exceptions import NoArgsIsHelpError

from api import cli
from api.cli import habits, questions
from api.cli.failing import FAILED, settings_of_environment, stop, stopping_without_extras
from api.questions.themes import dashed

MOST_ARGUMENTS = 2  # of `costcalc cost`: its network and its target
CHECKOUT = Path(__file__).parents[2]
"""Where the packages stand: a checkout, if `science` is among them."""
OF_FILES: dict[str, Callable[[], click.Command]] = {
    "log": lambda: cli.log.log,
    "mcp": lambda: cli.mcp.mcp,
    "measure": lambda: cli.measure.measure,
    "prices": lambda: cli.prices.prices,
    "recipes": lambda: cli.recipes.recipes,
    "settings": lambda: cli.settings.settings,
    "tokens": lambda: cli.tokens.tokens,
    "watch": lambda: cli.watch.watch,
}
"""The commands in files of their own, which are imported when they are asked for."""


class Commands(click.Group):
    """The commands. What begins with none of them, and has a number, asks for a cost: in words, or with options."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            with stopping_without_extras():
                return super().invoke(ctx)
        except NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            stop(error.format_message())

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted((*self.commands, *OF_FILES))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in OF_FILES:
            return OF_FILES[cmd_name]()
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in ("help", "version"):
            return super().resolve_command(ctx, [*args[1:], f"--{args[0]}"])
        is_rates = args[0] == "prices" and len(args) > 1 and re.search(r"\d", args[1])
        if is_rates:
            return super().resolve_command(ctx, ["offers", *args[1:]])
        if args[0].startswith("-") or self.get_command(ctx, dashed(args[0])):
            return super().resolve_command(ctx, args)
        if not re.search(r"\d", " ".join(args)):
            return self._called(ctx, args)
        words = list(takewhile(lambda each: not each.startswith("--"), args))
        if len(words) <= MOST_ARGUMENTS and len(words) < len(args):
            return super().resolve_command(ctx, ["cost", *args])
        return super().resolve_command(
            ctx, ["ask", *words, *_as_words(args[len(words) :], self.commands["ask"].params)]
        )

    def _called(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that people call so; where nobody does, what to type."""
        from api.questions.suggestions import either, nearest

        word = args[0].casefold()
        if meant := habits.called_so(word, habits.COMMANDS):
            return super().resolve_command(ctx, [*meant, *args[1:]])
        near = [f"costcalc {name}" for name in nearest(word, self.list_commands(ctx))]
        hint = f"did you mean {either(near)}?" if near else "costcalc help lists the commands"
        raise click.UsageError(f"there is no command {args[0]}: {habits.INSTEAD.get(word, hint)}", ctx)


def _as_words(options: Sequence[str], its_own: Sequence[click.Parameter]) -> Iterator[str]:
    """The options of a sentence: `--limit 1` is `limit=1`, but for those that `ask` has itself."""
    names, rest = {name for each in its_own for name in each.opts}, iter(options)
    for each in rest:
        name, sign, value = each.removeprefix("--").partition("=")
        if not each.startswith("--") or f"--{dashed(name)}" in names:
            yield each
        else:
            yield f"{name}={value if sign else next(rest, '')}"


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "token_normalize_func": dashed})
@click.version_option(None, "--version", "-V", package_name="costcalc")
def main() -> None:
    """What will it cost to train a model to an accuracy, how long will it take, and where?"""
    # Many small linear systems: BLAS threads that wait for one another make a busy machine ten times slower.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


for command in (*questions.COMMANDS, questions.plan, questions.launch):
    main.add_command(command)


@main.command()
@click.option("--bind", help="Address and port.  [default: 127.0.0.1:8000]")
@click.option("--workers", type=click.IntRange(1), help="Worker processes.  [default: 2]")
def serve(bind: str | None, workers: int | None) -> None:
    """Serve the HTTP API, the page and the Slack command."""
    from dataclasses import replace

    from api.settings import address
    from api.web.serving.server import CannotListen
    from api.web.serving.server import serve as run
    from costcalc.evidence import TableError

    chosen = settings_of_environment()
    try:
        address(bind or chosen.bind)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--bind") from None
    try:
        run(replace(chosen, bind=bind or chosen.bind, workers=workers or chosen.workers))
    except (TableError, CannotListen) as error:
        stop(error, FAILED)


@main.command()
@click.option("--name", help="Its owner, for the log; tokens of one name see the same runs.")
@click.option("--read-only", is_flag=True, help="It may only read; for addresses in spreadsheets.")
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), help="Its last day, such as 2027-06-30.")
def token(name: str | None, read_only: bool, until: datetime | None) -> None:
    """Make an API token.

    It also prints what to write in COSTCALC_API_TOKENS so that the token is accepted.
    """
    from hashlib import sha256
    from secrets import token_urlsafe

    from api.tokens import HASHED, READ_ONLY, UNTIL, Token

    made = token_urlsafe(24)
    words = (name, f"{UNTIL}{until:%Y-%m-%d}" if until else None, READ_ONLY if read_only else None, HASHED)
    setting = ":".join([*(word for word in words if word), sha256(made.encode()).hexdigest()])
    try:
        Token.of(setting)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--name") from None
    click.echo(f"token (shown only now): {made}")
    click.echo(f"COSTCALC_API_TOKENS={setting}")


@main.command()
@click.option(
    "--format", "form", type=click.Choice(["table", "json"], case_sensitive=False), default="table", show_default=True
)
@click.option(
    "--into",
    type=click.Path(exists=True, dir_okay=False, writable=True),
    help="Also write the scores into this page, docs/method.md.",
)
@click.option(
    "--tasks", "of_tasks", is_flag=True, help="Score the tasks besides ImageNet instead, organisations left out."
)
def validate(form: str, into: str | None, of_tasks: bool) -> None:
    """Score the estimator against published results."""
    if not (CHECKOUT / "science").is_dir():
        stop("`costcalc validate` needs a checkout of the repository, and `make setup`", FAILED)
    from costcalc.evidence import TableError

    sys.path.append(str(CHECKOUT))
    try:
        from science.scores import WrongPage, scores, scores_of_tasks
    except ModuleNotFoundError:
        stop("`costcalc validate` needs SciPy, which `make setup` installs", FAILED)
    try:
        click.echo(scores_of_tasks() if of_tasks else scores(form, into), nl=False)
    except WrongPage as error:
        stop(error)
    except TableError as error:
        stop(error, FAILED)
