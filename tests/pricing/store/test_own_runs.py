"""What people measured themselves is kept beside the prices, on both kinds of database."""

from support.own_speeds import own_speed
from support.prices import NOW

from pricing.store import local_file
from pricing.store.local_file import OwnRun
from pricing.store.store import Store


def test_runs_come_back_until_they_are_removed(store: Store) -> None:
    first, second = own_speed().stored(), OwnRun("own-b", "speed", "f" * 64, NOW, "{}")
    for run in (first, second):
        store.add_own_run(run)
    assert set(store.own_runs()) == {first, second}
    store.remove_own_run(first.id)
    assert store.own_runs() == (second,)


def test_a_run_takes_the_place_of_the_one_before_it(store: Store) -> None:
    store.add_own_run(own_speed().stored())
    faster = own_speed(images_per_second=2000.0).stored()
    store.add_own_run(faster)
    assert store.own_runs() == (faster,)


def test_a_local_file_is_read_without_the_database_library(tmp_path) -> None:
    url = f"sqlite:///{tmp_path / 'prices.sqlite3'}"
    assert local_file.own_runs(url) is None
    store = Store(url)
    assert local_file.own_runs(url) == ()
    store.add_own_run(own_speed().stored("a" * 64))
    assert local_file.own_runs(url) == store.own_runs()
    assert local_file.own_runs("postgresql://nowhere/prices") is None
