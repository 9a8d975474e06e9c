import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from support.prices import LATER, NOW, listed, offer

from costcalc.evidence.tables import TableError
from pricing.store import backups
from pricing.store.connection import Database
from pricing.store.errors import StoreUnavailable
from pricing.store.local_file import identity_file
from pricing.store.store import Store
from pricing.store.tables import identity
from pricing.store.worker_catalogue import NoSnapshot, WorkerCatalogue, WorkerState

Build = Callable[..., WorkerCatalogue]
ANSWERED = (("aws", NOW),)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "prices.sqlite3"


@pytest.fixture
def store(path: Path) -> Store:
    store = Store(f"sqlite:///{path}")
    store.publish(listed("aws", offer()), NOW)
    return store


@pytest.fixture
def build(store: Store) -> Iterator[Build]:
    built: list[WorkerCatalogue] = []

    def worker(open_store: Callable[[], Store] = lambda: store, **options: Any) -> WorkerCatalogue:
        built.append(WorkerCatalogue(open_store, lambda: NOW, **{"poll_seconds": 0.05, **options}))
        return built[-1]

    yield worker
    for each in built:
        each.close()


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def test_a_new_snapshot_is_taken_up_by_itself_after_it_was_warmed(build: Build, store: Store) -> None:
    warmed: list[str] = []
    worker = build(warm=lambda catalogue: warmed.append(catalogue.snapshot))
    worker.start()
    first = worker.catalogue()
    published = store.publish(listed("aws", offer("2.5", LATER)), LATER).snapshot
    assert within(60, lambda: worker.catalogue().snapshot == published)
    assert warmed == [first.snapshot, published]
    assert len(first) == 1, "a request that began before goes on with what it has"
    assert worker.state() == WorkerState(published, True, NOW, None, answered_at=(("aws", LATER),))


def test_on_postgresql_too(build: Build, postgres_url: str) -> None:
    shared = Store(postgres_url)
    worker = build(lambda: shared)
    worker.start()
    with pytest.raises(NoSnapshot, match="no prices are loaded yet"):
        worker.catalogue()
    published = shared.publish(listed("aws", offer()), NOW).snapshot
    assert within(60, lambda: worker.state().snapshot == published)
    assert len(worker.catalogue()) == 1


def test_an_unchanged_snapshot_is_not_loaded_again(build: Build, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = build()
    worker.start()
    monkeypatch.setattr(Store, "load", lambda *_: 1 / 0)
    worker.check()
    assert worker.state().error is None


def test_the_last_good_snapshot_answers_while_the_store_is_gone(build: Build, store: Store, path: Path) -> None:
    worker = build()
    worker.start()
    kept = path.rename(path.with_suffix(".away"))
    assert within(60, lambda: not worker.state().store_reachable)
    assert len(worker.catalogue()) == 1
    assert str(path) in (worker.state().error or "")
    assert "`costcalc prices restore FILE`" in (worker.state().remedy or "")
    assert worker.state().snapshot == store_name(worker)
    kept.rename(path)
    assert within(60, lambda: worker.state() == WorkerState(store_name(worker), True, NOW, None, answered_at=ANSWERED))


def store_name(worker: WorkerCatalogue) -> str:
    return worker.catalogue().snapshot


def test_a_store_out_of_reach_at_the_start_is_tried_again(build: Build, store: Store) -> None:
    tries: list[int] = []

    def opened() -> Store:
        tries.append(1)
        if len(tries) < 3:
            raise StoreUnavailable("the price store is down")
        return store

    worker = build(opened)
    worker.start()
    with pytest.raises(NoSnapshot, match="the price store is down"):
        worker.catalogue()
    assert within(60, lambda: worker.state().store_reachable)
    assert len(worker.catalogue()) == 1


def test_corrupt_packaged_prices_refuse_to_start(build: Build) -> None:
    def corrupt() -> Store:
        raise TableError("pricing/packaged/data/offers.csv, line 7: hourly_rate is blank")

    with pytest.raises(TableError, match="line 7"):
        build(corrupt).start()


def test_a_defect_while_loading_neither_ends_the_watch_nor_the_answers(
    build: Build, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = build()
    worker.start()
    old = worker.catalogue()
    load = Store.load
    monkeypatch.setattr(Store, "load", lambda *_: 1 / 0)
    published = store.publish(listed("aws", offer("2.5", LATER)), LATER).snapshot
    assert within(60, lambda: not worker.state().store_reachable)
    assert worker.state().error == "prices cannot be read: ZeroDivisionError: division by zero"
    assert worker.catalogue() is old
    monkeypatch.setattr(Store, "load", load)
    assert within(60, lambda: worker.catalogue().snapshot == published)


def test_the_watch_goes_on_in_a_forked_worker(build: Build, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork copies no threads: the process number is changed here instead, as forking a threaded pytest would warn."""
    worker = build()
    worker.start()
    worker.close()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    worker.catalogue()
    published = store.publish(listed("aws", offer("2.5", LATER)), LATER).snapshot
    assert within(60, lambda: worker.catalogue().snapshot == published)


def test_a_moment_without_a_snapshot_is_no_error_of_the_store(build: Build, tmp_path: Path) -> None:
    worker = build(lambda: Store(f"sqlite:///{tmp_path / 'empty.sqlite3'}"))
    worker.start()
    assert worker.state() == WorkerState(None, True, NOW, None)


def test_a_damaged_file_is_named_while_the_last_prices_answer_and_its_backup_is_taken_up(
    build: Build, store: Store, path: Path, tmp_path: Path
) -> None:
    worker = build()
    worker.check()
    before = worker.catalogue()
    backups.backup(f"sqlite:///{path}", tmp_path / "copy.sqlite3")
    path.write_bytes(b"no database" + path.read_bytes()[11:])
    worker.check()
    state = worker.state()
    assert (state.store_reachable, worker.catalogue() is before) == (False, True)
    assert f"the price store {path} is damaged" in str(state.error)
    backups.restore(f"sqlite:///{path}", tmp_path / "copy.sqlite3", LATER)
    worker.check()
    assert (worker.state().store_reachable, worker.state().error) == (True, None)
    assert worker.catalogue().snapshot == before.snapshot


def test_another_store_in_its_place_is_not_answered_from(build: Build, store_url: str) -> None:
    """As where a database was made anew, and another server began to fill it."""
    first = Store(store_url)
    before = first.publish(listed("aws", offer()), NOW).snapshot
    worker = build(lambda: first)
    worker.check()
    with Database(store_url).writing() as connection:
        connection.execute(identity.update().values(id="another"))
    with suppress(OSError):
        identity_file(Path(store_url.removeprefix("sqlite:///"))).unlink()
    Store(store_url).publish(listed("aws", offer("9", LATER)), LATER)
    worker.check()
    assert (worker.catalogue().snapshot, worker.state().store_reachable) == (before, False)
    assert "it is gone" in (worker.state().remedy or "")


def test_the_packaged_prices_are_as_old_as_the_newest_of_them(build: Build, tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'new.sqlite3'}")
    store.publish(listed("packaged", offer()), LATER)
    store.publish(listed("aws", offer()), LATER)
    worker = build(lambda: store)
    worker.check()
    assert worker.state().answered_at == (("aws", LATER), ("packaged", NOW))
