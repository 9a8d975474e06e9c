"""An SQLite store as a file: copied while it is written, put back, and set aside when it is damaged. Nothing is deleted."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pricing.store import HEAD
from pricing.store.connection import StoreError, fault, is_damage, open_sqlite
from pricing.store.local_file import SCHEME, default_url
from pricing.store.store import Store

BESIDE = ("", "-wal", "-shm")  # https://www.sqlite.org/walformat.html: the log belongs to the file
WAIT_SECONDS = 30
POSTGRESQL = "this store is PostgreSQL, whose own tools do that: pg_dump --format=custom, and pg_restore --clean"
_PUBLISHED = "SELECT count(*), min(published_at), max(published_at) FROM snapshots"
_SOURCES = "SELECT name FROM source_status WHERE succeeded_at IS NOT NULL ORDER BY name"


@dataclass(frozen=True, slots=True)
class SetAside:
    """Where the former store lies now, what it held that the new one does not, as far as it can still be read, and how many of
    people's own measurements were taken over; None where they could not be read."""

    path: Path
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
    aside = _set_aside(path, "replaced", now) if path.exists() else None
    new.replace(path)
    if aside:
        _give_to_the_owner_of(aside, path)
    return aside


def rebuild(url: str | None, now: datetime) -> SetAside:
    """Sets a damaged store aside and begins a new one with the packaged prices. Raises StoreError for one that is whole."""
    path = store_path(url)
    if not path.exists() or _wrong(path) is None:
        raise StoreError(f"{path} is not damaged: nothing was done")
    lost, own = _held(path), _own_runs(path)
    aside = _set_aside(path, "damaged", now)
    Store(url).fill(now)
    _give_to_the_owner_of(aside, path)
    with closing(open_sqlite(path, "rw", WAIT_SECONDS)) as connection:
        connection.executemany(
            "INSERT INTO own_runs (id, kind, owner, added_at, document) VALUES (?, ?, ?, ?, ?)", own or []
        )
    return SetAside(aside, lost, None if own is None else len(own))


def _give_to_the_owner_of(former: Path, path: Path) -> None:
    """Root may put a store in place, but the service, which is another user, goes on writing to it."""
    owner = former.stat()
    with suppress(PermissionError):
        os.chown(path, owner.st_uid, owner.st_gid)


def _copy(source: Path, target: Path) -> None:
    """https://www.sqlite.org/backup.html: the pages of one moment; a copy that cannot be read does not get its name."""
    new = target.with_name(f".{target.name}-new")
    try:
        with closing(open_sqlite(source, "ro", WAIT_SECONDS)) as old, closing(sqlite3.connect(new)) as copy:
            old.backup(copy)
        if found := _wrong(new):
            raise StoreError(f"{source} cannot be used: {found}")
        os.replace(new, target)
    except (OSError, sqlite3.Error) as error:
        what = "be used" if is_damage(error) else f"be copied to {target}"
        raise StoreError(f"{source} cannot {what}: {error}") from error
    finally:
        for ending in BESIDE:
            Path(f"{new}{ending}").unlink(missing_ok=True)


def _wrong(path: Path) -> str | None:
    """What is wrong with a store: its pages, its schema, or a document in it. One of an older version stays as it is."""
    try:
        if found := fault(path, WAIT_SECONDS):
            return found
        with closing(open_sqlite(path, "ro", WAIT_SECONDS)) as connection:
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone():
                return "it is no copy of a store, such as `costcalc prices backup` writes"
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


def _own_runs(path: Path) -> list[tuple[object, ...]] | None:
    """What people measured themselves, which no refresh brings back; None where it cannot be read."""
    try:
        with closing(open_sqlite(path, "ro", WAIT_SECONDS)) as connection:
            return connection.execute("SELECT id, kind, owner, added_at, document FROM own_runs").fetchall()
    except sqlite3.Error:
        return None


def _set_aside(path: Path, why: str, now: datetime) -> Path:
    """Renames a store with its log, after whoever writes to it is done."""
    aside = _beside(path, why, now)
    try:
        with closing(open_sqlite(path, "rw", WAIT_SECONDS)) as connection:
            connection.execute("BEGIN IMMEDIATE")
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise StoreError(f"{path} is being written ({error}): try again when that is done") from error
    for ending in BESIDE:
        with suppress(FileNotFoundError):
            Path(f"{path}{ending}").rename(f"{aside}{ending}")
    return aside


def _beside(path: Path, why: str, now: datetime) -> Path:
    return path.with_name(f"{path.stem}-{why}-{now:%Y%m%dT%H%M%SZ}{path.suffix}")
