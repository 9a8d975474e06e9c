"""Work that one process does for all who share a store: whoever holds the lease does it, until it ends or runs out."""

from __future__ import annotations

from datetime import datetime, timedelta

from msgspec import Struct
from sqlalchemy import select, update

from pricing.store.connection import Database
from pricing.store.tables import leases, upsert

LOOK_AGAIN = timedelta(seconds=20)  # whoever is ended gives its lease back, long before that would run out


class Lease(Struct, frozen=True):
    """The `work` is done every so often, by a `holder` whose lease runs out at `until` if it dies."""

    work: str
    holder: str
    every: timedelta
    until: datetime


def take(store: Database, lease: Lease, now: datetime) -> datetime | None:
    """Takes the lease, or returns when it is worth asking again: when the work is due, or soon if another process does it.
    Raises StoreBusy."""
    with store.writing() as connection:
        row = connection.execute(select(leases).where(leases.c.work == lease.work)).first()
        due = now
        if row and row.until > now:
            due = min(row.until, now + LOOK_AGAIN)
        elif row and row.done_at:
            due = row.done_at + lease.every
        if due > now:
            return due
        held = {"work": lease.work, "holder": lease.holder, "until": lease.until}
        upsert(connection, leases, [held], lambda old, new: old if old.key == "done_at" else new)
    return None


def give_back(store: Database, lease: Lease, now: datetime, *, done: bool) -> None:
    """Ends the lease now, unless somebody else has it by this time; `done` says that its work needs nobody until it is due again.
    Raises StoreBusy."""
    mine = (leases.c.work == lease.work) & (leases.c.holder == lease.holder)
    with store.writing() as connection:
        connection.execute(update(leases).where(mine).values(until=now, **({"done_at": now} if done else {})))
