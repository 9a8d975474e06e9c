"""A store of an earlier version opens with all that it knew."""

from datetime import timedelta
from typing import Any
from zlib import compress

import pytest
from sqlalchemy import MetaData
from support.histories import history
from support.old_stores import engine_at
from support.prices import LATER, NOW, P3, listed, offer

from costcalc.money import to_nanos
from costcalc.offers import Offer
from pricing.store.book import PACKAGED, book_of
from pricing.store.offer_rows import entry
from pricing.store.store import Store

DAY = timedelta(days=1)
UNUSED = ("offer_digest", "rate_digest")
ODD: dict[str, Any] = {
    **{name: getattr(P3, name) for name in ("provider", "region", "instance_type", "purchase_option", "currency")},
    **{"id": 1, "origin": "aws", "event": "left_out", "at": NOW, "reason": "it jumps", "hourly_nanos": 306},
}


@pytest.fixture(params=["0001", "0002", "0003"])
def version(request: pytest.FixtureRequest) -> str:
    """The versions in which observations stood in rows."""
    return str(request.param)


@pytest.fixture
def old_store(store_url: str, version: str) -> str:
    """The address of a store of that version: a rate that was seen again in two months, its successor, and a packaged one."""
    engine = engine_at(store_url, version)
    tables = MetaData()
    tables.reflect(engine)
    rows = [
        _row(1, "aws", offer("3.06", flags=("no_capacity",))),
        _row(2, "aws", offer("2.5", NOW + 40 * DAY)),
        _row(3, "packaged", offer("9", region="packaged")),
    ]
    sightings = [(1, NOW + 5 * DAY, ""), (1, NOW + 30 * DAY, None), (2, NOW + 41 * DAY, None)]
    written = {
        "snapshots": [{"sequence": 1, "id": "old", "published_at": NOW + 41 * DAY, "gaps": "[]"}],
        "machines": [
            {"provider": "aws", "instance_type": "p3.2xlarge", "accelerator": "V100", "accelerators": 1, "vcpus": 8}
        ],
        "observations": rows,
        "sightings": [
            {"observation_id": number, "month": f"{seen:%Y-%m}", "seen_at": seen}
            | ({"flags": flags} if version >= "0002" else {})
            for number, seen, flags in sightings
        ],
        "packaged_editions": [{"digest": "old", "sequence": 1}],
    }
    if version >= "0003":
        written["quarantine"] = [ODD]
    with engine.begin() as connection:
        for name, values in written.items():
            connection.execute(tables.tables[name].insert(), values)
    engine.dispose()
    return store_url


def _row(number: int, origin: str, each: Offer) -> dict[str, Any]:
    same = ("provider", "region", "instance_type", "purchase_option", "currency", "observed_at", "source")
    return {
        **{name: getattr(each, name) for name in same},
        **dict.fromkeys(UNUSED, b"x"),
        "id": number,
        "sequence": 1,
        "origin": origin,
        "hourly_nanos": to_nanos(each.hourly_rate),
        "hours_in_month": 730,
        "parts": "",
        "flags": ";".join(each.flags),
        "billing_increment_seconds": 1,
        "minimum_seconds": 60,
    }


def test_what_rows_knew_a_book_knows(old_store: str, version: str) -> None:
    store = Store(old_store)
    assert [(each.origin, each.reason) for each in store.quarantined()] == [("aws", "it jumps")] * (version >= "0003")
    assert store.current_snapshot_id() == "old"
    seen = [
        (str(each.offer.hourly_rate), each.offer.observed_at, each.last_seen_at)
        for each in history(store, "p3.2xlarge")
    ]
    assert seen == [("3.06", NOW, NOW + 30 * DAY), ("2.5", NOW + 40 * DAY, NOW + 41 * DAY)]
    catalogue = store.load_current()

    def current(days: int) -> tuple[str, Any, tuple[str, ...]]:
        [row] = catalogue.current_offers(NOW + days * DAY).rows.tolist()
        each = catalogue.offer(row)
        return str(each.hourly_rate), each.observed_at, each.flags

    assert current(0) == ("3.06", NOW, ("no_capacity",))
    assert current(6) == ("3.06", NOW + 5 * DAY, () if version >= "0002" else ("no_capacity",))
    assert current(35) == ("3.06", NOW + 30 * DAY, ("no_capacity",))
    assert current(50) == ("2.5", NOW + 41 * DAY, ())


def test_it_goes_on_from_there(old_store: str) -> None:
    store, later = Store(old_store), NOW + 42 * DAY
    same = offer("2.5", later, billing_increment_seconds=1, minimum_seconds=60, machine=P3.machine)
    published = store.publish(listed("aws", same), later)
    assert (published.new, published.seen_again) == (0, 1)
    store.fill(LATER)
    assert [state.name for state in store.status()] == ["aws", "packaged"]
    assert len(store.load_current()) > 1000, "the packaged prices are merged anew"


def test_segments_of_one_piece_are_split(store_url: str) -> None:
    engine = engine_at(store_url, "0004")
    tables = MetaData()
    tables.reflect(engine)
    early, other, kept = offer("1"), offer("2", instance_type="other"), offer("3", region="packaged")
    segment = book_of([entry("aws", early), entry("aws", other), entry(PACKAGED, kept)], NOW)
    book = book_of([entry("aws", offer("4", NOW + DAY)), entry(PACKAGED, kept)], NOW + DAY)
    document = compress(segment.without_digests().to_bytes(), 1)
    snapshots = [
        {"sequence": number, "id": str(number), "published_at": NOW + number * DAY, "gaps": "[]"} for number in (0, 1)
    ]
    with engine.begin() as connection:
        connection.execute(tables.tables["snapshots"].insert(), snapshots)
        connection.execute(tables.tables["books"].insert(), {"sequence": 1, "document": book.to_bytes()})
        span = {"started_at": NOW, "ended_at": NOW + DAY}
        connection.execute(tables.tables["segments"].insert(), {"sequence": 0, "document": document, **span})
    engine.dispose()
    store = Store(store_url)
    assert sorted(str(each.offer.hourly_rate) for each in history(store, "p3.2xlarge")) == ["1", "3", "4"]
    assert [str(each.offer.hourly_rate) for each in history(store, "other")] == ["2"]
    assert len(store.load_at([NOW]).current_offers(NOW).listed) == 3
