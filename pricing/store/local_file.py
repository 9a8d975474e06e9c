"""An SQLite store without SQLAlchemy, which takes 0.2 s to import: where the file lies, and its newest catalogue."""

from __future__ import annotations

import sqlite3
import zipfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct
from platformdirs import user_data_path

from costcalc.catalogue.catalogue import Catalogue
from pricing.store import HEAD
from pricing.store.book import Book
from pricing.store.offer_rows import read_gaps

SCHEME = "sqlite:///"
_NEWEST = """
    SELECT snapshots.id, snapshots.gaps, books.document FROM snapshots JOIN books USING (sequence)
    WHERE EXISTS (SELECT 1 FROM alembic_version WHERE version_num = ?)
    AND EXISTS (SELECT 1 FROM packaged_editions WHERE digest = ?)
    ORDER BY sequence DESC LIMIT 1
"""
_OWN_RUNS = "SELECT id, kind, owner, added_at, document, shared_by FROM own_runs ORDER BY added_at, id"


class OwnRun(Struct, frozen=True):
    """Something that somebody measured or ran, as the JSON `document` of its `kind`.

    `owner` is a digest of the token that sent it, or of its name, None where none did. `shared_by` is the name of who shows it to
    everybody, None where its owner alone sees it.
    """

    id: str
    kind: str
    owner: str | None
    added_at: datetime
    document: str
    shared_by: str | None = None


def default_path() -> Path:
    """The file that keeps the prices unless COSTCALC_DATABASE_URL names another store."""
    return user_data_path("costcalc", appauthor=False) / "prices.sqlite3"


def default_url() -> str:
    """The same file as a database URL."""
    return f"{SCHEME}{default_path()}"


def identity_file(path: Path) -> Path:
    """What stands beside an SQLite store and outlives it: which store it is. Where it stands alone, the store is gone."""
    return path.with_name(f"{path.name}.id")


def stands_or_stood(path: Path) -> bool:
    """Whether there is an SQLite store at this path, or was one."""
    return path.exists() or identity_file(path).exists()


def newest_catalogue(url: str, edition: str) -> Catalogue | None:
    """The catalogue of the newest snapshot in an SQLite file that holds this edition of the packaged prices.

    None if only a `Store` can tell: another database, a file to create or migrate, an edition to merge, an error.
    """
    path = _path(url)
    if path is None:
        return None
    try:
        with closing(open_sqlite(path, "ro")) as connection:
            row = connection.execute(_NEWEST, (HEAD, edition)).fetchone()
        return row and Book.from_bytes(row[2]).catalogue(row[0], read_gaps(row[1]))
    except (sqlite3.Error, ValueError, KeyError, TypeError, zipfile.BadZipFile):
        return None


def own_runs(url: str) -> tuple[OwnRun, ...] | None:
    """The runs in an SQLite file, the oldest first. None if only a `Store` can tell."""
    path = _path(url)
    if path is None:
        return None
    try:
        with closing(open_sqlite(path, "ro")) as connection:
            rows = connection.execute(_OWN_RUNS).fetchall()
    except sqlite3.Error:
        return None
    return tuple(  # SQLAlchemy writes moments without the zone, which is UTC
        OwnRun(id, kind, owner, datetime.fromisoformat(added_at).replace(tzinfo=UTC), document, shared_by)
        for id, kind, owner, added_at, document, shared_by in rows
    )


def _path(url: str) -> Path | None:
    """The file of an SQLite URL without options."""
    return Path(url.removeprefix(SCHEME)).expanduser().absolute() if url.startswith(SCHEME) and "?" not in url else None


def open_sqlite(path: Path, mode: str, wait_seconds: float = 5) -> sqlite3.Connection:
    """The file as SQLite opens it: `ro`, `rw`, or `rwc` to create it."""
    address = f"file:{quote(str(path))}?mode={mode}"
    return sqlite3.connect(address, uri=True, timeout=wait_seconds, isolation_level=None)
