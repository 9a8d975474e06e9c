"""A key is new once, for every process, while the store can be reached."""

import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from pricing.store import replay
from pricing.store.errors import StoreUnavailable
from pricing.store.replay import SWEEP_SECONDS, ReplayStore
from pricing.store.store import Store

NOW = 1_800_000_000


@pytest.fixture(autouse=True)
def _no_hurry(monkeypatch):
    """A busy machine is no store out of reach."""
    monkeypatch.setattr(replay, "WAIT_SECONDS", 60)
    monkeypatch.setitem(replay._POSTGRESQL_OPTIONS, "options", "")


@pytest.fixture
def seen(store_url):
    Store(store_url)
    once = ReplayStore(store_url)
    yield once
    once.close()


def test_a_key_is_new_once(seen, store_url):
    other = ReplayStore(store_url)
    assert seen.add("a", NOW, NOW + 600)
    assert not seen.add("a", NOW, NOW + 600)
    assert not other.add("a", NOW, NOW + 600)
    assert other.add("b", NOW, NOW + 600)
    other.close()


def test_of_many_at_once_one_wins(store_url):
    Store(store_url)
    memories = [ReplayStore(store_url) for _ in range(4)]
    won = []
    threads = [
        threading.Thread(target=lambda once=memories[number % 4]: won.append(once.add("a", NOW, NOW + 600)))
        for number in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == [False] * 11 + [True]
    for once in memories:
        once.close()


def test_it_is_kept_by_another_process(seen, store_url):
    script = (
        f"from pricing.store.replay import ReplayStore; print(ReplayStore({store_url!r}).add('a', {NOW}, {NOW} + 600))"
    )
    told = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout for _ in "ab"
    ]
    assert told == ["True\n", "False\n"]
    assert not seen.add("a", NOW, NOW + 600)


def kept(store_url):
    """The keys in the table."""
    place = store_url.replace("prices.sqlite3", "prices-seen.sqlite3").replace("postgresql:", "postgresql+psycopg:")
    engine = create_engine(place)
    with engine.connect() as connection:
        found = connection.execute(text("SELECT key FROM seen_once ORDER BY key")).scalars().all()
    engine.dispose()
    return found


def test_what_has_expired_is_swept(seen, store_url):
    seen.add("old", NOW, NOW + 10)
    seen.add("new", NOW + SWEEP_SECONDS + 1, NOW + 1000)
    assert kept(store_url) == ["new"]


def test_it_is_swept_once_a_minute(seen, store_url):
    seen.add("first", NOW, NOW + 600)
    seen.add("gone", NOW + 1, NOW + 10)
    seen.add("half a minute", NOW + 30, NOW + 600)
    assert "gone" in kept(store_url)
    seen.add("a minute", NOW + 61, NOW + 600)
    assert kept(store_url) == ["a minute", "first", "half a minute"]


def test_after_a_failure_it_makes_its_table_anew(seen, store_url):
    seen.add("a", NOW, NOW + 600)
    place = store_url.replace("prices.sqlite3", "prices-seen.sqlite3").replace("postgresql:", "postgresql+psycopg:")
    engine = create_engine(place)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE seen_once"))
    engine.dispose()
    with pytest.raises(StoreUnavailable, match="used keys cannot be kept"):
        seen.add("b", NOW, NOW + 600)
    assert seen.add("b", NOW, NOW + 600)


def test_beside_a_store_that_was_taken_away_no_file_is_made(tmp_path):
    once = ReplayStore(f"sqlite:///{tmp_path / 'prices.sqlite3'}")
    with pytest.raises(StoreUnavailable):
        once.add("a", NOW, NOW + 600)
    assert not list(tmp_path.iterdir())


def test_a_writer_of_prices_keeps_nobody_waiting(seen, store_url):
    store = Store(store_url)
    with store.writing():
        assert seen.add("a", NOW, NOW + 600)


def test_a_store_that_is_gone_is_an_error_and_its_return_is_noticed(tmp_path):
    prices = tmp_path / "folder" / "prices.sqlite3"
    once = ReplayStore(f"sqlite:///{prices}")
    with pytest.raises(StoreUnavailable):
        once.add("a", NOW, NOW + 600)
    assert not prices.parent.exists()
    Store(f"sqlite:///{prices}")
    assert once.add("a", NOW, NOW + 600)
    once.close()
    shutil.rmtree(prices.parent)
    with pytest.raises(StoreUnavailable):
        once.add("b", NOW, NOW + 600)


def test_no_password_is_told():
    once = ReplayStore("postgresql://somebody:sesame@127.0.0.1:1/prices")
    with pytest.raises(StoreUnavailable) as told:
        once.add("a", NOW, NOW + 600)
    assert "sesame" not in str(told.value)
    assert not Path("prices-seen.sqlite3").exists()
