"""Sign-ins and changes stand in the store, for all workers; nothing in it opens a door."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import text
from support.own_training_runs import own_run
from support.prices import LATER, NOW, listed, offer

from pricing.store.changes import By, Change
from pricing.store.connection import Database
from pricing.store.errors import StoreUnavailable
from pricing.store.store import SignIn, Store
from pricing.store.worker_catalogue import WorkerCatalogue

DIGEST = bytes(range(32))
HERS = SignIn("a" * 64, "her token", NOW + timedelta(30))
BY = By("anna", NOW)


@pytest.fixture
def workers(store: Store) -> Iterator[tuple[WorkerCatalogue, WorkerCatalogue]]:
    first, second = (WorkerCatalogue(lambda: store, lambda: NOW) for _ in range(2))
    yield first, second
    first.close()
    second.close()


def test_a_sign_in_holds_for_all_workers_at_once_and_ends_for_them_when_they_look(
    workers: tuple[WorkerCatalogue, WorkerCatalogue],
) -> None:
    here, there = workers
    for worker in workers:
        worker.check()
    here.add_sign_in(HERS, NOW)
    assert here.sign_in_of(HERS.id) == there.sign_in_of(HERS.id) == HERS
    assert (here.sign_ins(), there.sign_ins()) == ({HERS.id: HERS}, {})
    there.check()
    assert there.sign_ins() == {HERS.id: HERS}
    here.end_sign_in(HERS.id)
    assert here.sign_in_of(HERS.id) is None
    there.check()
    assert there.sign_in_of(HERS.id) is None


def test_all_who_share_a_store_have_its_key_and_others_have_another(store: Store, store_url: str) -> None:
    assert Store(store_url).key() == store.key()
    assert len(store.key()) == 32


def test_sign_ins_that_are_over_are_forgotten(store: Store) -> None:
    store.add_sign_in(SignIn("b" * 64, "his token", NOW), NOW)
    store.add_sign_in(HERS, NOW)
    assert store.sign_ins() == {HERS.id: HERS}


def test_who_changed_what_is_noted_and_stays(store: Store, store_url: str) -> None:
    store.publish(listed("aws", offer()), NOW)
    run = own_run().stored("c" * 64)
    store.add_own_run(run, BY)
    store.remove_own_run(run.id, By("token-1234", LATER))
    store.withdraw("aws", frozenset([offer().key]), By("root", LATER))
    assert store.changes(10) == [
        Change(NOW, "anna", "added", "run my-run.cccccccc"),
        Change(LATER, "token-1234", "removed", "my-run.cccccccc"),
        Change(LATER, "root", "withdrew", "aws: p3.2xlarge, on demand, in us-east-1"),
    ]
    assert [change.did for change in store.changes(1)] == ["withdrew"]
    for statement in ("UPDATE changes SET who = 'nobody'", "DELETE FROM changes"):
        with pytest.raises(StoreUnavailable, match="append-only"), Database(store_url).writing() as connection:
            connection.execute(text(statement))


def test_runs_are_given_to_whom_their_token_names_now(store: Store) -> None:
    for owner in ("c" * 64, "d" * 64, None):
        store.add_own_run(own_run(name=f"run-{owner and owner[0]}").stored(owner), BY)
    store.give_own_runs({"c" * 64: "anna's"})
    assert {run.owner for run in store.own_runs()} == {"anna's", "d" * 64, None}
