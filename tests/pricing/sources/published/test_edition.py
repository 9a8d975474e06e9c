"""An edition is fetched by its tag, taken only where a trusted key signed it, and keeps what its rates say of themselves."""

from datetime import timedelta

import pytest
from fakes.edition import KEY, edition
from msgspec import msgpack
from support.prices import NOW, offer

from costcalc.catalogue.catalogue import Catalogue
from costcalc.offer import SECOND_HAND
from pricing import editions
from pricing.sources import SOURCES
from pricing.sources.common.http import Http
from pricing.sources.published import edition as published
from pricing.sources.source import CredentialsMissing, SourceError

DAYS_OLD = offer("2", NOW - timedelta(days=3), region="b", flags=(SECOND_HAND,), source="somebody's catalogue")
PUBLIC = editions.public_key(KEY)


@pytest.fixture
def collect(httpserver, monkeypatch, tmp_path):
    """Collects what is published."""
    monkeypatch.setattr(published, "user_cache_path", lambda *_, **__: tmp_path)

    def collect(address, trusted=PUBLIC):
        environment = {"COSTCALC_PRICES_LATEST": address, "COSTCALC_EDITION_TRUSTED": trusted}
        return SOURCES["edition"].build(environment, Http(retries=0)).collect(NOW)

    return collect


def test_rates_keep_their_dates_their_sources_and_who_said_them(collect, httpserver):
    found = {each.region: each for each in collect(edition(offer(), DAYS_OLD).serve(httpserver)).offers}
    assert found["b"] == DAYS_OLD
    assert (found["us-east-1"].hourly_rate, found["us-east-1"].first_hand) == (offer().hourly_rate, True)


def test_an_edition_that_has_not_changed_is_sent_once(collect, httpserver):
    served = edition(offer())
    address = served.serve(httpserver)
    assert collect(address).offers == collect(address).offers
    assert served.sent == 1


@pytest.mark.parametrize("key", [None, "6f" * 32], ids=["nobody", "another"])
def test_what_no_trusted_key_has_signed_is_not_taken(collect, httpserver, key):
    with pytest.raises(SourceError, match="not signed by a key of COSTCALC_EDITION_TRUSTED"):
        collect(edition(offer(), key=key).serve(httpserver))


def test_an_edition_that_was_changed_on_its_way_is_not_taken(collect, httpserver):
    served = edition(offer())
    served.content = served.content.replace(b"2026-", b"2027-", 1)
    with pytest.raises(SourceError, match="not signed"):
        collect(served.serve(httpserver))


def test_the_key_that_a_head_names_is_part_of_what_is_signed(collect, httpserver):
    served = edition(offer())
    other = editions.public_key("6f" * 32)
    served.content = served.content.replace(PUBLIC.encode(), other.encode())
    with pytest.raises(SourceError, match="not signed"):
        collect(served.serve(httpserver), f"{PUBLIC},{other}")


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (timedelta(days=9, hours=1), "the edition is 9 days old, made on 2026-11-11; one is taken for 7 days"),
        (timedelta(hours=-1), "the edition says that it was made at 2026-11-20 13:00 UTC, which lies ahead"),
    ],
)
def test_an_edition_of_another_week_says_how_old_it_is(collect, httpserver, ago, words):
    with pytest.raises(SourceError, match=words):
        collect(edition(offer(), made_at=NOW - ago).serve(httpserver))


def test_an_edition_of_the_former_format_is_refused_in_words(collect, httpserver):
    served = edition()
    served.content = msgpack.encode([NOW.isoformat(), b"rates", b"signature"])
    with pytest.raises(SourceError, match="another format than this version of costcalc reads"):
        collect(served.serve(httpserver))


@pytest.mark.parametrize("content", [b"", b"{}", b"<!doctype html>"])
def test_what_is_no_edition_is_a_reason(collect, httpserver, content):
    served = edition(offer())
    served.content = content
    with pytest.raises(SourceError, match="no edition"):
        collect(served.serve(httpserver))


def test_without_an_address_or_a_key_to_trust_it_is_not_asked():
    with pytest.raises(CredentialsMissing, match="set COSTCALC_PRICES_LATEST and COSTCALC_EDITION_TRUSTED"):
        SOURCES["edition"].build({}, Http())


def test_an_edition_holds_what_is_current_and_nothing_of_the_askers_own():
    own = offer("1", region="here", flags=("own",))
    later = offer("3", NOW + timedelta(hours=1))
    catalogue = Catalogue.from_offers(
        [offer("4"), later, own, offer("5", NOW - timedelta(days=600), region="old")], "one"
    )
    moment = NOW + timedelta(hours=1)
    assert editions.passed_on(catalogue, moment) == [later]
