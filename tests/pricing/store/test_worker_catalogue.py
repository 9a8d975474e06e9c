import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.prices import LATER, NOW, listed, offer

from pricing.packaged.offers import PackagedTableError
from pricing.store.database import StoreUnavailable
from pricing.store.store import Store
from pricing.store.worker_catalogue import CatalogueHolder, HolderState, NoSnapshot

Build = Callable[..., CatalogueHolder]


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
    built: list[CatalogueHolder] = []

    def holder(open_store: Callable[[], Store] = lambda: store, **options: Any) -> CatalogueHolder:
        built.append(CatalogueHolder(open_store, lambda: NOW, **{"poll_seconds": 0.05, **options}))
        return built[-1]

    yield holder
    for each in built:
        each.close()


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def test_a_new_snapshot_is_taken_up_by_itself_after_it_was_warmed(build: Build, store: Store) -> None:
    warmed: list[str] = []
    holder = build(warm=lambda catalogue: warmed.append(catalogue.snapshot))
    holder.start()
    first = holder.catalogue()
    published = store.publish(listed("aws", offer("2.5", LATER)), LATER).snapshot
    assert within(5, lambda: holder.catalogue().snapshot == published)
    assert warmed == [first.snapshot, published]
    assert len(first) == 1, "a request that began before goes on with what it has"
    assert holder.state() == HolderState(published, True, NOW, None)


def test_on_postgresql_too(build: Build, postgres_url: str) -> None:
    shared = Store(postgres_url)
    holder = build(lambda: shared)
    holder.start()
    with pytest.raises(NoSnapshot, match="no prices are loaded yet"):
        holder.catalogue()
    published = shared.publish(listed("aws", offer()), NOW).snapshot
    assert within(5, lambda: holder.state().snapshot == published)
    assert len(holder.catalogue()) == 1


def test_an_unchanged_snapshot_is_not_loaded_again(build: Build, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    holder = build()
    holder.start()
    monkeypatch.setattr(Store, "load", lambda *_: 1 / 0)
    holder.check()
    assert holder.state().error is None


def test_the_last_good_snapshot_answers_while_the_store_is_gone(build: Build, store: Store, path: Path) -> None:
    holder = build()
    holder.start()
    kept = path.rename(path.with_suffix(".away"))
    assert within(5, lambda: not holder.state().store_reachable)
    assert len(holder.catalogue()) == 1
    assert str(path) in (holder.state().error or "")
    assert holder.state().snapshot == store_name(holder)
    kept.rename(path)
    assert within(5, lambda: holder.state() == HolderState(store_name(holder), True, NOW, None))


def store_name(holder: CatalogueHolder) -> str:
    return holder.catalogue().snapshot


def test_a_store_out_of_reach_at_the_start_is_tried_again(build: Build, store: Store) -> None:
    tries: list[int] = []

    def opened() -> Store:
        tries.append(1)
        if len(tries) < 3:
            raise StoreUnavailable("the price store is down")
        return store

    holder = build(opened)
    holder.start()
    with pytest.raises(NoSnapshot, match="the price store is down"):
        holder.catalogue()
    assert within(5, lambda: holder.state().store_reachable)
    assert len(holder.catalogue()) == 1


def test_corrupt_packaged_prices_refuse_to_start(build: Build) -> None:
    def corrupt() -> Store:
        raise PackagedTableError("pricing/packaged/data/offers.csv, line 7: hourly_rate is blank")

    with pytest.raises(PackagedTableError, match="line 7"):
        build(corrupt).start()


def test_a_defect_while_loading_neither_ends_the_watch_nor_the_answers(
    build: Build, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder = build()
    holder.start()
    old = holder.catalogue()
    load = Store.load
    monkeypatch.setattr(Store, "load", lambda *_: 1 / 0)
    published = store.publish(listed("aws", offer("2.5", LATER)), LATER).snapshot
    assert within(5, lambda: holder.state().error == "ZeroDivisionError: division by zero")
    assert holder.catalogue() is old
    monkeypatch.setattr(Store, "load", load)
    assert within(5, lambda: holder.catalogue().snapshot == published)


def test_the_watch_goes_on_in_a_forked_worker(build: Build, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork copies no threads: the process number is changed here instead, as forking a threaded pytest would warn."""
    holder = build()
    holder.start()
    holder.close()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    holder.catalogue()
    published = store.publish(listed("aws", offer("2.5", LATER)), LATER).snapshot
    assert within(5, lambda: holder.catalogue().snapshot == published)


def test_a_moment_without_a_snapshot_is_no_error_of_the_store(build: Build, tmp_path: Path) -> None:
    holder = build(lambda: Store(f"sqlite:///{tmp_path / 'empty.sqlite3'}"))
    holder.start()
    assert holder.state() == HolderState(None, True, NOW, None)
