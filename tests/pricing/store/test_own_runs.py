"""What people measured themselves is kept beside the prices, on both kinds of database."""

from support.own_speeds import own_speed
from support.own_training_runs import own_run
from support.prices import NOW

from own_runs.runs import RUN, run_id, stored_run
from pricing.store import local_file
from pricing.store.changes import By
from pricing.store.local_file import OwnRun
from pricing.store.store import Store

OWNER = "ab" * 32
BY = By("anna", NOW)


def test_runs_come_back_until_they_are_removed(store: Store) -> None:
    first, second = own_speed().stored(), OwnRun("own-b", "speed", "f" * 64, NOW, "{}")
    for run in (first, second):
        store.add_own_run(run, BY)
    assert set(store.own_runs()) == {first, second}
    store.remove_own_run(first.id, BY)
    assert store.own_runs() == (second,)


def test_a_run_takes_the_place_of_the_one_before_it(store: Store) -> None:
    store.add_own_run(own_speed().stored(), BY)
    faster = own_speed(images_per_second=2000.0).stored()
    store.add_own_run(faster, BY)
    assert store.own_runs() == (faster,)


def test_a_local_file_is_read_without_the_database_library(tmp_path) -> None:
    url = f"sqlite:///{tmp_path / 'prices.sqlite3'}"
    assert local_file.own_runs(url) is None
    store = Store(url)
    assert local_file.own_runs(url) == ()
    store.add_own_run(own_speed().stored("a" * 64), BY)
    assert local_file.own_runs(url) == store.own_runs()
    assert local_file.own_runs("postgresql://nowhere/prices") is None


def test_a_training_run_comes_back_as_it_was(store: Store) -> None:
    run = own_run(instance_type="p4d.24xlarge", provider="aws", notes=("Epochs count from 0.",), scheduled_epochs=90.0)
    store.add_own_run(run.stored(OWNER), BY)
    store.add_own_run(own_speed().stored(), BY)
    assert [stored_run(row) for row in store.own_runs() if row.kind == RUN] == [run]


def test_two_owners_may_each_have_a_run_of_one_name(store: Store) -> None:
    for owner in (None, OWNER, "cd" * 32):
        store.add_own_run(own_run().stored(owner), BY)
    assert {row.id for row in store.own_runs()} == {"my-run", "my-run.abababab", "my-run.cdcdcdcd"}
    store.remove_own_run(run_id("my-run", OWNER), BY)
    assert [row.owner for row in store.own_runs()] == [None, "cd" * 32]
