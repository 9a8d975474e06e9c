"""Connections to the two kinds of database: opened per use, so that they are safe across forks."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.pool import NullPool

CONNECT_SECONDS = 5


class StoreError(Exception):
    """The store cannot do what was asked; the message says what to do."""


class StoreUnavailable(StoreError):
    """The store cannot be reached or read. Names the place, never a password."""


def postgresql(url: URL, **options: Any) -> Engine:
    """Connections that give up within seconds where no server answers."""
    named = {"connect_timeout": CONNECT_SECONDS, "application_name": "costcalc", **options}
    return create_engine(url, poolclass=NullPool, connect_args=named)


def postgresql_in_binary(url: URL) -> Engine:
    """Answers come in binary: a catalogue of 130 MB in 0.4 s instead of 2 s. Unfit for reflection, as in migrations."""
    from psycopg import Cursor
    from psycopg.pq import Format

    class BinaryCursor(Cursor[Any]):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            self.format = Format.BINARY

    return postgresql(url, cursor_factory=BinaryCursor)


def sqlite(url: URL, wait_seconds: float) -> Engine:
    """Connections to a file that is created here and now if need be. Raises StoreUnavailable."""
    assert url.database is not None
    path = Path(url.database).expanduser().absolute()
    _create_sqlite(path, wait_seconds)
    return _sqlite_engine(path, wait_seconds)


def _create_sqlite(path: Path, wait_seconds: float) -> None:
    """An SQLite file in write-ahead mode, so that readers go on while one process publishes."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = _open_sqlite(path, "rwc", wait_seconds)
    except (OSError, sqlite3.Error) as error:
        raise StoreUnavailable(
            f"cannot keep prices in {path}: {error}; set COSTCALC_DATABASE_URL to a place that can be written"
        ) from error
    try:
        _write_ahead(connection, time.monotonic() + wait_seconds)
    except sqlite3.Error as error:
        raise StoreUnavailable(f"{path} cannot be used as the price store: {error}") from error
    finally:
        connection.close()


def _write_ahead(connection: sqlite3.Connection, deadline: float) -> None:
    """Switching the journal needs the file alone for a moment, and SQLite does not wait for that by itself."""
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").close()
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _open_sqlite(path: Path, mode: str, wait_seconds: float) -> sqlite3.Connection:
    address = f"file:{quote(str(path))}?mode={mode}"
    return sqlite3.connect(address, uri=True, timeout=wait_seconds, isolation_level=None)


def _sqlite_engine(path: Path, wait_seconds: float) -> Engine:
    """Connections that never create the file: a store that was taken away is an error, not an empty store."""
    engine = create_engine("sqlite://", poolclass=NullPool, creator=lambda: _open_sqlite(path, "rw", wait_seconds))

    @event.listens_for(engine, "connect")
    def _prepare(connection: sqlite3.Connection, _: object) -> None:
        connection.execute("PRAGMA foreign_keys = ON").close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        exclusive = connection.get_execution_options().get("exclusive")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if exclusive else "BEGIN")

    return engine
