"""What consumers take from a row of published editions: rates under their own dates, from newer editions alone."""

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from fakes.edition import KEY
from msgspec.structs import replace
from pytest_httpserver import HTTPServer
from support.asking_here import ask_here
from support.prices import NOW, listed, offer
from support.stores import packaged_edition
from werkzeug import Response

from costcalc.catalogue.catalogue import Catalogue
from costcalc.offer import ENDED, Offer, PurchaseOption
from pricing import editions
from pricing import refresh as refreshing
from pricing.refresh import refresh
from pricing.sources.published import edition as published
from pricing.store.store import Store

DAY = timedelta(days=1)
PUBLIC = editions.public_key(KEY)
OCTOBER = offer("31.92", NOW - 45 * DAY, flags=("second_hand",), source="a list of October")
Take = Callable[[bytes, datetime], str | None]


@pytest.fixture
def consumer(tmp_path: Path) -> Store:
    return Store(f"sqlite:///{tmp_path / 'consumer.sqlite3'}")


@pytest.fixture
def take(consumer: Store, httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Take:
    """Lets the consumer read an edition, and returns why it did not take it."""
    monkeypatch.setattr(published, "user_cache_path", lambda *_, **__: tmp_path)
    monkeypatch.setattr(refreshing, "ask_all", ask_here)

    def take(content: bytes, now: datetime) -> str | None:
        httpserver.expect_oneshot_request("/latest").respond_with_response(Response(content))
        settings = {"COSTCALC_PRICES_LATEST": httpserver.url_for("/latest"), "COSTCALC_EDITION_TRUSTED": PUBLIC}
        [result] = refresh(["edition"], consumer, settings, now).results
        return result.error

    return take


def night(tmp_path: Path, now: datetime, before: bytes | None, *page: Offer) -> bytes:
    """What a publisher signs who begins with the edition of the night before and whose page lists this, or fails."""
    store = Store(f"sqlite:///{tmp_path / f'{now:%d}.sqlite3'}")
    store.publish(listed("packaged", OCTOBER), now)
    head = None
    if before:
        edition = editions.read(before, [PUBLIC], now)
        head = edition.head
        store.publish(listed("edition", *map(edition.rates.offer, range(len(edition.rates)))), now)
    if page:
        store.publish(listed("a-page", *page), now)
    return editions.make(editions.passed_on(store.load_current(), now), now, KEY, head)


def headline(store: Store, moment: datetime) -> tuple[str, int]:
    """The rate of the only offer, and how many days ago it was seen."""
    catalogue = store.load_current()
    [row] = catalogue.current_offers(moment).rows.tolist()
    return str(catalogue.offer(row).hourly_rate), (moment - catalogue.offer(row).observed_at).days


@pytest.mark.parametrize("begins_with_yesterday", [True, False])
def test_a_page_that_fails_leaves_the_rate_of_the_night_before(
    consumer: Store, take: Take, tmp_path: Path, begins_with_yesterday: bool
) -> None:
    first = night(tmp_path, NOW, None, offer("19.92", NOW))
    assert (take(first, NOW), headline(consumer, NOW)) == (None, ("19.92", 0))
    second = night(tmp_path, NOW + DAY, first if begins_with_yesterday else None)
    assert (take(second, NOW + DAY), headline(consumer, NOW + DAY)) == (None, ("19.92", 1))


def test_an_edition_that_is_replayed_changes_nothing_and_is_told(consumer: Store, take: Take, tmp_path: Path) -> None:
    first = night(tmp_path, NOW, None, offer("19.92", NOW))
    second = night(tmp_path, NOW + DAY, first, offer("21", NOW + DAY))
    assert [take(first, NOW), take(second, NOW + DAY), take(second, NOW + 2 * DAY)] == [None] * 3
    told = "the edition of 2026-11-20 12:00 UTC is no newer than the one of 2026-11-21 12:00 UTC that was taken last"
    assert take(first, NOW + 2 * DAY) == told
    assert headline(consumer, NOW + 2 * DAY) == ("21", 1)
    assert [gap.reason for gap in consumer.gaps()] == [told]


def test_an_edition_that_nobody_renews_is_told_with_its_age(consumer: Store, take: Take, tmp_path: Path) -> None:
    first = night(tmp_path, NOW, None, offer("19.92", NOW))
    assert take(first, NOW) is None
    assert take(first, NOW + 8 * DAY) == "the edition is 8 days old, made on 2026-11-20; one is taken for 7 days"
    assert headline(consumer, NOW + 8 * DAY) == ("19.92", 8)


def test_a_number_that_goes_back_is_told(take: Take, tmp_path: Path) -> None:
    first = night(tmp_path, NOW, None, offer("19.92", NOW))
    second = night(tmp_path, NOW + DAY, first)
    third = night(tmp_path, NOW + 2 * DAY, second)
    again = night(tmp_path, NOW + 3 * DAY, first)
    assert [take(each, NOW + 3 * DAY) for each in (first, second, third)] == [None] * 3
    assert (
        take(again, NOW + 3 * DAY)
        == "the edition of 2026-11-23 12:00 UTC has number 1, no higher than 2, which was taken last"
    )


def rates_of_many() -> list[Offer]:
    """Rates on demand of many machines, at dates of their own."""
    current = Catalogue.from_offers(packaged_edition().offers, "").current_offers(NOW)
    catalogue = Catalogue.from_offers(packaged_edition().offers, "")
    offers = [catalogue.offer(row) for row in current.listed[::7].tolist()]
    return [each for each in offers if each.purchase_option is PurchaseOption.ON_DEMAND][:300]


def as_signed(offers: list[Offer], moment: datetime) -> bytes:
    return editions.make(offers, moment, KEY)


def current(store: Store, moment: datetime) -> dict[tuple[str, ...], tuple[Decimal, datetime]]:
    catalogue = store.load_current()
    offers = map(catalogue.offer, catalogue.current_offers(moment).listed.tolist())
    return {each.key: (each.hourly_rate, each.observed_at) for each in offers}


def shuffled(offers: list[Offer]) -> list[Offer]:
    turned = [*offers[len(offers) // 2 :], *offers[: len(offers) // 2]]
    pairs = zip(offers, turned, strict=True)
    return [replace(each, hourly_rate=other.hourly_rate, observed_at=NOW + DAY, parts=()) for each, other in pairs]


def tenfold(offers: list[Offer]) -> list[Offer]:
    return [replace(each, hourly_rate=each.hourly_rate * 10, observed_at=NOW + DAY, parts=()) for each in offers]


@pytest.mark.parametrize(
    "spoilt", [shuffled, tenfold, lambda offers: offers[::2]], ids=["shuffled", "tenfold", "halved"]
)
def test_an_edition_that_its_own_signer_spoilt_changes_nothing(
    consumer: Store, take: Take, spoilt: Callable[[list[Offer]], list[Offer]]
) -> None:
    offers = rates_of_many()
    take(as_signed(offers, NOW), NOW)
    before = current(consumer, NOW)
    assert len(before) > 250
    take(as_signed(spoilt(offers), NOW + DAY), NOW + DAY)
    assert current(consumer, NOW + DAY) == before


def test_an_end_that_an_edition_states_is_taken(consumer: Store, take: Take) -> None:
    consumer.publish(listed("packaged", OCTOBER), NOW)
    assert take(as_signed([offer("31.92", NOW - DAY, flags=(ENDED,)), offer(region="b")], NOW), NOW) is None
    assert [key[1] for key in current(consumer, NOW)] == ["b"]
