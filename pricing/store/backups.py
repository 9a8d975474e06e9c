"""An SQLite store as a file: copied while it is written, put back, and set aside when it is damaged. Nothing is deleted."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct

from pricing.store import HEAD
from pricing.store.connection import fault, is_damage
from pricing.store.errors import StoreError
from pricing.store.local_file import SCHEME, default_url, identity_file, open_sqlite
from pricing.store.store import Store
from pricing.store.tables import EVERYBODY

BESIDE = ("", "-wal", "-shm")  # https://www.sqlite.org/walformat.html: the log belongs to the file
WAIT_SECONDS = 30
POSTGRESQL = "this store is PostgreSQL, whose own tools do that: pg_dump --format=custom, and pg_restore --clean"
_PUBLISHED = "SELECT count(*), min(published_at), max(published_at) FROM snapshots"
_RUN = "INSERT INTO own_runs (id, kind, owner, added_at, document, shared_by) VALUES (?, ?, ?, ?, ?, ?)"
_NUMBERED = """
    INSERT INTO versions (name, number)
    SELECT DISTINCT CASE WHEN shared_by IS NULL THEN COALESCE(owner, ?1) ELSE ?1 END, 2 FROM own_runs
"""
_SOURCES = "SELECT name FROM source_status WHERE succeeded_at IS NOT NULL ORDER BY name"


class SetAside(Struct, frozen=True):
    """Where the former store lies now, None where it is gone, what it held that the new one does not, as far as it can still be
    read, and how many of people's own measurements were taken over; None where they could not be read."""

    path: Path | None
    lost: str
    own_runs: int | None


def store_path(url: str | None) -> Path:
    """The file of an SQLite store. Raises StoreError for another database."""
    address = url or default_url()
    if not address.startswith(SCHEME):
        raise StoreError(POSTGRESQL)
    return Path(address.removeprefix(SCHEME)).expanduser().absolute()


def backup(url: str | None, target: Path) -> None:
    """Copies the store as it stands at one moment, whoever writes to it, and reads the copy. Raises StoreError."""
    path = store_path(url)
    if target.exists():
        raise StoreError(f"{target} exists already: name a new file")
    if not path.exists():
        raise StoreError(f"there is no store at {path}: costcalc prices refresh makes one")
    _copy(path, target)


def restore(url: str | None, source: Path, now: datetime) -> Path | None:
    """Puts a backup in the place of the store, which is set aside; servers go on from it. Raises StoreError.

    Returns where the former store lies, None where there was none.
    """
    path, new = store_path(url), _beside(store_path(url), "restored", now)
    if not source.is_file():
        raise StoreError(f"there is no backup at {source}")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        _copy(source, new)
    except StoreError as error:
        raise StoreError(f"{error}; the store stands as it was") from error
    aside = _set_aside(path, "replaced", now)
    new.replace(path)
    _give_to_the_owner_of(aside or identity_file(path), path)
    return aside


def rebuild(url: str | None, now: datetime) -> SetAside:
    """Begins a new store with the packaged prices where there is none, or where there is a damaged one, which is set aside.

    Raises StoreError for a whole one.
    """
    path = store_path(url)
    if path.exists() and _wrong(path) is None:
        raise StoreError(f"{path} is not damaged: nothing was done")
    path.parent.mkdir(parents=True, exist_ok=True)
    lost, own = _held(path), _own(path)
    aside = _set_aside(path, "damaged", now)
    with TemporaryDirectory(dir=path.parent) as folder:
        new = Path(folder, path.name)
        Store(f"{SCHEME}{new}").fill(now)
        with closing(open_sqlite(new, "rw", WAIT_SECONDS)) as connection:
            if own:
                connection.execute("UPDATE identity SET key = ?", (own.key,))
                connection.executemany(_RUN, own.runs)
                connection.execute(_NUMBERED, (EVERYBODY,))
        new.rename(path)
    _give_to_the_owner_of(aside or identity_file(path), path)
    Store(url)  # tells the file beside it which it is, or is told
    return SetAside(aside, lost, len(own.runs) if own else None)


def _give_to_the_owner_of(former: Path, path: Path) -> None:
    """Gives a store to the owner of the former one: root may put it in place, but the service goes on writing to it."""
    with suppress(PermissionError, FileNotFoundError):
        owner = former.stat()
        os.chown(path, owner.st_uid, owner.st_gid)


def _copy(source: Path, target: Path) -> None:
    """Copies the pages of one moment (https://www.sqlite.org/backup.html). A copy that cannot be read does not get its name."""
    new = target.with_name(f".{target.name}-new")
    try:
        with closing(open_sqlite(source, "ro", WAIT_SECONDS)) as old, closing(sqlite3.connect(new)) as copy:
            old.backup(copy)
        if finding := _wrong(new):
            raise StoreError(f"{source} cannot be used: {finding}")
        os.replace(new, target)
    except (OSError, sqlite3.Error) as error:
        what = "be used" if is_damage(error) else f"be copied to {target}"
        raise StoreError(f"{source} cannot {what}: {error}") from error
    finally:
        for each in (identity_file(new), *(Path(f"{new}{ending}") for ending in BESIDE)):
            each.unlink(missing_ok=True)


def _wrong(path: Path) -> str | None:
    """What is wrong with a store: its pages, its schema, or a document in it. One of an older version stays as it is."""
    try:
        if finding := fault(path, WAIT_SECONDS):
            return finding
        with closing(open_sqlite(path, "ro", WAIT_SECONDS)) as connection:
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone():
                return "it is not a copy of a store as `costcalc prices backup` writes"
            [(revision,)] = connection.execute("SELECT version_num FROM alembic_version")
        if revision >= HEAD:
            Store(f"{SCHEME}{path}", WAIT_SECONDS).all_offers()
    except (StoreError, sqlite3.Error, OSError) as error:
        return str(error)
    return None


def _held(path: Path) -> str:
    """What a damaged store held: how many snapshots of which time, and from which sources, where that can be read."""
    try:
        with closing(open_sqlite(path, "ro", WAIT_SECONDS)) as connection:
            [(count, first, last)] = connection.execute(_PUBLISHED)
            sources = ", ".join(name for (name,) in connection.execute(_SOURCES))
    except sqlite3.Error as error:
        return f"what it held cannot be read ({error}): every price that a refresh saw"
    return f"{count} snapshots published from {first[:16]} to {last[:16]} UTC, with the prices of {sources or 'no live source'}"


class _Own(Struct, frozen=True):
    """What people measured themselves, which no refresh brings back, and the key that hides their owners."""

    runs: list[tuple[Any, ...]]
    key: bytes


def _own(path: Path) -> _Own | None:
    """The own runs; None if they cannot be read."""
    try:
        with closing(open_sqlite(path, "ro", WAIT_SECONDS)) as connection:
            rows = connection.execute("SELECT * FROM own_runs").fetchall()
            runs = [(*row, None if row[2] else "somebody")[:6] for row in rows]  # before 0011 nobody noted who shares
            return _Own(runs, bytes(connection.execute("SELECT key FROM identity").fetchone()[0]))
    except sqlite3.Error:
        return None


def _set_aside(path: Path, why: str, now: datetime) -> Path | None:
    """Renames a store with its log, after whoever writes to it is done; None where there is at most a log."""
    aside, is_there = _beside(path, why, now), path.exists()
    try:
        if is_there:
            with closing(open_sqlite(path, "rw", WAIT_SECONDS)) as connection:
                connection.execute("BEGIN IMMEDIATE")
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise StoreError(f"{path} is being written ({error}): try again when that is done") from error
    for ending in BESIDE:
        with suppress(FileNotFoundError):
            Path(f"{path}{ending}").rename(f"{aside}{ending}")
    return aside if is_there else None


def _beside(path: Path, why: str, now: datetime) -> Path:
    return path.with_name(f"{path.stem}-{why}-{now:%Y%m%dT%H%M%SZ}{path.suffix}")
