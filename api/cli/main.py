"""The `costcalc` command. Heavy things are imported by the command that needs them, so that an answer comes at once."""

from __future__ import annotations

import os
import re
import sys
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from pkgutil import resolve_name
from typing import cast

import click

from api.cli.commands import answers, own_runs
from api.cli.failing import FAILED, settings_of_environment, stop, told
from api.cli.options import dashed
from api.settings import SETTINGS, shown

CHECKOUT = Path(__file__).parents[2]
"""Where the packages stand: a checkout, if `science` is among them."""


class Commands(click.Group):
    """The commands. What begins with none of them, and has a number, asks for a cost: in words, or with options."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant, its name and its arguments."""
        if args[0].startswith("-") or self.get_command(ctx, dashed(args[0])) or not re.search(r"\d", " ".join(args)):
            return super().resolve_command(ctx, args)
        with_options = any(each.startswith("--") for each in args)
        return super().resolve_command(ctx, ["cost" if with_options else "ask", *args])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "token_normalize_func": dashed})
@click.version_option(package_name="costcalc")
def main() -> None:
    """What will it cost to train a model to an accuracy, how long will it take, and where?"""
    # Many small linear systems: BLAS threads that wait for one another make a busy machine ten times slower.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


class Elsewhere(click.Group):
    """A group whose commands stand in a file of their own, which is imported when one of them is asked for."""

    def __init__(self, name: str, help: str) -> None:
        super().__init__(name, help=help)
        self.place = f"api.cli.{name}:{name}"

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of its commands."""
        return cast(click.Group, resolve_name(self.place)).list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name."""
        return cast(click.Group, resolve_name(self.place)).get_command(ctx, cmd_name)


OF_OTHER_FILES: tuple[click.Command, ...] = (
    *answers.COMMANDS,
    *(answers.plan, answers.launch),
    *(own_runs.measure, own_runs.small, own_runs.watch),
    Elsewhere("recipes", "Turn training logs into recipes; list and remove your own runs."),
    Elsewhere("prices", "Fetch live prices and check their sources."),
)
for command in OF_OTHER_FILES:
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
    from pricing.packaged.tables import PackagedTableError

    chosen = settings_of_environment()
    try:
        address(bind or chosen.bind)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--bind") from None
    try:
        run(replace(chosen, bind=bind or chosen.bind, workers=workers or chosen.workers))
    except (TableError, PackagedTableError, CannotListen) as error:
        stop(error, FAILED)


@main.group(invoke_without_command=True)
@click.pass_context
def mcp(context: click.Context) -> None:
    """Answer an assistant over the Model Context Protocol.

    It speaks over standard input and output. The assistant starts it.
    """
    if context.invoked_subcommand is None:
        from api.cli import mcp as commands

        with told():
            commands.run(settings_of_environment())


@mcp.command("doctor")
def diagnose() -> None:
    """Check this installation, and say how to mend it. Exit status 1: something is wrong."""
    from api.cli import mcp as commands

    with told():
        sys.exit(commands.diagnose(settings_of_environment()))


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
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="The newest so many.")
def log(limit: int) -> None:
    """List who added, removed, withdrew or released what.

    The newest stands last. Servers also write a line of each to their log.
    """
    from api.cli.log import list_changes

    list_changes(settings_of_environment(), limit)


@main.command()
def settings() -> None:
    """List every setting with its value. Secrets are masked."""
    from api.cli.grid import paragraph, terminal_width
    from api.cli.prices import source_settings

    settings_of_environment()
    for setting in [*SETTINGS, *source_settings()]:
        click.echo(f"{setting.variable}={shown(setting, os.environ)}")
        click.echo("\n".join(paragraph(f"    {setting.meaning}", terminal_width(), 4)))


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
    "--tasks", "of_tasks", is_flag=True, help="Score the tasks beside ImageNet instead, organisations left out."
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


@main.group()
def slack() -> None:
    """Post price alerts to a Slack channel."""


@slack.command()
@click.option(
    "--every",
    type=click.Choice(["day", "week"], case_sensitive=False),
    default="week",
    show_default=True,
    help="Period to compare with.",
)
@click.option("--moved", default="10%", show_default=True, help="Smallest move to report, such as 10% or 0.1.")
@click.option("--ask", default="resnet50 0.757", show_default=True, help="Question to answer, as typed after /cost.")
@click.option("--below", type=click.FloatRange(0, min_open=True), help="Post only that the answer fell below this sum.")
@click.option("--dry-run", is_flag=True, help="Print the message without sending it.")
def notice(every: str, moved: str, ask: str, below: float | None, dry_run: bool) -> None:
    """Post which prices moved, and how an answer changed.

    It posts to COSTCALC_SLACK_WEBHOOK_URL. Run it from cron.
    """
    from api.slack import price_alert as slack_notice
    from api.slack.webhook import NotSent, WrongUse

    try:
        request = slack_notice.AlertRequest(every, moved, ask, None if below is None else Decimal(repr(below)))
        click.echo(slack_notice.notify(settings_of_environment(), request, dry_run))
    except WrongUse as error:
        stop(error)
    except NotSent as error:
        stop(error, FAILED)
