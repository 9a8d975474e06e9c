"""Work that one process does for all who share a store: whoever holds the lease does it, until it ends or runs out."""

from __future__ import annotations

from datetime import datetime, timedelta

from msgspec import Struct
from sqlalchemy import Connection, insert, select, update

from pricing.store.tables import leases

LOOK_AGAIN = timedelta(seconds=20)  # whoever is ended gives its lease back, long before that would run out


class Lease(Struct, frozen=True):
    """The `work` is done every so often, by a `holder` whose lease runs out at `until` if it dies."""

    work: str
    holder: str
    every: timedelta
    until: datetime


def take(connection: Connection, lease: Lease, now: datetime) -> datetime | None:
    """Takes the lease, or returns when it is worth asking again: when the work is due, or soon if another process does it."""
    row = connection.execute(select(leases).where(leases.c.work == lease.work)).first()
    if row is None:
        connection.execute(insert(leases), {"work": lease.work, "holder": lease.holder, "until": lease.until})
        return None
    until: datetime = row.until
    due: datetime = row.done_at + lease.every if row.done_at else now
    if until > now:
        return min(until, now + LOOK_AGAIN)
    if due > now:
        return due
    _set(connection, lease.work, holder=lease.holder, until=lease.until)
    return None


def give_back(connection: Connection, lease: Lease, now: datetime, *, done: bool) -> None:
    """End the lease now, unless somebody else has it by this time."""
    holder = connection.execute(select(leases.c.holder).where(leases.c.work == lease.work)).scalar()
    if holder == lease.holder:
        _set(connection, lease.work, until=now, **({"done_at": now} if done else {}))


def _set(connection: Connection, work: str, **values: object) -> None:
    connection.execute(update(leases).where(leases.c.work == work).values(values))
