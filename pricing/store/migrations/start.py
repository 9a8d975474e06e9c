"""A new store: all tables as they are now, and rows that stay as they were written."""

import secrets
from collections.abc import Iterable

from sqlalchemy import Connection, Table, text

from pricing.store.tables import SIGN_INS, books, changes, identity, metadata, segments, versions


def start(connection: Connection) -> None:
    """Creates everything. Raises what the database does."""
    create(connection, metadata.sorted_tables)
    connection.execute(versions.insert(), {"name": SIGN_INS, "number": 1})


def create(connection: Connection, tables: Iterable[Table]) -> None:
    """Creates tables. The store gets an identity, so that one which vanished is told from one begun anew, and a key."""
    for table in tables:
        table.create(connection)
    connection.execute(identity.insert(), {"id": secrets.token_hex(16), "key": secrets.token_bytes(32)})
    for table in (segments, changes):
        _append_only(connection, table.name)
    if connection.dialect.name == "postgresql":  # compressing takes longer than writing
        connection.execute(text(f"ALTER TABLE {books.name} ALTER COLUMN document SET STORAGE EXTERNAL"))


def _append_only(connection: Connection, table: str) -> None:
    """Triggers that refuse to change or delete a row of this table."""
    if connection.dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            connection.exec_driver_sql(
                f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"
            )
        return
    connection.exec_driver_sql(
        f"CREATE FUNCTION {table}_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{table} are append-only'; END $$"
    )
    connection.exec_driver_sql(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {table}_append_only()"
    )
