"""`/prices/latest` hands on what may be passed on, and nothing else."""

import csv

import pytest
from fakes.edition import KEY
from support.prices import NOW, listed, offer
from support.services import service_of

from api.settings import Settings
from api.stored import FixedPrices
from api.web.app import create_app
from pricing import editions
from pricing.store.store import Store


@pytest.fixture
def client(tmp_path):
    """A server whose store has the rates of the package, of a public source, of one with an account and of somebody's own."""
    store = Store(f"sqlite:///{tmp_path / 'prices.sqlite3'}")
    for origin in ("packaged", "vultr", "aws", "aws-page", "sheet"):
        store.publish(listed(origin, offer(region=origin)), NOW)
    store.publish(listed("oci", offer(provider="acme", region="left out")), NOW)
    prices = FixedPrices(store.load_current(), lambda: store)
    return create_app(service_of(prices), Settings(edition_key=KEY, edition_without=("acme",))).test_client()


def test_it_holds_packaged_and_public_rates_signed(client):
    answered = client.get("/prices/latest").data
    read = editions.read(answered, [editions.public_key(KEY)], NOW).rates
    assert {read.offer(row).region for row in range(len(read))} == {"packaged", "vultr", "aws-page"}


def test_the_same_rates_are_a_sheet_in_the_columns_of_offers(client):
    sheet = client.get("/prices/latest.csv")
    rows = list(csv.DictReader(sheet.text.splitlines()))
    assert sheet.content_type == "text/csv; charset=utf-8"
    assert {row["region"] for row in rows} == {"packaged", "vultr", "aws-page"}
    assert [*rows[0]] == client.get("/offers.csv").text.splitlines()[0].split(",")


def test_it_is_sent_only_where_it_has_changed(client):
    tag = client.get("/prices/latest").headers["ETag"]
    assert client.get("/prices/latest", headers={"If-None-Match": tag}).status_code == 304
