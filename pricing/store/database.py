"""One database, SQLite or PostgreSQL: connections, the single writer's lock, migrations on opening."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import URL, Connection, Engine, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from pricing.store import connections as engines
from pricing.store.connections import StoreError, StoreUnavailable
from pricing.store.place import usual_place
from pricing.store.tables import HEAD

__all__ = ["Database", "StoreBusy", "StoreError", "StoreUnavailable", "default_url"]

WRITER_LOCK = 0x436F7374  # one writer per PostgreSQL database holds this advisory lock
SECRET_OPTIONS = ("password", "sslpassword")  # libpq takes them in a URL's query too
POSTGRESQL = frozenset({"postgres", "postgresql", "postgresql+psycopg"})


class StoreBusy(StoreError):
    """Another process is publishing and did not finish in time."""


def default_url() -> str:
    """SQLite in the user's data folder: where prices are kept unless COSTCALC_DATABASE_URL says otherwise."""
    return f"sqlite:///{usual_place()}"


class Database:
    """Connections are opened per use: safe across forks, and a store that vanished is noticed.

    `wait_seconds` is how long a writer waits for another one. Opening creates an SQLite file and migrates to the newest
    schema. Raises StoreUnavailable.
    """

    def __init__(self, url: str, wait_seconds: float = 120) -> None:
        self._wait_seconds = wait_seconds
        self._url = _parsed(url)
        self.place = self._url.difference_update_query(SECRET_OPTIONS).render_as_string(hide_password=True)
        self._engine = self._connected()
        self._bulk_engine = engines.postgresql_in_binary(self._url) if self.dialect == "postgresql" else self._engine
        with self._explained():
            self._migrate()

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return self._engine.dialect.name

    @contextmanager
    def reading(self, bulk: bool = False) -> Iterator[Connection]:
        """One connection for reading, `bulk` for large documents. Raises StoreUnavailable."""
        engine = self._bulk_engine if bulk else self._engine
        with self._explained(), engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """The only writer's transaction: all of it or nothing. Raises StoreBusy, StoreUnavailable."""
        with self._explained(), self._engine.connect() as connection:
            exclusive = connection.execution_options(exclusive=True)
            with exclusive.begin():
                if self.dialect == "postgresql":
                    exclusive.execute(text(f"SET LOCAL lock_timeout = '{self._wait_seconds:.0f}s'"))
                    exclusive.execute(text(f"SELECT pg_advisory_xact_lock({WRITER_LOCK})"))
                yield exclusive

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            reason = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else type(error.orig).__name__
            if "locked" in reason or "lock timeout" in reason:
                raise StoreBusy(
                    f"another refresh is writing to {self.place} since {self._wait_seconds:.0f} s; try again when it is done"
                ) from error
            raise StoreUnavailable(f"the price store {self.place} fails: {reason}") from error

    def _connected(self) -> Engine:
        if self._url.get_backend_name() == "postgresql":
            return engines.postgresql(self._url)
        return engines.sqlite(self._url, self._wait_seconds)

    def _migrate(self) -> None:
        with self.reading() as connection:
            if _revision(connection) == HEAD:
                return
        with self.writing() as connection:
            if _revision(connection) != HEAD:
                self._upgrade(connection)

    def _upgrade(self, connection: Connection) -> None:
        from alembic import command
        from alembic.config import Config
        from alembic.util import CommandError

        config = Config()
        config.set_main_option("script_location", "pricing.store:migrations")
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise StoreUnavailable(
                f"{self.place} was written by a newer costcalc ({_revision(connection)}): upgrade this one"
            ) from error


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
