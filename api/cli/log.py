"""`costcalc log`: who changed what in the store, and who does so by a command."""

from __future__ import annotations

import click

from api.bootstrap import user_name, utc_now
from api.cli.failing import settings_of_environment, stopping_on_faults
from api.formats.column import Column
from api.formats.terminal.grid import echo_table
from pricing.store.changes import By
from pricing.store.store import Store

COLUMNS = (
    Column("when", lambda each: f"{each.at:%Y-%m-%d %H:%M} UTC"),
    Column("who", lambda each: each.who),
    Column("did", lambda each: each.did),
    Column("what", lambda each: each.what),
)


def this_user() -> By:
    """Who typed the command, by the name on this machine."""
    return By(user_name(), utc_now())


@click.command()
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="How many of the newest to list.")
def log(limit: int) -> None:
    """List who added, removed, withdrew or released what.

    The newest stands last. Servers also write a line of each to their log.
    """
    with stopping_on_faults():
        echo_table(COLUMNS, Store(settings_of_environment().database_url).changes(limit))
