"""What people measured themselves is kept beside the prices, on both kinds of database."""

from collections.abc import Iterator
from unittest.mock import DEFAULT, patch

import pytest
from msgspec.structs import replace
from sqlalchemy import MetaData
from support.old_stores import engine_at
from support.own_speeds import own_speed
from support.own_training_runs import own_run
from support.prices import LATER, NOW

from own_runs.runs import RUN, run_id, stored_run
from pricing.store import local_file
from pricing.store.changes import By
from pricing.store.local_file import OwnRun
from pricing.store.store import SignIn, Store
from pricing.store.worker_catalogue import WorkerCatalogue

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


@pytest.fixture
def workers(store: Store) -> Iterator[tuple[WorkerCatalogue, WorkerCatalogue]]:
    here, there = (WorkerCatalogue(lambda: store, lambda: NOW) for _ in range(2))
    for worker in (here, there):
        worker.check()
    yield here, there
    here.close()
    there.close()


def test_a_change_changes_the_version_of_those_who_see_it_alone(
    workers: tuple[WorkerCatalogue, WorkerCatalogue],
) -> None:
    here, there = workers
    hers, his, everybodys = OWNER, "cd" * 32, None

    def changed(run: OwnRun | None, id: str = "") -> list[bool]:
        before = [there.version(who) for who in (hers, his, everybodys)]
        here.add_own_run(run, BY) if run else here.remove_own_run(id, BY)
        there.check()
        for who in (hers, his, everybodys):
            assert here.own_runs(who) == there.own_runs(who)
        return [there.version(who) != old for who, old in zip((hers, his, everybodys), before, strict=True)]

    private, shared = own_run().stored(hers), replace(own_run(name="another").stored(his), shared_by="ben")
    assert changed(private) == [True, False, False]
    assert (there.own_runs(hers), there.own_runs(his), there.own_runs(everybodys)) == ((private,), (), ())
    assert changed(shared) == [True, True, True]
    assert there.own_runs(everybodys) == there.own_runs(his) == (shared,)
    assert set(there.own_runs(hers)) == {private, shared}
    assert changed(None, private.id) == [True, False, False]
    assert changed(None, shared.id) == [True, True, True]


def test_a_look_at_the_store_reads_no_runs_and_no_sign_ins_that_have_not_changed(store: Store) -> None:
    store.add_own_run(own_run().stored(OWNER), BY)
    store.add_sign_in(SignIn("a" * 64, "her token", LATER), NOW)
    worker = WorkerCatalogue(lambda: store, lambda: NOW)
    worker.check()
    assert worker.own_runs(OWNER)
    with patch.multiple(Store, _own_runs=DEFAULT, sign_ins=DEFAULT, versions=DEFAULT) as reads:
        worker.check()
        assert worker.own_runs(OWNER)
    assert not [name for name, read in reads.items() if read.called]


def test_a_change_after_a_backup_was_put_back_is_noticed(store: Store) -> None:
    """Its number is none that anybody knows from before."""
    for number in range(5):
        store.add_own_run(own_run(name=f"run-{number}").stored(OWNER), BY)
    before = store.versions()[OWNER]
    with store.writing() as connection:
        connection.exec_driver_sql("UPDATE versions SET number = 1")
    store.add_own_run(own_run().stored(OWNER), By("anna", LATER))
    assert store.versions()[OWNER] > before


def test_who_shared_a_run_of_an_earlier_version_is_read_from_the_changes(store_url: str) -> None:
    engine, tables = engine_at(store_url, "0010"), MetaData()
    tables.reflect(engine)
    names = {"my-run": "anna", "anybodys": "somebody at 192.0.2.1", "nobodys": None}
    with engine.begin() as connection:
        for name, who in names.items():
            row = own_run(name=name).stored()
            values = {name: getattr(row, name) for name in ("id", "kind", "owner", "added_at", "document")}
            connection.execute(tables.tables["own_runs"].insert(), values)
            if who:
                noted = {"at": NOW, "who": who, "did": "added", "what": f"run {name}"}
                connection.execute(tables.tables["changes"].insert(), noted)
    engine.dispose()
    shared = {row.id: row.shared_by for row in Store(store_url).own_runs()}
    assert shared == {"my-run": "anna", "anybodys": "somebody without a token", "nobodys": "somebody"}
