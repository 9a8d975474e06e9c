import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text
from sqlalchemy.exc import StatementError
from support.prices import LATER, NOW, P3, listed, many, offer

from costcalc.answers import Gap
from costcalc.catalogue import Catalogue
from costcalc.hardware import Machine
from costcalc.offers import Offer, Payment, PurchaseOption, RatePart
from pricing import schema
from pricing.database import Database, StoreBusy, StoreUnavailable
from pricing.packaged import HEADERS, read_packaged
from pricing.publication import Publication
from pricing.store import SnapshotGone, Store
from pricing.writing import CATALOGUES_KEPT, Attempt

DAY = timedelta(days=1)


@pytest.fixture
def store(store_url: str) -> Store:
    return Store(store_url)


def current(store: Store, as_of: datetime) -> list[Offer]:
    catalogue = store.load_current()
    return [catalogue.offer(row) for row in catalogue.view(as_of).rows]


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
        billing_increment_seconds=1,
        minimum_seconds=60,
        session_hours=12.0,
        hours_per_week=30.5,
    )
    assert all(getattr(full, field.name) is not None for field in fields(full) if field.name not in UPFRONT)
    store.publish(listed("gcp", full), NOW)
    [seen] = store.history("V2-8", "gcp")
    assert seen.offer == full
    paid = replace(full, upfront=Decimal("100.01"), recurring_hourly=Decimal("0"), region="europe-west4")
    store.publish(listed("gcp", paid), NOW)
    assert store.history("v2-8")[1].offer == paid


UPFRONT = ("upfront", "recurring_hourly")


def test_an_unchanged_price_adds_no_row_and_stays_fresh(store: Store) -> None:
    store.publish(listed("aws", offer()), NOW)
    published = store.publish(listed("aws", offer(observed_at=LATER)), LATER)
    assert (published.new, published.seen_again) == (0, 1)
    [seen] = store.history("p3.2xlarge")
    assert (seen.offer.observed_at, seen.last_seen_at, seen.origin) == (NOW, LATER, "aws")
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
    assert len(store.history("p3.2xlarge")) == 1


def test_a_flag_that_changes_what_is_sold_is_a_new_observation(store: Store) -> None:
    store.publish(listed("aws", offer()), NOW)
    assert store.publish(listed("aws", offer(observed_at=LATER, flags=("approximate",))), LATER).new == 1


def test_a_price_that_returns_is_a_new_observation(store: Store) -> None:
    for day, rate in enumerate(("3.06", "2.50", "3.06")):
        store.publish(listed("aws", offer(rate, NOW + day * DAY)), NOW + day * DAY)
    assert [str(seen.offer.hourly_rate) for seen in store.history("p3.2xlarge")] == ["3.06", "2.5", "3.06"]


def test_the_price_of_any_past_moment_is_still_known(store: Store) -> None:
    days = [NOW + days * DAY for days in range(0, 400, 5)]
    for day in days:
        store.publish(listed("aws", offer("3.06" if day < days[70] else "2.50", day)), day)
    assert [seen.offer.hourly_rate for seen in store.history("p3.2xlarge")] == [Decimal("3.06"), Decimal("2.5")]
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


def test_machine_facts_may_be_learned_later_and_are_not_forgotten(store: Store) -> None:
    store.publish(listed("a", offer(machine=Machine("V100", 1, None, None, 61.0))), NOW)
    store.publish(listed("b", offer("3.07", LATER, machine=Machine("V100", 1, 16.0, None, None))), LATER)
    assert [known.machine for known in current(store, LATER)] == [Machine("V100", 1, 16.0, None, 61.0)]


def test_hearsay_about_a_machine_fills_gaps_and_overrules_nothing(store: Store) -> None:
    heard = Machine("A100-40GB", 1, 40.0, 8, 61.0)
    store.publish(listed("gpuhunt", offer(flags=("second_hand",), machine=heard)), NOW)
    assert current(store, NOW)[0].machine == heard, "where nobody else says anything"
    read = Machine("V100", 1, 16.0, None, 60.0)
    store.publish(listed("aws", offer("3.07", LATER, machine=read)), LATER)
    store.publish(listed("gpuhunt", offer("3.08", LATER, flags=("second_hand",), machine=heard)), LATER)
    assert {known.machine for known in current(store, LATER)} == {Machine("V100", 1, 16.0, 8, 60.0)}


def test_observations_cannot_be_changed(store: Store, store_url: str) -> None:
    store.publish(listed("aws", offer()), NOW)
    for statement in ("UPDATE observations SET hourly_nanos = 1", "DELETE FROM observations"):
        with pytest.raises(StoreUnavailable, match="append-only"), Database(store_url).writing() as connection:
            connection.execute(text(statement))
    assert len(store.history("p3.2xlarge")) == 1


def test_a_failure_while_publishing_leaves_the_old_snapshot(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    before = store.publish(listed("aws", offer()), NOW).snapshot
    monkeypatch.setattr(Catalogue, "to_bytes", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.publish(listed("aws", offer("9")), LATER)
    monkeypatch.undo()
    assert store.current_snapshot_id() == before
    assert len(store.history("p3.2xlarge")) == 1
    assert store.status()[0].attempted_at == NOW


def test_only_the_newest_catalogues_are_kept_ready(store: Store) -> None:
    names = [store.publish(listed("aws", offer(str(rate))), NOW).snapshot for rate in range(1, CATALOGUES_KEPT + 2)]
    assert len(set(names)) == len(names)
    with pytest.raises(SnapshotGone, match=names[0]):
        store.load(names[0])
    assert all(len(store.load(name)) for name in names[1:])


def test_an_empty_store_has_no_snapshot(store: Store) -> None:
    assert store.current_snapshot_id() is None
    assert store.gaps() == ()
    assert store.history("p3.2xlarge") == []
    with pytest.raises(SnapshotGone):
        store.load_current()


def test_a_document_of_another_version_is_rebuilt_from_the_observations(store: Store, store_url: str) -> None:
    store.publish(listed("aws", offer()), NOW)
    with Database(store_url).writing() as connection:
        connection.execute(schema.catalogues.update().values(document=b"from the future"))
    assert current(store, NOW) == [offer()]


def test_gaps_stay_until_their_source_is_asked_again(store: Store) -> None:
    broken = Publication((), (Attempt("gcp", 1, None, "no answer"),), (Gap("gcp", "no answer"),))
    store.publish(broken, NOW)
    store.publish(listed("aws", offer()), LATER)
    store.publish(broken, LATER)
    assert store.load_current().gaps == store.gaps() == (Gap("gcp", "no answer", NOW),)
    store.publish(listed("gcp", offer()), LATER)
    assert store.load_current().gaps == ()


def test_a_failed_source_keeps_its_last_success_in_the_status(store: Store) -> None:
    store.publish(listed("gcp", offer()), NOW)
    store.publish(Publication((), (Attempt("gcp", 7.5, None, "no answer"),)), LATER)
    [state] = store.status()
    assert (state.attempted_at, state.succeeded_at, state.offers) == (LATER, NOW, 1)
    assert (state.seconds, state.error) == (7.5, "no answer")
    store.publish(listed("gcp", offer(observed_at=LATER)), LATER)
    assert store.status()[0].error is None


def test_an_empty_store_is_filled_once_however_many_workers_start(store_url: str) -> None:
    def start(_: int) -> str:
        return Store(store_url).fill(NOW)

    with ThreadPoolExecutor(4) as workers:
        names = set(workers.map(start, range(4)))
    assert len(names) == 1
    packaged = read_packaged()
    store = Store(store_url)
    assert len(store.load_current()) == len(packaged.offers)
    direct = Catalogue.from_offers(packaged.offers, "direct")
    assert np.array_equal(np.sort(store.load_current().columns.hourly), np.sort(direct.columns.hourly))


TABLES = tuple(HEADERS)


@pytest.fixture
def edition(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "instance_types.csv").write_text(
        "provider,instance_type,accelerator,accelerators,accelerator_memory_gib,vcpus,memory_gib,source\n"
        "aws,p3.2xlarge,V100,1,16,8,61,x\n"
    )
    (folder / "providers.csv").write_text(
        "provider,name,billing_increment_seconds,minimum_seconds,source,observed_on\naws,AWS,1,60,x,2026-11-20\n"
    )
    for name in ("owned.csv", "free_tiers.csv"):
        (folder / name).write_text(HEADERS[name] + "\n")
    write_offers(folder, "3.06,2018-04-26", "3.00,2019-01-01")
    return folder


def write_offers(folder: Path, *rates: str) -> None:
    header = (
        "provider,region,instance_type,purchase_option,term,payment,offering_class,upfront,recurring_hourly,monthly,"
        "hours_in_month,currency,parts,effective_from,source,flags,hourly_rate,observed_at\n"
    )
    rows = [f"aws,us-east-1,p3.2xlarge,on_demand,,,,,,,,USD,,,x,,{rate}\n" for rate in rates]
    (folder / "offers.csv").write_text(header + "".join(rows))


def rates(store: Store) -> list[str]:
    return [str(seen.offer.hourly_rate) for seen in store.history("p3.2xlarge")]


def test_a_newer_edition_is_merged_once_and_corrects_the_older(store: Store, edition: Path) -> None:
    first = store.fill(NOW, edition)
    assert store.fill(LATER, edition) == first
    store.publish(listed("aws", offer("2.5")), NOW)
    write_offers(edition, "3.06,2018-04-26", "3.05,2019-01-01", "2.90,2020-01-01")
    second = store.fill(LATER, edition)
    assert second != first
    assert rates(store) == ["3.06", "3.05", "2.9", "2.5"]
    assert len(store.load_current()) == 4
    assert store.fill(LATER, edition) == second


def test_an_older_edition_started_again_changes_nothing(store: Store, edition: Path) -> None:
    store.fill(NOW, edition)
    write_offers(edition, "3.06,2018-04-26")
    store.fill(NOW, edition)
    write_offers(edition, "3.06,2018-04-26", "3.00,2019-01-01")
    store.fill(NOW, edition)
    assert rates(store) == ["3.06"]


def test_a_second_writer_waits_and_then_says_so(store: Store, store_url: str) -> None:
    hurried = Store(store_url, wait_seconds=1)
    with Database(store_url).writing(), pytest.raises(StoreBusy, match="another refresh is writing"):
        hurried.publish(listed("aws", offer()), NOW)
    assert hurried.publish(listed("aws", offer()), NOW).new == 1


def test_two_refreshes_at_once_both_land(store: Store, store_url: str) -> None:
    def refresh(origin: str) -> None:
        for hour in range(5):
            moment = NOW + hour * timedelta(hours=1)
            Store(store_url).publish(listed(origin, *many(20, str(hour + 1), moment)), moment)

    with ThreadPoolExecutor(2) as both:
        list(both.map(refresh, ("aws", "gcp")))
    assert len(store.load_current()) == 2 * 5 * 20


def test_readers_see_the_old_snapshot_while_another_is_written(store: Store, store_url: str) -> None:
    before = store.publish(listed("aws", offer()), NOW).snapshot
    with Database(store_url).writing() as connection:
        connection.execute(schema.retractions.insert().values(observation_id=1, sequence=1))
        assert store.current_snapshot_id() == before
        assert len(store.history("p3.2xlarge")) == 1


def test_migrations_and_tables_agree(store: Store, store_url: str) -> None:
    with Database(store_url).reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.metadata) == []
        assert context.get_current_revision() == schema.HEAD
    config = Config()
    config.set_main_option("script_location", "pricing:migrations")
    assert ScriptDirectory.from_config(config).get_current_head() == schema.HEAD


def test_moments_are_utc_and_never_naive(store: Store) -> None:
    paris = datetime.fromisoformat("2026-11-20T13:00:00+01:00")
    store.publish(listed("aws", offer(observed_at=paris)), paris)
    [seen] = store.history("p3.2xlarge")
    assert seen.offer.observed_at == NOW
    assert seen.offer.observed_at.tzinfo is UTC
    with pytest.raises(StatementError, match="time zone"):
        store.publish(listed("aws", P3), datetime(2026, 1, 1))  # noqa: DTZ001


def test_a_store_that_disappears_is_an_error_and_never_an_empty_store(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "prices.sqlite3"
    store = Store(f"sqlite:///{path}")
    store.publish(listed("aws", offer()), NOW)
    path.unlink()
    with pytest.raises(StoreUnavailable, match=str(path)):
        store.current_snapshot_id()
    assert not path.exists()


def test_a_file_that_is_no_store_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "prices.sqlite3"
    path.write_text("this is a text, long enough to be taken for a database header\n" * 20)
    with pytest.raises(StoreUnavailable, match=str(path)):
        Store(f"sqlite:///{path}")


def test_a_folder_that_cannot_be_made_names_the_setting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="COSTCALC_DATABASE_URL"):
        Store(f"sqlite:///{tmp_path / 'file' / 'prices.sqlite3'}")


@pytest.mark.parametrize(
    "url", ["sqlite://", "mysql://host/prices", "prices.db", "nonsense://x", "postgresql://h:port/d"]
)
def test_an_unusable_url_says_what_one_looks_like(url: str) -> None:
    with pytest.raises(StoreUnavailable, match="must look like sqlite:////"):
        Store(url)


def test_a_store_of_a_newer_version_is_refused(store: Store, store_url: str) -> None:
    with Database(store_url).writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreUnavailable, match=r"newer costcalc \(9999\): upgrade"):
        Store(store_url)


@pytest.mark.parametrize(
    "url", ["postgresql://user:hunter2@127.0.0.1:1/prices", "postgresql://user@127.0.0.1:1/prices?password=hunter2"]
)
def test_no_error_shows_a_password(url: str) -> None:
    with pytest.raises(StoreUnavailable) as refused:
        Store(url)
    assert "hunter2" not in str(refused.value)
    assert "127.0.0.1" in str(refused.value)


def test_sqlite_keeps_a_write_ahead_log(tmp_path: Path) -> None:
    Store(f"sqlite:///{tmp_path / 'p.sqlite3'}")
    with closing(sqlite3.connect(tmp_path / "p.sqlite3")) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
