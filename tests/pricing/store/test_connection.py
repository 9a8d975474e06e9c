"""The database under a store: writers take turns, schemas agree, and what cannot be had is said without secrets."""

import resource
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text
from support.histories import history
from support.prices import NOW, listed, many, offer

from pricing.store import HEAD
from pricing.store import tables as schema
from pricing.store.connection import Database
from pricing.store.errors import StoreBusy, StoreUnavailable
from pricing.store.store import Store


def test_a_second_writer_waits_and_then_says_so(store: Store, store_url: str) -> None:
    hurried = Store(store_url, wait_seconds=1)
    with Database(store_url).writing(), pytest.raises(StoreBusy, match="another refresh is writing"):
        hurried.publish(listed("aws", offer()), NOW)
    assert hurried.publish(listed("aws", offer()), NOW).new == 1


def test_two_refreshes_at_once_both_land(store: Store, store_url: str) -> None:
    def refresh(origin: str) -> None:
        for hour in range(5):
            moment = NOW + hour * timedelta(hours=1)
            Store(store_url).publish(listed(origin, *many(20, str(hour + 1), moment)), moment)

    with ThreadPoolExecutor(2) as both:
        list(both.map(refresh, ("aws", "gcp")))
    assert len(store.load_current()) == 2 * 5 * 20


def test_readers_see_the_old_snapshot_while_another_is_written(store: Store, store_url: str) -> None:
    before = store.publish(listed("aws", offer()), NOW).snapshot
    with Database(store_url).writing() as connection:
        connection.execute(schema.snapshots.insert().values(sequence=9, id="x", published_at=NOW, gaps="[]"))
        assert store.current_snapshot_id() == before
        assert len(history(store, "p3.2xlarge")) == 1


def test_migrations_and_tables_agree(store: Store, store_url: str) -> None:
    with Database(store_url).reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.metadata) == []
        assert context.get_current_revision() == HEAD
    config = Config()
    config.set_main_option("script_location", "pricing.store:migrations")
    assert ScriptDirectory.from_config(config).get_current_head() == HEAD


def test_a_store_that_disappears_is_an_error_and_never_an_empty_store(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "prices.sqlite3"
    store = Store(f"sqlite:///{path}")
    store.publish(listed("aws", offer()), NOW)
    path.unlink()
    with pytest.raises(StoreUnavailable, match=str(path)):
        store.current_snapshot_id()
    assert not path.exists()


@contextmanager
def full_disk(most: int) -> Iterator[None]:
    """No file of this process may grow beyond so many bytes: what is written there fails, as on a full disk."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)


@pytest.mark.parametrize("room", [0, 100_000, 500_000])
def test_a_full_disk_is_said_in_words_and_nothing_is_half_published(tmp_path: Path, room: int) -> None:
    path = tmp_path / "prices.sqlite3"
    store = Store(f"sqlite:///{path}")
    before = store.publish(listed("aws", offer()), NOW).snapshot
    with (
        full_disk(path.stat().st_size + room),
        pytest.raises(StoreUnavailable, match="its disk is full or fails: make room"),
    ):
        store.publish(listed("gcp", *many(8000, "4")), NOW + timedelta(hours=1))
    assert store.current_snapshot_id() == before
    assert store.publish(listed("gcp", *many(2, "4")), NOW + timedelta(hours=2)).new == 2


def test_a_file_that_is_no_store_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "prices.sqlite3"
    path.write_text("this is a text, long enough to be taken for a database header\n" * 20)
    with pytest.raises(StoreUnavailable, match=str(path)):
        Store(f"sqlite:///{path}")


def test_a_folder_that_cannot_be_made_names_the_setting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="COSTCALC_DATABASE_URL"):
        Store(f"sqlite:///{tmp_path / 'file' / 'prices.sqlite3'}")


@pytest.mark.parametrize(
    "url", ["sqlite://", "mysql://host/prices", "prices.db", "nonsense://x", "postgresql://h:port/d"]
)
def test_an_unusable_url_says_what_one_looks_like(url: str) -> None:
    with pytest.raises(StoreUnavailable, match="must look like sqlite:////"):
        Store(url)


def test_a_store_of_a_newer_version_is_refused(store: Store, store_url: str) -> None:
    with Database(store_url).writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreUnavailable, match=r"newer costcalc \(9999, this one knows \d+\): upgrade"):
        Store(store_url)


def test_a_process_from_before_an_upgrade_reads_on_and_writes_no_more(store: Store, store_url: str) -> None:
    before = store.publish(listed("aws", offer()), NOW).snapshot
    with Database(store_url).writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreUnavailable, match="written by a newer costcalc"):
        store.publish(listed("aws", offer("2")), NOW + timedelta(hours=1))
    assert store.current_snapshot_id() == before
    assert [str(each.offer.hourly_rate) for each in history(store, "p3.2xlarge")] == ["3.06"]


@pytest.mark.parametrize(
    "url", ["postgresql://user:hunter2@127.0.0.1:1/prices", "postgresql://user@127.0.0.1:1/prices?password=hunter2"]
)
def test_no_error_shows_a_password(url: str) -> None:
    with pytest.raises(StoreUnavailable) as refused:
        Store(url)
    assert "hunter2" not in str(refused.value)
    assert "127.0.0.1" in str(refused.value)


def test_sqlite_keeps_a_write_ahead_log(tmp_path: Path) -> None:
    Store(f"sqlite:///{tmp_path / 'p.sqlite3'}")
    with closing(sqlite3.connect(tmp_path / "p.sqlite3")) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_what_is_written_is_on_the_disk_before_it_is_acknowledged(store: Store, store_url: str) -> None:
    """In write-ahead mode SQLite syncs the log at each commit where this says FULL (www.sqlite.org/pragma.html)."""
    setting = "PRAGMA synchronous" if store.dialect == "sqlite" else "SHOW synchronous_commit"
    with Database(store_url).writing() as connection:
        assert connection.exec_driver_sql(setting).scalar() in (2, "on")
