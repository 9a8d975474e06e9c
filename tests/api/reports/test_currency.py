"""Any currency of the European Central Bank on every path, at a named and dated rate or the asker's own, rounded once."""

import csv
import io
import json
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Decimal

import pytest
from msgspec.structs import replace
from support.services import NOW, packaged_catalogue, service_of

from api.stored import FixedPrices
from api.web.app import create_app
from costcalc.catalogue.catalogue import Catalogue
from pricing import exchange_rates as exchange

ASKED = "model=resnet50&target=0.757"
CENT = Decimal("0.01")


def exact(response):
    assert response.status_code == 200, response.text
    return json.loads(response.data, parse_float=Decimal)


def rows(response):
    assert response.status_code == 200, response.text
    return list(csv.DictReader(io.StringIO(response.text)))


def rounded(amount):
    return amount.quantize(CENT, ROUND_HALF_UP)


@pytest.mark.parametrize("currency", [code for code in exchange.current_currencies() if code != "USD"])
def test_every_current_currency_is_the_exact_amount_times_the_named_rate(client, currency):
    query = f"/cost?{ASKED}&purchase=on_demand&provider=aws&limit=5"
    found = exact(client.get(f"{query}&currency={currency}"))
    rate = found["exchange"]
    assert (rate["currency"], rate["date"]) == (currency, "2026-10-30")
    assert "European Central Bank" in rate["source"]
    for each, dollars in zip(found["estimates"], exact(client.get(query))["estimates"], strict=True):
        assert each["currency"] == currency
        assert abs(each["hourly_rate"] - dollars["hourly_rate"] * rate["per_usd"]) < Decimal("1e-18")
        [line] = dollars["components"]
        assert abs(each["billed_cost"] - line["quantity"] * line["rate"] * rate["per_usd"]) <= Decimal("0.0050001")


def test_a_past_question_takes_the_rate_of_its_day(client):
    rate = client.get(f"/cost?{ASKED}&currency=EUR&as_of=2018-04-26").json["exchange"]
    assert rate["date"] == "2018-04-26"
    assert rate["per_usd"] == pytest.approx(1 / 1.2168, rel=1e-9)  # the bank's fixing of that day
    sunday = client.get(f"/cost?{ASKED}&currency=EUR&as_of=2018-04-29").json["exchange"]
    assert sunday["date"] == "2018-04-27"


@pytest.mark.parametrize(
    ("path", "rate_of"),
    [
        ("/cost", lambda found: found["exchange"]),
        ("/commitments", lambda found: found["exchange"]),
        ("/accuracy", lambda found: found["exchange"]),
        ("/plan", lambda found: found["rows"][0]["exchange"]),
        ("/offers", lambda found: found["exchange"][0]),
    ],
)
def test_the_rate_is_named_in_every_answer(client, path, rate_of):
    asked = {"/accuracy": "model=resnet50&budget=50&", "/offers": "limit=5&"}.get(path, f"{ASKED}&")
    own = {"currency": "EUR", "per_usd": Decimal("0.92"), "date": "2026-11-20", "source": "own rate"}
    assert rate_of(exact(client.get(f"{path}?{asked}provider=aws&currency=EUR&fx=EUR:0.92"))) == own
    for row in rows(client.get(f"{path}.csv?{asked}provider=aws&currency=EUR")):
        assert row["exchange_rate_date"] == "2026-10-30"
        assert "European Central Bank" in row["exchange_rate_source"]


def test_an_own_rate_may_be_of_a_currency_that_the_bank_does_not_know(client):
    found = client.get(f"/cost?{ASKED}&currency=AED&fx=aed:3.6725&limit=1").json
    assert (found["exchange"]["per_usd"], found["estimates"][0]["currency"]) == (3.6725, "AED")
    assert client.get(f"/cost?{ASKED}&currency=AED").status_code == 400


@pytest.mark.parametrize("fx", ["0.92", "EUR", "EUR:", "EUR:0", "EUR:-1", "USD:1", "EURO:1", "EUR:x", ":0.92"])
def test_a_bad_own_rate_is_refused_with_what_to_write(client, fx):
    response = client.get(f"/cost?{ASKED}&currency=EUR&fx={fx}")
    assert response.status_code == 400
    assert "fx" in response.json["errors"]


@pytest.fixture(scope="module")
def mixed():
    """Every tenth current offer, and the same in euros from another house."""
    packaged = packaged_catalogue()
    offers = [packaged.offer(row) for row in packaged.current_offers(NOW).rows[::10].tolist()]
    euros = [replace(each, provider=f"{each.provider}-eu", currency="EUR") for each in offers]
    return create_app(service_of(FixedPrices(Catalogue.from_offers([*offers, *euros], "mixed")))).test_client()


def test_euro_offers_in_a_dollar_answer_name_their_rate(mixed):
    found = exact(mixed.get(f"/cost?{ASKED}&limit=1000"))
    [rate] = found["quoted_exchange"]
    assert (found["exchange"], rate["currency"], rate["date"]) == (None, "EUR", "2026-10-30")
    euros = [each for each in found["estimates"] if each["provider"].endswith("-eu")]
    assert euros
    for each in euros:
        assert each["currency"] == "USD"
        assert sum(line["amount"] for line in each["components"]) == each["billed_cost"]
        assert any("Quoted in EUR: 0.895095 per USD on 2026-10-30" in line for line in each["assumptions"])


def test_own_rates_convert_quotes_too(mixed):
    found = exact(mixed.get(f"/cost?{ASKED}&limit=1000&fx=EUR:0.5"))
    dear = {(each["provider"], each["instance_type"], each["region"], each["purchase_option"], each["term"], each["nodes"],
             each["payment"]): each for each in found["estimates"]}  # fmt: skip
    pairs = [(each, dear.get((f"{key[0]}-eu", *key[1:]))) for key, each in dear.items()]
    pairs = [(each, other) for each, other in pairs if other and each["provider"] in ("aws", "gcp", "azure")]
    assert pairs
    for each, other in pairs:
        assert abs(other["hourly_rate"] - 2 * each["hourly_rate"]) <= each["hourly_rate"] * Decimal("1e-15")


def test_the_price_sheet_converts_quotes_unrounded(mixed):
    quoted = {_key(each): each for each in exact(mixed.get("/offers"))["offers"]}
    assert {each["currency"] for each in quoted.values()} == {"USD", "EUR"}
    per_usd = exchange.rate("EUR", date(2026, 11, 20)).per_usd
    converted = exact(mixed.get("/offers?currency=EUR"))
    assert [rate["currency"] for rate in converted["exchange"]] == ["EUR"]
    for each in converted["offers"]:
        factor = 1 if quoted[_key(each)]["currency"] == "EUR" else per_usd
        for name in ("hourly_rate", "upfront", "monthly"):
            before, after = quoted[_key(each)][name], each[name]
            assert before == after if before is None else abs(after - before * factor) <= abs(after) * Decimal("1e-15")
    sheet = rows(mixed.get("/offers.csv?currency=EUR"))
    assert {(row["quoted_currency"], row["currency"], bool(row["exchange_rate"])) for row in sheet} == {
        ("USD", "EUR", True),
        ("EUR", "EUR", False),
    }


def _key(each):
    names = ("provider", "region", "instance_type", "purchase_option", "term", "payment", "offering_class")
    return tuple(each[name] for name in names)


def test_offers_whose_currency_has_no_rate_stay_as_quoted():
    packaged = packaged_catalogue()
    one = packaged.offer(int(packaged.current_offers(NOW).rows[0]))
    odd = replace(one, provider="odd", currency="XAU", observed_at=datetime(2026, 11, 1, tzinfo=UTC))
    client = create_app(service_of(FixedPrices(Catalogue.from_offers([one, odd], "odd")))).test_client()
    [kept] = [each for each in client.get("/offers?currency=EUR").json["offers"] if each["provider"] == "odd"]
    assert (kept["currency"], Decimal(str(kept["hourly_rate"]))) == ("XAU", odd.hourly_rate)
