"""The store's tables. Observations stand in books; what changes with each refresh stands beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    TypeDecorator,
)
from sqlalchemy.dialects import postgresql, sqlite

ROWS_AT_ONCE = 10_000  # read or written together
Row = Mapping[str, Any]
Merge = Callable[[ColumnElement[Any], ColumnElement[Any]], ColumnElement[Any]]


class UtcDateTime(TypeDecorator[datetime]):
    """Aware UTC moments on every database; SQLite keeps no time zone of its own."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Aware moments only, in UTC. Raises ValueError on a naive one."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a stored moment needs a time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The stored moment, aware."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


metadata = MetaData()
BigId = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows itself only in an INTEGER column

identity = Table(
    "identity", metadata, Column("id", String(32), primary_key=True), Column("key", LargeBinary, nullable=False)
)
"""One row: which store this is, and a random key that nobody outside it knows."""

snapshots = Table(
    "snapshots",
    metadata,
    Column("sequence", BigId, primary_key=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("published_at", UtcDateTime, nullable=False),
    Column("gaps", Text, nullable=False),
)
"""What has been published, in order. `gaps` is a JSON list of what was silent then."""

books = Table(
    "books",
    metadata,
    Column("sequence", BigId, ForeignKey("snapshots.sequence"), primary_key=True),
    Column("document", LargeBinary, nullable=False),
)
"""The book of each of the newest snapshots, ready to load. The next one holds all of its rows, or a segment does."""

segments = Table(
    "segments",
    metadata,
    Column("sequence", BigId, ForeignKey("snapshots.sequence"), primary_key=True),
    Column("part", SmallInteger, primary_key=True),
    Column("started_at", UtcDateTime, nullable=False),
    Column("ended_at", UtcDateTime, nullable=False),
    Column("document", LargeBinary, nullable=False),
)
"""Books that have grown long, never changed: each knows all moments from `started_at` until before `ended_at`.

It stands here in parts, of which each has some machine types.
"""

machines = Table(
    "machines",
    metadata,
    Column("provider", Text, primary_key=True),
    Column("instance_type", Text, primary_key=True),
    Column("accelerator", Text, nullable=False),
    Column("accelerators", Integer, nullable=False),
    Column("accelerator_memory_gib", Float),
    Column("vcpus", Integer),
    Column("memory_gib", Float),
)
"""What each instance type holds, as last known."""

quarantine = Table(
    "quarantine",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("origin", Text, nullable=False),
    Column("event", Text, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("reason", Text, nullable=False),
    Column("provider", Text, nullable=False),
    Column("region", Text, nullable=False),
    Column("instance_type", Text, nullable=False),
    Column("purchase_option", Text, nullable=False),
    Column("term", Text),
    Column("payment", Text),
    Column("offering_class", Text),
    Column("currency", String(3), nullable=False),
    Column("hourly_nanos", BigInteger, nullable=False),
)
"""Events of rates that were left out, only added: `left_out`, `released` by a person, `repeated` and so taken over, `over`."""

packaged_editions = Table(
    "packaged_editions",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("sequence", BigId, ForeignKey("snapshots.sequence"), nullable=False),
)
"""The editions of the packaged prices that were merged in."""

taken_editions = Table(
    "taken_editions",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("made_at", UtcDateTime, nullable=False),
    Column("previous", String(64), nullable=False),
    Column("digest", String(64), nullable=False),
)
"""By the key that signed it, the published edition that was taken last."""

own_runs = Table(
    "own_runs",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("kind", Text, nullable=False),
    Column("owner", String(64)),
    Column("added_at", UtcDateTime, nullable=False),
    Column("document", Text, nullable=False),
    Column("shared_by", Text),
)
"""What people measured or ran themselves, as JSON: a `speed`, or a `run` with its whole curve. `owner` is the digest, under the
store's key, of the token that sent it or of its name, null where none did; `shared_by` names who shows it to everybody."""

EVERYBODY, SIGN_INS = "everybody", "sign-ins"

versions = Table(
    "versions",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("number", BigInteger, nullable=False, index=True),
)
"""The number of the last change to an owner's runs, to those that everybody sees, and to the sign-ins: a higher one than any
before. So a look at the highest tells whether there is anything to read."""

sign_ins = Table(
    "sign_ins",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("token", String(64), nullable=False),
    Column("until", UtcDateTime, nullable=False),
)
"""Browsers that signed in, by digests of what their cookies hold and of their tokens."""

changes = Table(
    "changes",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("at", UtcDateTime, nullable=False),
    Column("who", Text, nullable=False),
    Column("did", Text, nullable=False),
    Column("what", Text, nullable=False),
)
"""Who added or removed what, only added."""

leases = Table(
    "leases",
    metadata,
    Column("work", String(64), primary_key=True),
    Column("holder", String(64), nullable=False),
    Column("until", UtcDateTime, nullable=False),
    Column("done_at", UtcDateTime),
)
"""Which process does some work for all who share this store, until when at most, and when it was last done."""

source_status = Table(
    "source_status",
    metadata,
    Column("name", Text, primary_key=True),
    Column("attempted_at", UtcDateTime, nullable=False),
    Column("succeeded_at", UtcDateTime),
    Column("offers", Integer),
    Column("seconds", Float, nullable=False),
    Column("error", Text),
)
"""How each source last fared; `offers` is the length of its last good listing."""


def upsert(connection: Connection, table: Table, rows: Iterable[Row], merge: Merge) -> None:
    """Insert; where the primary key stands already, set each other column to `merge(old, new)`."""
    dialect: Any = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = dialect.insert(table)
    key = [column.name for column in table.primary_key]
    others = [column for column in table.columns if column.name not in key]
    merged = {column.name: merge(column, statement.excluded[column.name]) for column in others}
    on_conflict, waiting = statement.on_conflict_do_update(index_elements=key, set_=merged), iter(rows)
    while some := list(islice(waiting, ROWS_AT_ONCE)):
        connection.execute(on_conflict, some)
