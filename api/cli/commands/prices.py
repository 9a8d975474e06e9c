"""`costcalc prices`: fetch live prices, see how their sources fare, and keep the store."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from api.cli.completion import completer
from api.cli.failing import settings_of_environment, told
from api.cli.options import SchemaCommand, texts

if TYPE_CHECKING:
    from marshmallow import Schema


@click.group()
def prices() -> None:
    """Fetch live prices and check their sources."""


@prices.command()
@click.argument("sources", nargs=-1, shell_complete=completer("sources"))
def refresh(sources: tuple[str, ...]) -> None:
    """Fetch live rates from SOURCES (default: all) into the store. Exit status 1: some failed, the others are published."""
    from api.cli import prices as commands

    sys.exit(commands.refresh(settings_of_environment(), sources))


@prices.command("sources")
@click.argument("source", required=False, shell_complete=completer("sources"))
def describe_sources(source: str | None) -> None:
    """List the price sources, or describe one SOURCE.

    The list says what each needs and what it cannot see; the description of one has its settings too.
    """
    from api.cli import prices as commands

    if source:
        commands.describe(source)
    else:
        commands.describe_all()


@prices.command("try")
@click.argument("source", shell_complete=completer("sources"))
@click.option(
    "--save",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Keep what the provider answered in FOLDER as a recording for the tests; secrets are cut out.",
)
def try_source(source: str, save: Path | None) -> None:
    """Run one SOURCE and print what it would store.

    It also says how long that took and how fresh the rates are. Nothing is stored.
    """
    from api.cli import prices as commands

    commands.try_source(source, save)


@prices.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def export(folder: Path) -> None:
    """Write the next packaged prices into FOLDER.

    They are the present ones with what the store has learned since; the command says how they differ. Your own price sheet
    and rates read with an account are left out. With FOLDER pricing/packaged/data the tables of a checkout are renewed.
    """
    from api.cli import prices as commands

    commands.export(settings_of_environment(), folder)


@prices.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def publish(folder: Path) -> None:
    """Write the rates that may be passed on into FOLDER.

    They go to the files `latest` and that of the day, signed where COSTCALC_EDITION_KEY is set. Rates read with an account,
    your
    own price sheet, and what a provider's terms keep from being passed on are left out.
    """
    from api.cli import prices as commands

    commands.publish(settings_of_environment(), folder)


@prices.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def backup(file: Path) -> None:
    """Copy the SQLite store into the new FILE.

    The store may be in use meanwhile. FILE appears once the copy was checked.
    """
    from api.cli import prices as commands

    commands.backup(settings_of_environment(), file)


@prices.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def restore(file: Path) -> None:
    """Replace the SQLite store with the backup FILE. Servers go on from it; the former store is kept beside it."""
    from api.cli import prices as commands

    commands.restore(settings_of_environment(), file)


@prices.command()
def rebuild() -> None:
    """Start a new SQLite store where the old one is damaged or gone.

    A damaged one is set aside, and what is lost is named. Where there is a backup, restore that instead.
    """
    from api.cli import prices as commands

    commands.rebuild(settings_of_environment())


@prices.command()
def status() -> None:
    """Show the last result of each source, and what is in quarantine."""
    from api.cli import prices as commands

    commands.status(settings_of_environment())


def withdrawal() -> Schema:
    """The filters of a withdrawal."""
    from api.questions.schemas.lists import WithdrawSchema

    return WithdrawSchema()


@prices.command(
    cls=SchemaCommand, schema=withdrawal, params=[click.Argument(["source"], shell_complete=completer("sources"))]
)
@click.option("--yes", is_flag=True, help="Do not ask before withdrawing.")
def withdraw(source: str, yes: bool, **filters: Any) -> None:
    """Withdraw the wrong rates of SOURCE that match the filters. It lists them and asks first.

    SOURCE is a price source, or packaged for the prices that ship with costcalc. Nothing is deleted: answers about earlier
    dates still know the rates. A rate that the source goes on listing comes back at the next refresh.
    """
    from api.cli import prices as commands

    with told():
        commands.withdraw(settings_of_environment(), source, texts(filters), yes)


def releasing() -> Schema:
    """The filters of a release."""
    from api.questions.schemas.lists import ReleaseSchema

    return ReleaseSchema()


@prices.command(
    cls=SchemaCommand, schema=releasing, params=[click.Argument(["source"], shell_complete=completer("sources"))]
)
@click.option("--yes", is_flag=True, help="Do not ask before releasing.")
def release(source: str, yes: bool, **filters: Any) -> None:
    """Release rates of SOURCE from quarantine. It lists them and asks first; the next refresh stores them.

    A rate that looks odd is left out, and `costcalc prices status` says why. Once the source has listed it unchanged for a
    day, it is stored without a release.
    """
    from api.cli import prices as commands

    with told():
        commands.release(settings_of_environment(), source, texts(filters), yes)
