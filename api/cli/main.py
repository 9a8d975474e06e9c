"""The `costcalc` command. Heavy things are imported by the command that needs them, so that an answer comes at once."""

from __future__ import annotations

import gc
import os
import sys
from typing import Any, BinaryIO, NoReturn

import click

from api.settings import SETTINGS, BadSetting, Settings, read_settings, shown

FAILED, WRONG_USE = 1, 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="costcalc")
def main() -> None:
    """What does it cost, and how long does it take, to train a model to an accuracy, and where?"""


def stop(message: object, status: int = WRONG_USE) -> NoReturn:
    """Ends the command with a message on standard error."""
    click.echo(f"costcalc: {message}", err=True)
    sys.exit(status)


def settings_of_environment() -> Settings:
    """The settings, or the end of the command with what is wrong with them."""
    try:
        return read_settings(os.environ)
    except BadSetting as error:
        stop(error)


class CostCommand(click.Command):
    """`costcalc cost`: its options are the HTTP parameters, read from the same schema."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The two arguments, one option per parameter, and --help."""
        from api.cli.cost import parameter_options

        return [*self.params, *parameter_options(), *filter(None, [self.get_help_option(ctx)])]


@main.command(cls=CostCommand, params=[click.Argument(["model"]), click.Argument(["target"])])
def cost(model: str, target: str, explain: bool, **options: Any) -> None:
    """Estimate the hours and cost of training MODEL to TARGET, a fraction such as 0.757, on every machine one can rent."""
    gc.disable()  # the command is over before there is garbage worth a tenth of its time
    from api.bootstrap import CannotStart
    from api.cli import cost as terminal
    from api.questions.errors import Refused

    given = {name: [values] if isinstance(values, str) else list(values) for name, values in options.items() if values}
    chosen = settings_of_environment()
    try:
        click.echo(terminal.answer(chosen, {**given, "model": [model], "target": [target]}, explain), nl=False)
    except Refused as refused:
        stop(refused.detail)
    except CannotStart as error:
        stop(error, FAILED)


class PlanCommand(click.Command):
    """`costcalc plan`: its options are the parameters that hold for all rows."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The file, one option per parameter, and --help."""
        from api.cli.cost import options_of
        from api.reports.plan import DEFAULTS

        return [*self.params, *options_of(DEFAULTS, "token"), *filter(None, [self.get_help_option(ctx)])]


@main.command(cls=PlanCommand, params=[click.Argument(["file"], type=click.File("rb"))])
def plan(file: BinaryIO, **options: Any) -> None:
    """Find the best estimate for every row of FILE, CSV or JSON (- for standard input); columns are named like the options."""
    from api.bootstrap import CannotStart
    from api.cli import plan as plan_terminal
    from api.questions.errors import Refused

    given = {name: [values] if isinstance(values, str) else list(values) for name, values in options.items() if values}
    chosen = settings_of_environment()
    try:
        answer = plan_terminal.answer(chosen, given, file.read())
    except Refused as refused:
        stop(refused.detail)
    except CannotStart as error:
        stop(error, FAILED)
    click.echo(answer.text, nl=False)
    if answer.unanswered:
        click.echo(f"costcalc: {answer.unanswered} of {answer.rows} rows have an error beside them", err=True)


@main.command()
@click.option("--bind", help="Address and port.  [default: 127.0.0.1:8000]")
@click.option("--workers", type=click.IntRange(1), help="Worker processes.  [default: 2]")
def serve(bind: str | None, workers: int | None) -> None:
    """Serve the HTTP API, the page and the Slack command until stopped."""
    from dataclasses import replace

    from api.settings import address
    from api.web.server import serve as run
    from costcalc.evidence import TableError

    chosen = settings_of_environment()
    try:
        address(bind or chosen.bind)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--bind") from None
    try:
        run(replace(chosen, bind=bind or chosen.bind, workers=workers or chosen.workers))
    except TableError as error:
        stop(error, FAILED)


@main.command()
def settings() -> None:
    """List every setting with its value. Secrets are masked."""
    from api.cli.prices import source_settings

    settings_of_environment()
    for setting in [*SETTINGS, *source_settings()]:
        click.echo(f"{setting.variable}={shown(setting, os.environ)}\n    {setting.meaning}")


@main.command()
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option(
    "--into",
    type=click.Path(exists=True, dir_okay=False, writable=True),
    help="Also write the scores into this page, docs/method.md.",
)
def validate(form: str, into: str | None) -> None:
    """Score the estimator against published results."""
    # Hundreds of small linear systems: BLAS threads that wait for one another make a busy machine ten times slower.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from api.cli.validate import WrongPage, WrongTables, scores
    except ModuleNotFoundError:
        stop("`costcalc validate` needs SciPy: install it with pip install 'costcalc[validate]'", FAILED)
    try:
        click.echo(scores(form, into), nl=False)
    except WrongPage as error:
        stop(error)
    except WrongTables as error:
        stop(error, FAILED)


@main.group()
def prices() -> None:
    """Fetch live prices, try a source, and see how the sources fare."""


@prices.command()
@click.argument("sources", nargs=-1)
def refresh(sources: tuple[str, ...]) -> None:
    """Fetch live rates from SOURCES (default: all) into the store. Exit status 1: some failed, the others are published."""
    from api.cli import prices as commands

    sys.exit(commands.refresh(settings_of_environment(), sources))


@prices.command("sources")
@click.argument("source", required=False)
def describe_sources(source: str | None) -> None:
    """List every price source with what it needs and cannot see, or describe one SOURCE with its settings."""
    from api.cli import prices as commands

    sys.exit(commands.describe(source) if source else commands.describe_all())


@prices.command("try")
@click.argument("source")
def try_source(source: str) -> None:
    """Run one SOURCE and print what it would store, how long it took and how fresh the rates are. Nothing is stored."""
    from api.cli import prices as commands

    sys.exit(commands.try_source(source))


@prices.command()
def status() -> None:
    """Show the last success, age, number of rows and last error of each source."""
    from api.cli import prices as commands

    sys.exit(commands.status(settings_of_environment()))


@main.group()
def slack() -> None:
    """Post price alerts to a Slack channel."""


@slack.command()
@click.option(
    "--every", type=click.Choice(["day", "week"]), default="week", show_default=True, help="Period to compare with."
)
@click.option("--moved", default="10%", show_default=True, help="Smallest move to report, such as 10% or 0.1.")
@click.option("--ask", default="resnet50 0.757", show_default=True, help="Question to answer, as typed after /cost.")
@click.option("--dry-run", is_flag=True, help="Print the message without sending it.")
def notice(every: str, moved: str, ask: str, dry_run: bool) -> None:
    """Post to COSTCALC_SLACK_WEBHOOK_URL which prices moved and how the answer to a question changed. Run it from cron."""
    from api.slack import price_alert as slack_notice

    try:
        click.echo(
            slack_notice.notify(settings_of_environment(), slack_notice.AlertRequest(every, moved, ask), dry_run)
        )
    except slack_notice.WrongUse as error:
        stop(error)
    except slack_notice.NotSent as error:
        stop(error, FAILED)
