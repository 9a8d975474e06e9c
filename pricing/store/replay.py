"""Keys that may be used only once, such as request signatures. All workers share them, beside the prices."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, make_url, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from pricing.store.connection import POSTGRESQL
from pricing.store.errors import StoreUnavailable
from pricing.store.local_file import default_url

WAIT_SECONDS = 1
SWEEP_SECONDS = 60
_CREATE = text("CREATE TABLE IF NOT EXISTS seen_once (key VARCHAR(128) PRIMARY KEY, expires BIGINT NOT NULL)")
_ADD = text("INSERT INTO seen_once (key, expires) VALUES (:key, :expires) ON CONFLICT DO NOTHING")
_SWEEP = text("DELETE FROM seen_once WHERE expires < :now")
_AT_ONCE: Any = {"isolation_level": "AUTOCOMMIT"}  # no lock is held from one statement to the next
_POSTGRESQL_OPTIONS = {
    "connect_timeout": 2,  # the least that libpq takes
    "options": f"-c statement_timeout={WAIT_SECONDS}s -c lock_timeout={WAIT_SECONDS}s",
    "tcp_user_timeout": 2000,  # ms; a server that vanished without a word
    "application_name": "costcalc",
}


class ReplayStore:
    """Remembers used keys in one table. On SQLite the table has its own file, so that no key waits for a refresh.

    The table is created on use, and again after a failure. Threads may share a store; forked processes open their own.
    """

    def __init__(self, url: str | None = None) -> None:
        self._url = url or default_url()
        self._engine: Engine | None = None
        self._swept = 0
        self._lock = threading.Lock()

    def add(self, key: str, now: int, expires: int) -> bool:
        """Whether the key is new; it is remembered until `expires` (seconds since 1970). Raises StoreUnavailable."""
        try:
            with self._lock:
                engine = self._engine = self._engine or self._opened()
            with engine.connect() as connection:
                added = connection.execute(_ADD, {"key": key, "expires": expires}).rowcount == 1
                if now - self._swept > SWEEP_SECONDS:
                    self._swept = now
                    connection.execute(_SWEEP, {"now": now})
            return added
        except (SQLAlchemyError, OSError) as error:
            self.close()
            reason = type(error.orig if isinstance(error, DBAPIError) else error).__name__
            raise StoreUnavailable(f"used keys cannot be kept beside the prices: {reason}") from error

    def close(self) -> None:
        with self._lock:
            if self._engine is not None:
                self._engine.dispose()
            self._engine = None

    def _opened(self) -> Engine:
        engine = self._connected()
        try:
            with engine.connect() as connection:
                if engine.dialect.name == "sqlite":
                    connection.exec_driver_sql("PRAGMA synchronous = OFF")
                connection.execute(_CREATE)
        except DBAPIError as error:
            # PostgreSQL refuses one of two processes that create it at once
            if not any(reason in str(error) for reason in ("already exists", "duplicate key")):
                engine.dispose()
                raise
        return engine

    def _connected(self) -> Engine:
        url = make_url(self._url)
        if url.drivername in POSTGRESQL:
            postgresql = url.set(drivername="postgresql+psycopg")
            return create_engine(postgresql, **_AT_ONCE, pool_pre_ping=True, connect_args=_POSTGRESQL_OPTIONS)
        prices = Path(url.database or "").expanduser().absolute()
        if not prices.exists():
            raise FileNotFoundError(prices)  # the store was taken away: create no file beside it
        beside = prices.with_name(f"{prices.stem}-seen.sqlite3")
        return create_engine(f"sqlite:///{beside}", **_AT_ONCE, connect_args={"timeout": WAIT_SECONDS})
