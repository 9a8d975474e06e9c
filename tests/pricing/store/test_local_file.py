"""A local store answers a command without SQLAlchemy, and only where a full opening would answer the same."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from support.prices import NOW, listed, offer

from costcalc.offer import Gap
from pricing.packaged.offers import packaged_digest
from pricing.store.local_file import newest_catalogue
from pricing.store.publish import SourceResult
from pricing.store.store import Store


@pytest.fixture
def filled(filled_url: str, tmp_path: Path) -> str:
    """In a folder whose name has a space."""
    (tmp_path / "filled").rename(tmp_path / "a folder")
    return filled_url.replace("/filled/", "/a folder/")


def changed(url: str, statement: str) -> str:
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)) as connection:
        connection.execute(statement)
    return url


def test_it_is_the_catalogue_that_the_store_loads(filled: str) -> None:
    store = Store(filled)
    store.publish(listed("aws", offer("2.5")), NOW)
    store.publish([SourceResult("gcp", 1.0, (), (Gap("gcp", "silent", NOW),), "silent")], NOW)
    found, loaded = newest_catalogue(filled, packaged_digest()), store.load_current()
    assert found is not None
    assert (found.snapshot, found.gaps) == (store.current_snapshot_id(), (Gap("gcp", "silent", NOW),))
    assert found.to_bytes() == loaded.to_bytes()


def test_another_edition_of_the_packaged_prices_has_to_be_merged_first(filled: str) -> None:
    assert newest_catalogue(filled, "0" * 32) is None


def test_another_schema_has_to_be_migrated_first(filled: str) -> None:
    assert (
        newest_catalogue(changed(filled, "UPDATE alembic_version SET version_num = '0001'"), packaged_digest()) is None
    )


def test_a_document_of_another_version_has_to_be_rebuilt_first(filled: str) -> None:
    assert newest_catalogue(changed(filled, "UPDATE books SET document = X'00'"), packaged_digest()) is None


@pytest.mark.parametrize("url", ["postgresql://me@127.0.0.1:1/costs", "sqlite:///{}/none.sqlite3", "sqlite:///{}"])
def test_what_is_no_file_here_is_for_a_store_to_open(url: str, tmp_path: Path) -> None:
    assert newest_catalogue(url.format(tmp_path), packaged_digest()) is None
    assert list(tmp_path.iterdir()) == []


def test_no_database_library_is_imported(filled: str) -> None:
    code = (
        "import sys; from pricing.packaged.offers import packaged_digest; from pricing.store.local_file import newest_catalogue;"
        f"print(len(newest_catalogue({filled!r}, packaged_digest())) > 0, 'sqlalchemy' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["True", "False"]
