"""One database, SQLite or PostgreSQL: how to connect, the lock that allows one writer, migrations on opening."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, select, text, update
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.pool import NullPool

from pricing.store import HEAD
from pricing.store.errors import StoreBusy, StoreDamaged, StoreGone, StoreUnavailable
from pricing.store.local_file import identity_file, open_sqlite
from pricing.store.tables import identity

CONVERTS_ALL = "719229b4"  # whose migrations begin before 0.2.0
CONNECT_SECONDS = 5
WRITER_LOCK = 0x436F7374  # the writer of a PostgreSQL database holds this advisory lock
SECRET_OPTIONS = ("password", "sslpassword")  # libpq also takes them in the query of a URL
WAYS_OUT = {
    "sqlite": "restore a backup (`costcalc prices restore FILE`) or start anew (`costcalc prices rebuild`, then restart "
    "servers)",
    "postgresql": "restore a backup with pg_restore, or restart all servers to start anew",
}
MAKE_ROOM = "its disk is full or fails: make room, and try again"
POSTGRESQL = frozenset({"postgres", "postgresql", "postgresql+psycopg"})


class Database:
    """Opens a connection for each use, which is safe across forks and notices a store that vanished.

    `wait_seconds` is how long a writer waits for another one. Opening creates an SQLite file and migrates to the newest
    schema, but begins none anew: neither one of which the file beside it tells, nor the one whose identity is `expected`. Raises
    StoreUnavailable.
    """

    def __init__(self, url: str, wait_seconds: float = 120, expected: str | None = None) -> None:
        self._wait_seconds = wait_seconds
        self._expected = expected
        self._url = _parsed(url)
        is_file = self._url.get_backend_name() == "sqlite"
        self._path = Path(self._url.database or "").expanduser().absolute() if is_file else None
        self.address = self._url.difference_update_query(SECRET_OPTIONS).render_as_string(hide_password=True)
        self._engine = self._connected()
        self._bulk_engine = _postgresql_in_binary(self._url) if self.dialect == "postgresql" else self._engine
        with self._explained():
            self._migrate()
        self.identity = self._identified()

    def check_identity(self) -> None:
        """Raises StoreGone if another store has taken the place of the one that was opened."""
        if self._stored_identity() != self.identity:
            raise self._gone()

    def key(self) -> bytes:
        """Random, and the same for all who share this database: by it tokens are known here."""
        with self.reading() as connection:
            return bytes(connection.execute(select(identity.c.key)).scalar_one())

    def _stored_identity(self) -> str:
        with self.reading() as connection:
            return str(connection.execute(select(identity.c.id)).scalar_one())

    def _identified(self) -> str:
        """Which store this is, by the file beside it, from which a backup or a new store in its place takes the identity over."""
        name = self._stored_identity()
        if self._path:
            file = identity_file(self._path)
            with suppress(OSError):  # who may only read
                if not file.exists():
                    file.write_text(name)
            recorded = file.read_text() if file.exists() else name
            if recorded not in ("", name):
                with self.writing() as connection:
                    connection.execute(update(identity).values(id=recorded))
                name = recorded
        if self._expected not in (None, name):
            raise self._gone()
        return name

    def _gone(self) -> StoreGone:
        return StoreGone(self.address, WAYS_OUT[self._url.get_backend_name()])

    @property
    def dialect(self) -> str:
        return self._engine.dialect.name

    @contextmanager
    def reading(self, bulk: bool = False) -> Iterator[Connection]:
        """One connection for reading, `bulk` for large documents. Raises StoreUnavailable."""
        engine = self._bulk_engine if bulk else self._engine
        with self._explained(), engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """The transaction of the only writer; an error inside rolls it back. Raises StoreBusy, StoreUnavailable.

        A process that runs since before an upgrade may read on, but writes no more.
        """
        with self._alone() as connection:
            if (revision := _revision(connection)) != HEAD:
                raise self._unknown(revision)
            yield connection

    @contextmanager
    def _alone(self) -> Iterator[Connection]:
        with self._explained(), self._engine.connect() as connection:
            exclusive = connection.execution_options(exclusive=True)
            with exclusive.begin():
                if self.dialect == "postgresql":
                    exclusive.execute(text(f"SET LOCAL lock_timeout = '{self._wait_seconds:.0f}s'"))
                    exclusive.execute(text(f"SELECT pg_advisory_xact_lock({WRITER_LOCK})"))
                yield exclusive

    def _unknown(self, revision: str | None) -> StoreUnavailable:
        if (revision or "") > HEAD:
            way_out = "upgrade this one, or restore a backup from before"
            written = f"by a newer costcalc ({revision}, this one knows {HEAD}): {way_out}"
        else:
            written = f"between two releases ({revision}): open it with the commit {CONVERTS_ALL} of costcalc first"
        return StoreUnavailable(f"{self.address} was written {written}")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, sqlite3.Error) as error:  # rows in bulk go past SQLAlchemy
            cause = error.orig if isinstance(error, DBAPIError) else error
            reason = str(cause).strip().splitlines()[0] if str(cause).strip() else type(cause).__name__
            if "locked" in reason or "lock timeout" in reason:
                raise StoreBusy(
                    f"another refresh is writing to {self.address} since {self._wait_seconds:.0f} s; try again when it is done"
                ) from error
            if self._path and not self._path.exists():
                raise self._gone() from error
            if is_damage(cause):
                raise StoreDamaged(self._url.database or "", reason) from error
            advice = f"; {MAKE_ROOM}" if is_of_disk(cause) else ""
            raise StoreUnavailable(f"the price store {self.address} fails: {reason}{advice}") from error

    def _connected(self) -> Engine:
        path = self._path
        if path is None:
            return _postgresql(self._url)
        if not path.exists() and (self._expected or identity_file(path).exists()):
            raise self._gone()
        _prepare_sqlite(path, self._wait_seconds)
        return _sqlite_engine(path, self._wait_seconds)

    def _migrate(self) -> None:
        with self.reading() as connection:
            revision = _revision(connection)
        if revision == HEAD:
            return
        if revision is None and self._expected:
            raise self._gone()
        with self._alone() as connection:
            if _revision(connection) != HEAD:
                self._upgrade(connection)

    def _upgrade(self, connection: Connection) -> None:
        from alembic import command
        from alembic.config import Config
        from alembic.util import CommandError

        from pricing.store.migrations.start import start

        config = Config()
        config.set_main_option("script_location", "pricing.store:migrations")
        config.attributes["connection"] = connection
        try:
            if _revision(connection) is None:
                start(connection)
                command.stamp(config, HEAD)
            else:
                command.upgrade(config, HEAD)
        except CommandError as error:
            raise self._unknown(_revision(connection)) from error


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
        if parsed.drivername in POSTGRESQL:
            return parsed.set(drivername="postgresql+psycopg")
        if parsed.get_backend_name() == "sqlite" and parsed.database not in (None, "", ":memory:"):
            return parsed
    except (ArgumentError, NoSuchModuleError, ValueError):
        pass
    raise StoreUnavailable(
        "COSTCALC_DATABASE_URL must look like sqlite:////path/to/prices.sqlite3 or postgresql://user:password@host/database"
    )


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _postgresql(url: URL, **options: object) -> Engine:
    """Connections that give up within seconds if no server answers."""
    named = {"connect_timeout": CONNECT_SECONDS, "application_name": "costcalc", **options}
    return create_engine(url, poolclass=NullPool, connect_args=named)


def _postgresql_in_binary(url: URL) -> Engine:
    """Results come in binary: a catalogue of 130 MB takes 0.4 s instead of 2 s. Unfit for reflection, as in migrations."""
    from psycopg import Cursor
    from psycopg.pq import Format

    class BinaryCursor(Cursor[Any]):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            self.format = Format.BINARY

    return _postgresql(url, cursor_factory=BinaryCursor)


def fault(path: Path, wait_seconds: float = 120) -> str | None:
    """What is wrong with an SQLite file that stands already: 8 ms for 20 MB. Of the documents in it only loading can tell."""
    try:
        if not path.stat().st_size:
            return "it is empty"
        with closing(open_sqlite(path, "rw", wait_seconds)) as connection:
            [[finding], *_] = connection.execute("PRAGMA quick_check(1)")
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        finding = str(error)
    return None if finding == "ok" else str(finding).splitlines()[-1]


def is_damage(error: object) -> bool:
    """Whether an error of SQLite says that a file is not whole, or not a database."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def is_of_disk(error: object) -> bool:
    """Whether SQLite could not write: it calls a disk without room full, or where a log cannot grow an I/O error."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


def _prepare_sqlite(path: Path, wait_seconds: float) -> None:
    """A whole file in write-ahead mode, in which readers go on while one process publishes; a missing one is created."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            _create_sqlite(path, wait_seconds)
        if finding := fault(path, wait_seconds):
            raise StoreDamaged(path, finding)
        with closing(open_sqlite(path, "rw", wait_seconds)) as connection:
            _write_ahead(connection, time.monotonic() + wait_seconds)
    except (OSError, sqlite3.Error) as error:
        advice = MAKE_ROOM if is_of_disk(error) else "set COSTCALC_DATABASE_URL to a place that can be written"
        raise StoreUnavailable(f"cannot keep prices in {path}: {error}; {advice}") from error


def _create_sqlite(path: Path, wait_seconds: float) -> None:
    """The file appears with its header, so that an empty one is always a damaged one; the first of several creators wins."""
    new = path.with_name(f".{path.name}-{os.getpid()}-{threading.get_ident()}")
    try:
        with closing(open_sqlite(new, "rwc", wait_seconds)) as connection:
            connection.execute("PRAGMA journal_mode = WAL").close()
        os.link(new, path)
    except FileExistsError:
        pass
    finally:
        new.unlink(missing_ok=True)


def _write_ahead(connection: sqlite3.Connection, deadline: float) -> None:
    """Switch the journal. That needs the file alone for a moment, and SQLite itself does not wait for it."""
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").close()
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _sqlite_engine(path: Path, wait_seconds: float) -> Engine:
    """Connections that never create the file: if a store was taken away, that is an error, not an empty store."""
    engine = create_engine("sqlite://", poolclass=NullPool, creator=lambda: open_sqlite(path, "rw", wait_seconds))

    @event.listens_for(engine, "connect")
    def _prepare(connection: sqlite3.Connection, _: object) -> None:
        connection.execute("PRAGMA foreign_keys = ON").close()
        connection.execute("PRAGMA synchronous = FULL").close()  # else a power cut forgets, www.sqlite.org/wal.html

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        exclusive = connection.get_execution_options().get("exclusive")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if exclusive else "BEGIN")

    return engine
