"""Browsers that signed in, each for a time. Only digests are kept, so that a copy of the store opens no door."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from pricing.store.tables import sign_ins


@dataclass(frozen=True, slots=True)
class SignIn:
    """`id` is the digest of what the browser's cookie holds, `token` that of its token under the store's key."""

    id: str
    token: str
    until: datetime


def sign_in_of(connection: Connection, id: str) -> SignIn | None:
    """The sign-in of this id."""
    row = connection.execute(select(sign_ins).where(sign_ins.c.id == id)).first()
    return SignIn(**row._mapping) if row else None


def all_sign_ins(connection: Connection) -> dict[str, SignIn]:
    """Every sign-in by its id."""
    return {row.id: SignIn(**row._mapping) for row in connection.execute(select(sign_ins))}


def add(connection: Connection, sign_in: SignIn, now: datetime) -> None:
    """Keeps a sign-in, and forgets those that have ended."""
    connection.execute(delete(sign_ins).where(sign_ins.c.until <= now))
    connection.execute(insert(sign_ins), asdict(sign_in))


def end(connection: Connection, id: str) -> None:
    """Ends the sign-in of this id."""
    connection.execute(delete(sign_ins).where(sign_ins.c.id == id))
