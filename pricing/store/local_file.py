"""An SQLite store without SQLAlchemy, which takes 0.2 s to import: where the file lies, and its newest catalogue."""

from __future__ import annotations

import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

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


def default_path() -> Path:
    """The file that keeps the prices unless COSTCALC_DATABASE_URL names another store."""
    return user_data_path("costcalc", appauthor=False) / "prices.sqlite3"


def default_url() -> str:
    """The same file as a database URL."""
    return f"{SCHEME}{default_path()}"


def newest_catalogue(url: str, edition: str) -> Catalogue | None:
    """The catalogue of the newest snapshot in an SQLite file that holds this edition of the packaged prices.

    None if only a `Store` can tell: another database, a file to create or migrate, an edition to merge, an error.
    """
    if not url.startswith(SCHEME) or "?" in url:
        return None
    path = Path(url.removeprefix(SCHEME)).expanduser().absolute()
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
            found = connection.execute(_NEWEST, (HEAD, edition)).fetchone()
        return found and Book.from_bytes(found[2]).catalogue(found[0], read_gaps(found[1]))
    except (sqlite3.Error, ValueError, KeyError, TypeError, zipfile.BadZipFile):
        return None
