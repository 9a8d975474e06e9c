"""`costcalc log`: who changed what in the store, and who does so by a command."""

from __future__ import annotations

import getpass
import os

import click

from api.bootstrap import utc_now
from api.cli.failing import FAILED, stop
from api.cli.grid import Column, table, terminal_width
from api.settings import Settings
from pricing.store.changes import By
from pricing.store.connection import StoreError
from pricing.store.store import Store

COLUMNS = (
    Column("when", lambda each: f"{each.at:%Y-%m-%d %H:%M} UTC"),
    Column("who", lambda each: each.who),
    Column("did", lambda each: each.did),
    Column("what", lambda each: each.what),
)


def this_user() -> By:
    """Who types the command, by the name that this machine knows."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # a container may know none
        name = f"user {os.getuid()}"
    return By(name, utc_now())


def list_changes(settings: Settings, most: int) -> None:
    """Prints the last changes, the newest last."""
    try:
        changes = Store(settings.database_url).changes(most)
    except StoreError as error:
        stop(error, FAILED)
    for line in table(COLUMNS, changes, terminal_width()):
        click.echo(line.rstrip())
