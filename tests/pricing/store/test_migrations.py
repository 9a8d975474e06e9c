"""A store of version 0.2.0 opens with all that it knew."""

from datetime import timedelta
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import MetaData
from support.histories import history
from support.old_stores import engine_at
from support.own_training_runs import own_run
from support.prices import LATER, NOW, P3, listed, offer

from costcalc.money import to_nanos
from costcalc.offer import Offer
from pricing.store.changes import By
from pricing.store.connection import Database
from pricing.store.errors import StoreUnavailable
from pricing.store.store import Store
from pricing.store.tables import metadata

DAY = timedelta(days=1)
UNUSED = ("offer_digest", "rate_digest")


@pytest.fixture
def old_store(store_url: str) -> str:
    """The address of such a store: a rate that was seen again in two months, its successor, and a packaged one."""
    engine = engine_at(store_url)
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
            {"observation_id": number, "month": f"{seen:%Y-%m}", "seen_at": seen, "flags": flags}
            for number, seen, flags in sightings
        ],
        "packaged_editions": [{"digest": "old", "sequence": 1}],
    }
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


def test_what_rows_knew_a_book_knows(old_store: str) -> None:
    store = Store(old_store)
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
    assert current(6) == ("3.06", NOW + 5 * DAY, ())
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


def test_it_has_the_tables_of_a_new_store_and_its_changes_stay(old_store: str) -> None:
    Store(old_store).add_own_run(own_run().stored(), By("anna", NOW))
    database = Database(old_store)
    with database.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), metadata) == []
    with pytest.raises(StoreUnavailable, match="append-only"), database.writing() as connection:
        connection.exec_driver_sql("DELETE FROM changes")


def test_one_from_between_two_releases_is_not_opened_and_stays(store_url: str) -> None:
    engine = engine_at(store_url)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0005'")
    with pytest.raises(
        StoreUnavailable, match=r"written between two releases \(0005\): open it with the commit 719229b4"
    ):
        Store(store_url)
    with engine.begin() as connection:
        assert connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one() == "0005"
    engine.dispose()
