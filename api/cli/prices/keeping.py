"""`costcalc prices backup`, `restore` and `rebuild`: the file of the store."""

from __future__ import annotations

from pathlib import Path

import click

from api.bootstrap import utc_now
from api.cli.failing import settings_of_environment, stopping_on_faults
from api.cli.prices.common import FILE, the_store
from pricing.store import backups


@click.command()
@click.argument("file", type=FILE)
@stopping_on_faults()
def backup(file: Path) -> None:
    """Copy the SQLite store into the new FILE.

    The store may be in use meanwhile. FILE appears once the copy was checked.
    """
    backups.backup(settings_of_environment().database_url, file)
    click.echo(f"{file} is a complete copy of the store")


@click.command()
@click.argument("file", type=FILE)
@stopping_on_faults()
def restore(file: Path) -> None:
    """Replace the SQLite store with the backup FILE. Servers go on from it; the former store is kept beside it."""
    aside = backups.restore(settings_of_environment().database_url, file, utc_now())
    snapshot = the_store().current_snapshot_id()
    prices = f"snapshot {snapshot}" if snapshot else "in which no refresh has stored prices"
    click.echo(f"the store is {file} again, {prices}")
    if aside:
        click.echo(f"the old store is kept as {aside}")


@click.command()
@stopping_on_faults()
def rebuild() -> None:
    """Start a new SQLite store where the old one is damaged or gone.

    A damaged one is set aside, and what is lost is named. Where there is a backup, restore that instead.
    """
    done = backups.rebuild(settings_of_environment().database_url, utc_now())
    if done.path:
        click.echo(f"the damaged store is kept as {done.path}")
    click.echo(f"lost: {done.lost}")
    own = "cannot be read, and are lost too" if done.own_runs is None else f"are taken over: {done.own_runs}"
    click.echo(f"your own measurements {own}")
    click.echo("the new store has the packaged prices: costcalc prices refresh adds today's")
