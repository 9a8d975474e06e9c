"""`GET /offers/history`: every rate of a machine with when it was first and last seen, and nothing that did not change."""

import csv
import io
from datetime import timedelta
from decimal import Decimal

import pytest
from support.prices import NOW, listed, offer
from support.services import service_of

from api.reports.prices.rates import RateRow
from api.stored import FixedPrices
from api.web.app import create_app
from costcalc.catalogue.catalogue import Catalogue
from costcalc.offer import PurchaseOption
from pricing.store.store import Store

DAY = timedelta(days=1)
PATH = "/offers/history?instance_type=p3.2xlarge"


def days_ago(days):
    return NOW - days * DAY


def client_of(catalogue):
    return create_app(service_of(FixedPrices(catalogue))).test_client()


@pytest.fixture(scope="module")
def told():
    """A rate that fell and came back, seen by one source, and once by another between."""
    offers = (
        offer("3.06", days_ago(500)),
        offer("3.06", days_ago(400)),
        offer("2.50", days_ago(300), flags=("no_capacity",)),
        offer("3.00", days_ago(250), source="a list by hand"),
        offer("2.50", days_ago(200)),
        offer("3.06", days_ago(100)),
        offer("1.00", days_ago(90), purchase_option=PurchaseOption.SPOT),
        offer("9.00", days_ago(90), instance_type="p3.8xlarge"),
    )
    return client_of(Catalogue.from_offers(offers, "told"))


def rates(client, more="", path=PATH):
    rows = client.get(f"{path}{more}").json["history"]
    return [(str(row["hourly_rate"]), row["observed_at"][:10], row["last_seen_at"][:10]) for row in rows]


def day(days):
    return f"{days_ago(days):%Y-%m-%d}"


ON_DEMAND = [
    ("3.06", day(500), day(400)),
    ("2.5", day(300), day(200)),
    ("3", day(250), day(250)),
    ("3.06", day(100), day(100)),
]
SPOT = [("1", day(90), day(90))]


def test_a_rate_stands_once_for_as_long_as_one_source_saw_it_unchanged(told):
    document = told.get(PATH).json
    assert list(document) == ["snapshot", "since", "until", "count", "history"]
    assert list(document["history"][0]) == [*RateRow.__dataclass_fields__, "last_seen_at"]
    assert (document["count"], rates(told)) == (5, ON_DEMAND + SPOT)
    assert [row["source"] for row in document["history"]][2] == "a list by hand"
    assert document["history"][1]["flags"] == [], "as it was last seen"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("&purchase=on_demand", ON_DEMAND),
        (f"&purchase=on_demand&since={day(240)}", [ON_DEMAND[1], ON_DEMAND[3]]),
        (f"&purchase=on_demand&until={day(350)}", ON_DEMAND[:1]),
        (f"&purchase=on_demand&until={day(260)}", [ON_DEMAND[0], ("2.5", day(300), day(300))]),
        ("&provider=AWS&region=us-east-1&purchase=spot", SPOT),
        ("&limit=2&offset=1", ON_DEMAND[1:3]),
        ("&term=1y", []),
    ],
)
def test_filters_dates_and_pages(told, more, expected):
    assert rates(told, more) == expected


def test_the_sheet_has_the_same_rows(told):
    response = told.get("/offers/history.csv?instance_type=p3.2xlarge")
    rows = list(csv.DictReader(io.StringIO(response.text)))
    assert [(Decimal(row["hourly_rate"]), row["last_seen_at"][:10]) for row in rows] == [
        (Decimal(rate), last) for rate, _, last in ON_DEMAND + SPOT
    ]
    saved = told.get("/offers/history.csv?instance_type=p3.2xlarge&excel=1")
    assert saved.headers["Content-Disposition"] == 'attachment; filename="history.csv"'
    again = told.get(
        "/offers/history.csv?instance_type=p3.2xlarge", headers={"If-None-Match": response.headers["ETag"]}
    )
    assert again.status_code == 304


@pytest.mark.parametrize(
    ("query", "parameter", "message"),
    [
        ("", "instance_type", "missing: add instance_type=p3.8xlarge"),
        ("instance_type=p3.2xlrge", "instance_type", "p3.2xlarge"),
        ("instance_type=p3.2xlarge&since=yesterday", "since", "date"),
        ("instance_type=p3.2xlarge&as_of=2026-01-01", "as_of", "as_of"),
        ("instance_type=p3.2xlarge&limit=0", "limit", "1"),
    ],
)
def test_bad_input_says_what_to_type(told, query, parameter, message):
    response = told.get(f"/offers/history?{query}")
    assert (response.status_code, response.content_type) == (400, "application/problem+json")
    assert message in response.json["errors"][parameter][0]


def test_what_a_store_has_seen_is_what_is_told(tmp_path):
    store = Store(f"sqlite:///{tmp_path}/prices.sqlite3")
    for days, rate in ((40, "3.06"), (39, "3.06"), (5, "3.06"), (4, "2.5"), (3, "3.06"), (1, "3.06")):
        store.publish(listed("aws", offer(rate, days_ago(days))), days_ago(days))
    told = (("3.06", 40, 5), ("2.5", 4, 4), ("3.06", 3, 1))
    assert rates(client_of(store.load_current())) == [
        (rate, f"{days_ago(first):%Y-%m-%d}", f"{days_ago(last):%Y-%m-%d}") for rate, first, last in told
    ]


def test_packaged_prices_have_a_history(client):
    document = client.get("/offers/history?instance_type=p3.8xlarge&purchase=on_demand&region=us-east-1").json
    assert document["history"][0]["observed_at"] < "2018-04-27"
    assert document["count"] >= 1


def test_a_span_that_ends_before_it_begins_holds_nothing(client):
    response = client.get("/offers/history?instance_type=p3.2xlarge&since=2026-02-01&until=2026-01-01")
    assert (response.status_code, response.json["count"]) == (200, 0)
