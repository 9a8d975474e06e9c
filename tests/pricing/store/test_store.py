"""What a store is told comes back exactly, nothing known is ever lost, and a snapshot is whole or not there."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from msgspec.structs import replace
from sqlalchemy import text
from sqlalchemy.exc import StatementError
from support.histories import history
from support.prices import LATER, NOW, P3, listed, offer

from costcalc.hardware import Machine
from costcalc.offer import Gap, Offer, Payment, PurchaseOption, RatePart
from pricing.store import publish as publishing
from pricing.store import tables as schema
from pricing.store.book import Book
from pricing.store.connection import Database
from pricing.store.errors import StoreUnavailable
from pricing.store.publish import BOOKS_KEPT, SourceResult
from pricing.store.quarantine import Inspection, rate_of
from pricing.store.store import SnapshotGone, Store

DAY = timedelta(days=1)


def current(store: Store, as_of: datetime) -> list[Offer]:
    catalogue = store.load_current()
    return [catalogue.offer(row) for row in catalogue.current_offers(as_of).rows]


def test_every_field_of_an_offer_comes_back_exactly(store: Store) -> None:
    full = Offer(
        provider="gcp",
        region="us-central1",
        instance_type="v2-8",
        machine=Machine("TPU v2", 4, 8.0, 96, 360.5),
        purchase_option=PurchaseOption.COMMITTED_USE,
        hourly_rate=Decimal("4.123456789"),
        observed_at=NOW,
        source="Cloud Billing Catalog",
        term="1y",
        payment=Payment.NO_UPFRONT,
        offering_class="standard",
        monthly=Decimal("3010.12"),
        hours_in_month=720,
        currency="EUR",
        parts=(RatePart("Cloud TPU v2-8", Decimal("4")), RatePart("host n1-standard-4", Decimal("0.123456789"))),
        effective_from=NOW - DAY,
        flags=("rounded", "second_hand"),
        billing_increment_seconds=1,  # without a meter
        session_hours=12.0,
        hours_per_week=30.5,
    )
    assert all(getattr(full, name) is not None for name in full.__struct_fields__ if name not in UPFRONT)
    store.publish(listed("gcp", full), NOW)
    [seen] = history(store, "V2-8")
    assert seen.offer == full
    once = {"upfront": Decimal(8760), "recurring_hourly": Decimal("0.5"), "hourly_rate": Decimal("1.5")}
    paid = replace(full, region="europe-west4", **once)
    store.publish(listed("gcp", paid), NOW)
    assert [seen.offer for seen in history(store, "v2-8")] == [paid, full]


UPFRONT = ("upfront", "recurring_hourly")


def test_an_unchanged_price_adds_no_row_and_stays_fresh(store: Store) -> None:
    store.publish(listed("aws", offer()), NOW)
    published = store.publish(listed("aws", offer(observed_at=LATER)), LATER)
    assert (published.new, published.seen_again) == (0, 1)
    [seen] = history(store, "p3.2xlarge")
    assert (seen.offer.observed_at, seen.last_seen_at) == (NOW, LATER)
    assert current(store, LATER) == [offer(observed_at=LATER)]


def test_a_new_publication_date_of_an_unchanged_price_is_no_new_price(store: Store) -> None:
    store.publish(listed("aws", offer(effective_from=NOW - DAY)), NOW)
    assert store.publish(listed("aws", offer(observed_at=LATER, effective_from=NOW)), LATER).new == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("no_capacity",), ()),
        ((), ("no_capacity",)),
        (("zone=a", "zones=3", "spot_median=4.1"), ("zone=b", "zones=2", "spot_median=3.9")),
        (("price_jump",), ()),
    ],
)
def test_what_changes_beside_an_unchanged_price_adds_no_row_and_is_known(
    store: Store, before: tuple[str, ...], after: tuple[str, ...]
) -> None:
    store.publish(listed("aws", offer(flags=before)), NOW)
    published = store.publish(listed("aws", offer(observed_at=LATER, flags=after)), LATER)
    assert (published.new, published.seen_again) == (0, 1)
    assert current(store, LATER) == [offer(observed_at=LATER, flags=after)]
    assert current(store, NOW) == [offer(flags=before)]
    store.publish(listed("aws", offer(observed_at=LATER + DAY, flags=before)), LATER + DAY)
    assert current(store, LATER + DAY) == [offer(observed_at=LATER + DAY, flags=before)]
    assert len(history(store, "p3.2xlarge")) == 1


def test_a_flag_that_changes_what_is_sold_is_a_new_observation(store: Store) -> None:
    store.publish(listed("aws", offer()), NOW)
    assert store.publish(listed("aws", offer(observed_at=LATER, flags=("approximate",))), LATER).new == 1


def test_a_price_that_returns_is_a_new_observation(store: Store) -> None:
    for day, rate in enumerate(("3.06", "2.50", "3.06")):
        store.publish(listed("aws", offer(rate, NOW + day * DAY)), NOW + day * DAY)
    assert [str(seen.offer.hourly_rate) for seen in history(store, "p3.2xlarge")] == ["3.06", "2.5", "3.06"]


def test_the_price_of_any_past_moment_is_still_known(store: Store) -> None:
    days = [NOW + days * DAY for days in range(0, 400, 5)]
    for day in days:
        store.publish(listed("aws", offer("3.06" if day < days[70] else "2.50", day)), day)
    assert [seen.offer.hourly_rate for seen in history(store, "p3.2xlarge")] == [Decimal("3.06"), Decimal("2.5")]
    for asked in (days[30] + DAY, days[69] + DAY, days[70], days[-1]):
        [known] = current(store, asked)
        assert known.hourly_rate == Decimal("3.06" if asked < days[70] else "2.5")
        assert asked - timedelta(days=31) <= known.observed_at <= asked, "seen again within the month before"
        assert known.observed_at in days, "only at moments when it was really seen"
    assert current(store, NOW - DAY) == []


def test_each_origin_keeps_its_own_thread_and_the_newest_observation_wins(store: Store) -> None:
    store.publish(listed("packaged", offer("4", NOW)), NOW)
    store.publish(listed("aws", offer("3.06", LATER)), LATER)
    assert store.publish(listed("packaged", offer("4", NOW)), LATER).new == 0
    assert [known.hourly_rate for known in current(store, LATER)] == [Decimal("3.06")]


UNLISTED = {"instance_type": "in no packaged table"}


def test_machine_facts_may_be_learned_later_and_are_not_forgotten(store: Store) -> None:
    store.publish(listed("a", offer(machine=Machine("V100", 1, None, None, 61.0), **UNLISTED)), NOW)
    store.publish(listed("b", offer("3.07", LATER, machine=Machine("V100", 1, 16.0), **UNLISTED)), LATER)
    assert [known.machine for known in current(store, LATER)] == [Machine("V100", 1, 16.0, None, 61.0)]


def test_a_list_that_counts_no_accelerators_overrules_nobody_who_does(store: Store) -> None:
    uncounted = {"machine": Machine("V100", 0, 16.0, 8, 61.0), "flags": ("count_not_stated",)}
    for nth, (origin, more) in enumerate([("page", uncounted), ("aws", {}), ("page", uncounted)]):
        moment = NOW + nth * (LATER - NOW)
        store.publish(listed(origin, offer("3.07", moment, **more, **UNLISTED)), moment)
        counted = {known.machine.accelerators for known in current(store, moment)}
        assert counted == {0 if nth == 0 else 1}


def test_hearsay_about_a_machine_fills_gaps_and_overrules_nothing(store: Store) -> None:
    heard = Machine("A100-40GB", 1, 40.0, 8, 61.0)
    store.publish(listed("gpuhunt", offer(flags=("second_hand",), machine=heard, **UNLISTED)), NOW)
    assert current(store, NOW)[0].machine == heard, "where nobody else says anything"
    read = Machine("V100", 1, 16.0, None, 60.0)
    store.publish(listed("aws", offer("3.07", LATER, machine=read, **UNLISTED)), LATER)
    store.publish(listed("gpuhunt", offer("3.08", LATER, flags=("second_hand",), machine=heard, **UNLISTED)), LATER)
    assert {known.machine for known in current(store, LATER)} == {Machine("V100", 1, 16.0, 8, 60.0)}


def test_a_segment_cannot_be_changed(store: Store, store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing, "ROWS_IN_A_BOOK", 0)
    for days in range(3):
        store.publish(listed("aws", offer(str(days + 1), NOW + days * DAY)), NOW + days * DAY)
    for statement in ("UPDATE segments SET sequence = 9", "DELETE FROM segments"):
        with pytest.raises(StoreUnavailable, match="append-only"), Database(store_url).writing() as connection:
            connection.execute(text(statement))
    assert len(history(store, "p3.2xlarge")) == 3


def test_a_failure_while_publishing_leaves_the_old_snapshot(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    before = store.publish(listed("aws", offer()), NOW).snapshot
    monkeypatch.setattr(Book, "to_bytes", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.publish(listed("aws", offer("9")), LATER)
    monkeypatch.undo()
    assert store.current_snapshot_id() == before
    assert len(history(store, "p3.2xlarge")) == 1
    assert store.status()[0].attempted_at == NOW


def test_only_the_newest_catalogues_are_kept_ready(store: Store) -> None:
    names = [store.publish(listed("aws", offer(str(rate))), NOW).snapshot for rate in range(1, BOOKS_KEPT + 2)]
    assert len(set(names)) == len(names)
    with pytest.raises(SnapshotGone, match=names[0]):
        store.load(names[0])
    assert all(len(store.load(name)) for name in names[1:])


def test_an_empty_store_has_no_snapshot(store: Store) -> None:
    assert store.current_snapshot_id() is None
    assert store.gaps() == ()
    with pytest.raises(SnapshotGone):
        store.load_current()


def test_a_book_of_another_version_is_refused_and_says_what_to_do(store: Store, store_url: str) -> None:
    store.publish(listed("aws", offer()), NOW)
    with Database(store_url).writing() as connection:
        connection.execute(schema.books.update().values(document=b"from the future"))
    for ask in (store.load_current, lambda: store.publish(listed("aws", offer()), LATER)):
        with pytest.raises(StoreUnavailable, match="another version of costcalc: use that version"):
            ask()


def test_gaps_stay_until_their_source_is_asked_again(store: Store) -> None:
    broken = (SourceResult("gcp", 1, (), (Gap("gcp", "no answer"),), "no answer"),)
    store.publish(broken, NOW)
    store.publish(listed("aws", offer()), LATER)
    store.publish(broken, LATER)
    assert store.load_current().gaps == store.gaps() == (Gap("gcp", "no answer", NOW),)
    store.publish(listed("gcp", offer()), LATER)
    assert store.load_current().gaps == ()


def test_a_failed_source_keeps_its_last_success_in_the_status(store: Store) -> None:
    store.publish(listed("gcp", offer()), NOW)
    store.publish([SourceResult("gcp", 7.5, error="no answer")], LATER)
    [state] = store.status()
    assert (state.attempted_at, state.succeeded_at, state.offers) == (LATER, NOW, 1)
    assert (state.seconds, state.error, state.observed_at) == (7.5, "no answer", offer().observed_at)
    store.publish(listed("gcp", offer(observed_at=LATER)), LATER)
    assert (store.status()[0].error, store.status()[0].observed_at) == (None, LATER)


def test_what_was_stored_before_texts_were_checked_is_read_as_lines(store: Store) -> None:
    evil, shown = "a\nsetup:\x7f\u202els\x1b[31m", "a setup: ls [31m"
    hostile = offer(instance_type=evil, region=evil, source=evil, flags=(evil,), parts=(RatePart(evil, Decimal(1)),))
    hostile = replace(hostile, machine=Machine(evil, 0), offering_class=evil)
    rates = Inspection("aws", {rate_of(hostile): evil})
    store.publish([SourceResult("aws", 1, (hostile,), inspection=rates)], NOW)
    store.publish([SourceResult("aws", 1, (), (Gap("aws", evil),), evil)], NOW)
    [found] = current(store, NOW)
    read = (found.instance_type, found.region, found.source, found.offering_class, *found.flags)
    assert {*read, found.parts[0].name, found.machine.accelerator} == {shown}
    [state], [gap], [odd] = store.status(), store.load_current().gaps, store.quarantined()
    assert (state.error, gap.reason, odd.reason) == (shown, shown, shown)
    assert odd.key["instance_type"] == odd.key["region"] == shown


def test_moments_are_utc_and_never_naive(store: Store) -> None:
    paris = datetime.fromisoformat("2026-11-20T13:00:00+01:00")
    store.publish(listed("aws", offer(observed_at=paris)), paris)
    [seen] = history(store, "p3.2xlarge")
    assert seen.offer.observed_at == NOW
    assert seen.offer.observed_at.tzinfo is UTC
    with pytest.raises(StatementError, match="time zone"):
        store.publish(listed("aws", P3), datetime(2026, 1, 1))  # noqa: DTZ001
