"""A book that grows long becomes a segment, and no question about any moment is answered otherwise than by one long book."""

import random
from datetime import datetime, timedelta

import pytest
from support.histories import history
from support.prices import NOW, offer
from support.sampled import sampled

from costcalc.offer import Offer
from pricing.scope import EVERYTHING
from pricing.store import publish as publishing
from pricing.store.book import Book
from pricing.store.publish import SourceResult
from pricing.store.store import Store

HOUR = timedelta(hours=1)
REGIONS = ("a", "b", "c", "d")
Known = dict[tuple[str, str], str]


def listing(origin: str, offers: list[Offer]) -> tuple[SourceResult]:
    return (SourceResult(origin, 0.1, tuple(offers), whole=(EVERYTHING,)),)


def known(store: Store, moment: datetime) -> Known:
    catalogue = store.load_at([moment])
    rows = catalogue.current_offers(moment, 36_500).listed
    offers = [catalogue.offer(row) for row in rows.tolist()]
    return {(each.provider, each.region): str(each.hourly_rate) for each in offers}


def published(store: Store, hours: int, seed: int) -> dict[datetime, Known]:
    """Drawn refreshes of two sources, every five hours; a sheet dates some of its rates back. What stood at each moment."""
    chance, rates = random.Random(seed), {}
    stood: dict[datetime, Known] = {}
    for hour in range(0, hours, 5):
        now = NOW + hour * HOUR
        for provider in ("aws", "sheet"):
            for region in REGIONS:
                key = (provider, region)
                if chance.random() < 0.2 and key in rates:
                    del rates[key]
                elif chance.random() < 0.4 or key not in rates:
                    rates[key] = str(chance.randint(1, 99))
            offers = [
                offer(rate, now, provider=provider, region=region)
                for (whose, region), rate in rates.items()
                if whose == provider
            ]
            if offers:
                store.publish(listing(provider, offers), now)
        stood[now] = dict(rates)
    return stood


def test_every_moment_is_answered_as_by_a_slow_reference(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing, "ROWS_IN_A_BOOK", 20)
    stood = published(store, 100, seed=1)
    catalogue = store.load_current()
    assert not catalogue.knows(NOW), "some moments are known to segments alone"
    assert len(catalogue) < 80
    for at, expected in sampled(stood.items(), one_in=2):
        assert known(store, at) == expected
        assert known(store, at + 4 * HOUR) == expected
    assert known(store, NOW - HOUR) == {}
    several = store.load_at([NOW + 25 * HOUR, NOW + 75 * HOUR])
    assert all(several.knows(NOW + hours * HOUR) for hours in (25, 75))


def test_a_rate_that_is_dated_back_is_known_to_earlier_moments(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing, "ROWS_IN_A_BOOK", 5)
    for hour in range(0, 200, 10):
        store.publish(listing("aws", [offer(str(hour + 1), NOW + hour * HOUR)]), NOW + hour * HOUR)
    late = offer("7", NOW + 10 * HOUR, provider="sheet")
    store.publish(listing("sheet", [late]), NOW + 200 * HOUR)
    for hour in range(210, 300, 10):
        store.publish(listing("aws", [offer(str(hour + 1), NOW + hour * HOUR)]), NOW + hour * HOUR)
    assert ("sheet", "us-east-1") not in known(store, NOW + 9 * HOUR)
    for hour in (10, 30, 150, 290):
        assert known(store, NOW + hour * HOUR)["sheet", "us-east-1"] == "7"


def test_what_a_source_says_of_an_earlier_day_never_becomes_its_newest_rate(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "ROWS_IN_A_BOOK", 5)
    for hour in (0, 10, 20):
        store.publish(listing("aws", [offer(str(hour + 1), NOW + hour * HOUR)]), NOW + hour * HOUR)
    store.publish(listing("aws", [offer("6", NOW + 5 * HOUR)]), NOW + 30 * HOUR)
    for hour in range(40, 100, 10):
        store.publish(listing("gcp", [offer(str(hour), NOW + hour * HOUR, provider="gcp")]), NOW + hour * HOUR)
        assert known(store, NOW + hour * HOUR)["aws", "us-east-1"] == "21"


def test_a_rate_that_still_holds_is_known_to_the_earlier_day_of_which_it_is_told_late(store: Store) -> None:
    for hour, rate in ((0, "1"), (20, "2"), (30, "2")):
        store.publish(listing("aws", [offer(rate, NOW + hour * HOUR)]), NOW + hour * HOUR)
    for told in (10, 25):
        store.publish(listing("aws", [offer("2", NOW + told * HOUR)]), NOW + 40 * HOUR)
    assert [known(store, NOW + hour * HOUR)["aws", "us-east-1"] for hour in (9, 10, 40)] == ["1", "2", "2"]
    assert [each.offer.observed_at for each in history(store, "p3.2xlarge")] == [NOW, NOW + 10 * HOUR]


def test_the_history_of_a_machine_goes_through_all_segments(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing, "ROWS_IN_A_BOOK", 10)
    rates = [str(1 + hour // 15) for hour in range(0, 150, 5)]
    for number, rate in enumerate(rates):
        now = NOW + 5 * number * HOUR
        store.publish(
            listing("aws", [offer(rate, now), offer(str(number + 1), now, region="x", instance_type="other")]), now
        )
    seen = history(store, "P3.2xlarge")
    assert [str(each.offer.hourly_rate) for each in seen] == list(dict.fromkeys(rates))
    assert seen[-1].last_seen_at == NOW + 145 * HOUR
    catalogue = store.load_history(["p3.2xlarge"])
    assert {
        name
        for _, name, _ in (catalogue.vocabulary.instances[code] for code in set(catalogue.columns.instance.tolist()))
    } == {"p3.2xlarge"}


def test_the_history_of_a_machine_reads_one_part_of_each_segment(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing, "ROWS_IN_A_BOOK", 30)
    names = [f"type-{number}" for number in range(40)]
    for hour in range(6):
        now = NOW + hour * HOUR
        store.publish(listing("aws", [offer(str(hour + 1), now, instance_type=name) for name in names]), now)
    read: list[int] = []
    from_bytes = Book.from_bytes
    monkeypatch.setattr(Book, "from_bytes", lambda document: read.append(len(book := from_bytes(document))) or book)
    assert len(history(store, "Type-7")) == 6
    *parts, _ = read
    assert len(parts) == 3
    assert max(parts) < 20, "a segment has at least 40 rows"


def test_publishing_does_not_grow_with_history(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing, "ROWS_IN_A_BOOK", 30)
    for hour in range(40):
        now = NOW + hour * HOUR
        store.publish(listing("aws", [offer(str(hour + 1), now, region=region) for region in REGIONS]), now)
        assert len(store.load_current()) <= 30 + 2 * len(REGIONS)
