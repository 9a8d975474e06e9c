"""Who changed what in the store: added or removed runs, withdrew or released rates. Entries are only added."""

from __future__ import annotations

import logging
from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection, insert, select

from costcalc.text import line
from pricing.store.tables import changes

log = logging.getLogger("costcalc.changes")


class By(Struct, frozen=True):
    """Who changed something, and when."""

    who: str
    at: datetime


class Change(Struct, frozen=True):
    """Somebody `did` something to `what`."""

    at: datetime
    who: str
    did: str
    what: str


def note(connection: Connection, by: By, did: str, what: str) -> None:
    """Adds an entry, and a line to the log."""
    entry = {"at": by.at, "who": line(by.who), "did": did, "what": line(what)}
    connection.execute(insert(changes), entry)
    log.info("%(who)s %(did)s %(what)s", entry)


def newest_changes(connection: Connection, most: int) -> list[Change]:
    """The last entries, the oldest first."""
    columns = (changes.c.at, changes.c.who, changes.c.did, changes.c.what)
    rows = connection.execute(select(*columns).order_by(changes.c.id.desc()).limit(most)).all()
    return [Change(*row) for row in reversed(rows)]
