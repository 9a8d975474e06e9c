"""One refresh for all servers of a store, whoever dies."""

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from support.prices import NOW, offer

from costcalc.offer import ANY_SOURCE
from pricing import refresh as refreshing
from pricing import refresher
from pricing.refresher import WORK, refresh_if_due
from pricing.sources.running import Outcome
from pricing.sources.source import Collected
from pricing.store.leases import LOOK_AGAIN, Lease, give_back, take
from pricing.store.store import Store

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, bool]]:
    """Whether a source answers, by name; no other source is asked."""
    answering = {"oci": True, "azure": True}

    def ask_all(specs: object, environment: object, now: datetime, limit: float) -> Iterator[Outcome]:
        for name, answers in answering.items():
            collected = Collected((offer("3", now, region=name),)) if answers else None
            yield Outcome(name, 0.1, collected, None if answers else "cannot be reached")

    monkeypatch.setattr(refreshing, "ask_all", ask_all)
    return answering


def at(store: Store, moment: datetime) -> timedelta:
    """How long after this moment a server that looks then is to look again."""
    return refresh_if_due(store, {}, HOUR, lambda: moment) - moment


def lease(holder: str, now: datetime) -> Lease:
    return Lease(WORK, holder, HOUR, now + 3 * MINUTE)


@pytest.mark.usefixtures("answers")
def test_servers_of_a_store_refresh_once_an_hour_together(store_url: str) -> None:
    one, other = Store(store_url), Store(store_url)
    assert at(one, NOW) == HOUR
    published = one.current_snapshot_id()
    assert at(other, NOW + 20 * MINUTE) == 40 * MINUTE
    assert other.current_snapshot_id() == published
    assert at(other, NOW + HOUR) == HOUR
    assert other.current_snapshot_id() != published


@pytest.mark.usefixtures("answers")
def test_while_one_refreshes_another_waits_and_takes_over_if_it_dies(store: Store) -> None:
    assert take(store, lease("dies", NOW), NOW) is None
    assert at(store, NOW + MINUTE) == LOOK_AGAIN
    assert store.current_snapshot_id() is None
    assert at(store, NOW + 4 * MINUTE) == HOUR
    assert store.current_snapshot_id()


def test_who_was_slow_takes_no_lease_from_another(store: Store) -> None:
    slow, quick = lease("slow", NOW), lease("quick", NOW + HOUR)
    assert take(store, slow, NOW) is None
    assert take(store, quick, NOW + HOUR) is None
    give_back(store, slow, NOW + HOUR, done=True)
    assert take(store, lease("third", NOW + HOUR), NOW + HOUR) == NOW + HOUR + LOOK_AGAIN


def test_a_refresh_that_is_broken_off_is_due_at_once(
    store: Store, answers: dict[str, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresher, "refresh", lambda *_, **__: exit(1))
        with pytest.raises(SystemExit):
            at(store, NOW)
    assert at(store, NOW) == HOUR


def test_without_internet_it_says_so_once_and_the_prices_stand(
    store: Store, answers: dict[str, bool], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "costcalc.refresher")
    at(store, NOW)
    answers.update(dict.fromkeys(answers, False))
    for hours in (1, 2):
        at(store, NOW + hours * HOUR)
    catalogue = store.load_current()
    assert len(catalogue) == 2
    assert [(gap.source, gap.since) for gap in catalogue.gaps] == [(ANY_SOURCE, NOW + HOUR)]
    answers["oci"] = True
    at(store, NOW + 3 * HOUR)
    assert [gap.source for gap in store.load_current().gaps] == ["azure"]
    assert [record.message.partition(":")[0].partition(";")[0] for record in caplog.records] == [
        "prices refreshed from 2 of 2 sources",
        *["prices not refreshed"] * 2,
        "prices refreshed from 1 of 2 sources",
    ]
