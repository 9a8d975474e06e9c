"""`GET /offers/changes`: what is new or different since a date, and nothing else."""

import csv
import io
from datetime import timedelta
from decimal import Decimal

import pytest
from support.prices import NOW, offer
from support.services import service_of, words

from api.stored import FixedPrices
from api.web.app import create_app
from costcalc.catalogue.catalogue import Catalogue
from costcalc.offer import Payment, PurchaseOption

EARLIER, BETWEEN = NOW - timedelta(days=20), NOW - timedelta(days=10)
KEYS = words(
    """
    provider region instance_type accelerator accelerators purchase_option term payment offering_class kind
    previous_hourly_rate hourly_rate change previous_upfront upfront previous_currency currency
    previous_observed_at observed_at previous_source source
    """
)


def reserved(upfront, recurring, observed_at):
    hourly = Decimal(upfront) / 8760 + Decimal(recurring)
    return offer(
        hourly,
        observed_at,
        purchase_option=PurchaseOption.RESERVED,
        term="1y",
        payment=Payment.PARTIAL_UPFRONT,
        upfront=Decimal(upfront),
        recurring_hourly=Decimal(recurring),
    )


OFFERS = (
    offer("4", EARLIER, region="fell"),
    offer("3", NOW, region="fell", source="a newer list"),
    offer("4", EARLIER, region="same"),
    offer("4", NOW, region="same"),
    offer("5", BETWEEN, region="new"),
    offer("2", EARLIER, region="moved"),
    offer("2", NOW, region="moved", currency="EUR"),
    offer("8", EARLIER, region="there and back"),
    offer("9", BETWEEN, region="there and back"),
    offer("8", NOW, region="there and back"),
    reserved("8760", "1", EARLIER),
    reserved("0", "2", NOW),  # the same effective rate, paid otherwise
)


@pytest.fixture(scope="module")
def history():
    return create_app(service_of(FixedPrices(Catalogue.from_offers(OFFERS, "history")))).test_client()


def since(client, moment=NOW - timedelta(days=15), **more):
    response = client.get("/offers/changes", query_string={"since": f"{moment:%Y-%m-%d}", **more})
    assert response.status_code == 200, response.text
    return response.json


def by_region(document):
    return {each["region"]: each for each in document["changes"]}


def test_only_what_is_new_or_different_is_listed(history):
    document = since(history)
    assert set(by_region(document)) == {"fell", "new", "moved", "us-east-1"}
    assert document["count"] == 4
    assert list(document["changes"][0]) == KEYS


def test_a_change_has_both_rates_both_dates_and_both_sources(history):
    fell = by_region(since(history))["fell"]
    assert (fell["kind"], fell["previous_hourly_rate"], fell["hourly_rate"], fell["change"]) == ("changed", 4, 3, -0.25)
    assert fell["previous_observed_at"] < fell["observed_at"]
    assert (fell["previous_source"], fell["source"]) == ("AWS price list", "a newer list")


def test_what_is_new_has_no_past(history):
    new = by_region(since(history))["new"]
    assert (new["kind"], new["previous_hourly_rate"], new["change"], new["previous_observed_at"]) == (
        "new",
        None,
        None,
        None,
    )


def test_rates_in_two_currencies_are_not_compared(history):
    moved = by_region(since(history))["moved"]
    assert (moved["previous_currency"], moved["currency"], moved["change"]) == ("USD", "EUR", None)


def test_another_payment_of_the_same_effective_rate_is_a_change(history):
    paid = by_region(since(history))["us-east-1"]
    assert (paid["previous_upfront"], paid["upfront"], paid["change"]) == (8760, 0, 0)


def test_both_dates_can_be_past(history):
    document = since(history, EARLIER, as_of=f"{BETWEEN:%Y-%m-%d}")
    assert {each["region"]: each["kind"] for each in document["changes"]} == {"new": "new", "there and back": "changed"}
    assert since(history, NOW - timedelta(days=400))["count"] == 6  # everything is new to who knew nothing


def test_filters_limit_and_offset_hold(history):
    assert by_region(since(history, region="fell")).keys() == {"fell"}
    page = since(history, limit=2, offset=1)
    assert (len(page["changes"]), page["count"]) == (2, 4)
    assert page["changes"] == since(history)["changes"][1:3]


def test_the_sheet_has_the_same_rows(history):
    path = f"/offers/changes.csv?since={NOW - timedelta(days=15):%Y-%m-%d}"
    rows = list(csv.DictReader(io.StringIO(history.get(path).text, newline="")))
    assert list(rows[0]) == KEYS
    assert [row["region"] for row in rows] == [each["region"] for each in since(history)["changes"]]
    assert {row["change"] for row in rows} == {"-0.25", "", "0.0"}
    assert history.get(f"{path}&excel=1").headers["Content-Disposition"] == 'attachment; filename="changes.csv"'


@pytest.mark.parametrize(
    ("query", "says"),
    [("since=yesterday", "must be a date")],
)
def test_bad_dates_say_what_to_type(history, query, says):
    response = history.get(f"/offers/changes?{query}")
    assert response.status_code == 400
    assert says in response.json["errors"]["since"][0]


@pytest.mark.parametrize("as_of", ["", f"{EARLIER:%Y-%m-%d}"])
def test_a_later_date_than_as_of_is_refused(history, as_of):
    response = history.get(f"/offers/changes?since={NOW + timedelta(days=10):%Y-%m-%d}&as_of={as_of}")
    assert response.status_code == 400
    [told] = response.json["errors"]["since"]
    assert told.endswith(": choose an earlier date")


def test_packaged_prices_have_changes(client):
    document = since(client, moment=NOW.replace(year=2024), provider="aws", instance_type="p4d.24xlarge")
    assert any(each["kind"] == "changed" for each in document["changes"])
