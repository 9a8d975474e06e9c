"""`GET /offers` is the price sheet, `/throughput` speeds for the money, `/models` what was measured."""

import csv
import io
from datetime import UTC, date, datetime
from decimal import Decimal
from operator import itemgetter

import pytest
from msgspec.structs import replace
from support.prices import offer
from support.services import NOW, packaged_service, service_of, words

from api.stored import FixedPrices
from api.web.app import create_app
from costcalc.catalogue.catalogue import Catalogue

KEYS = words(
    """
    provider region instance_type accelerator accelerators accelerator_memory_gib vcpus memory_gib
    purchase_option term payment hourly_rate upfront recurring_hourly monthly currency effective_from
    observed_at source flags offering_class available available_at confirmed
    """
)


def test_every_current_rate_is_listed_unless_a_limit_is_asked_for(client):
    everything = client.get("/offers?as_of=2018-04-26").json
    assert everything["count"] == len(everything["offers"]) > 100
    assert list(everything["offers"][0]) == KEYS
    some = client.get("/offers?as_of=2018-04-26&limit=7&offset=3").json
    assert some["offers"] == everything["offers"][3:10]
    assert some["count"] == everything["count"]


def test_the_sheet_has_the_same_rows(client):
    listed = client.get("/offers?as_of=2018-04-26&provider=aws").json["offers"]
    rows = list(csv.DictReader(io.StringIO(client.get("/offers.csv?as_of=2018-04-26&provider=aws").text)))
    assert list(rows[0]) == KEYS
    assert [Decimal(row["hourly_rate"]) for row in rows] == [Decimal(str(each["hourly_rate"])) for each in listed]
    assert {row["provider"] for row in rows} == {"aws"}


def test_filters_and_dates_hold(client):
    [rate] = client.get(
        "/offers?as_of=2018-04-26&instance_type=P3.8xlarge&region=us-east-1&purchase=reserved&term=1y&payment=no_upfront"
    ).json["offers"]
    assert (rate["hourly_rate"], rate["upfront"], rate["accelerator"], rate["accelerators"]) == (8.354, 0, "V100", 4)
    assert rate["observed_at"] <= "2018-04-26T23:59:59Z"
    assert rate["source"]


def test_a_hostile_price_feed_cannot_put_formulas_into_a_sheet():
    hostile = offer(region="=HYPERLINK(1)", instance_type="@SUM(A1)", source="-1+1", flags=("+x",))
    catalogue = Catalogue.from_offers([hostile], "hostile")
    client = create_app(service_of(FixedPrices(catalogue))).test_client()
    [row] = csv.DictReader(io.StringIO(client.get("/offers.csv").text))
    assert (row["region"], row["instance_type"]) == ("'=HYPERLINK(1)", "'@SUM(A1)")
    assert (row["source"], row["flags"]) == ("'-1+1", "'+x")
    assert row["hourly_rate"] == "3.06"


def test_throughput_for_the_money(client):
    table = client.get("/throughput?model=resnet50&as_of=2018-04-26&limit=1000").json
    tpu = next(each for each in table["throughputs"] if each["instance_type"] == "v2-8")
    assert tpu["images_per_second_per_dollar_hour"] == tpu["images_per_second"] / float(tpu["hourly_rate"])
    values = [each["images_per_second_per_dollar_hour"] for each in table["throughputs"]]
    assert values == sorted(values, reverse=True)
    rows = list(csv.DictReader(io.StringIO(client.get("/throughput.csv?model=resnet50&limit=3").text)))
    assert len(rows) == 3
    assert {row["model"] for row in rows} == {"resnet50"}


@pytest.mark.parametrize(
    ("recipe", "measured_on"),
    [("pycls-resnet-50", "whole run"), ("nvidia-mxnet-*", "real"), ("riseml-*", "synthetic")],
)
def test_a_speed_says_what_it_was_measured_on(client, recipe, measured_on):
    table = client.get(f"/throughput?model=resnet50&recipe={recipe}").json["throughputs"]
    assert measured_on in {row["measured_on"] for row in table}
    assert all(row["synthetic_data"] == (row["measured_on"] == "synthetic") for row in table)


def test_throughput_knows_no_later_measurement(client):
    known = {
        (row.source, row.year): row.known_on
        for row in sorted(packaged_service().evidence.throughputs, key=lambda row: row.known_on, reverse=True)
    }
    counts = []
    for year in (2018, 2020, 2022, 2024, 2026):
        table = client.get(f"/throughput?as_of={year}-06-15&limit=100000").json["throughputs"]
        days = [known[each["throughput_source"], each["throughput_year"]] for each in table]
        assert all(day <= date(year, 6, 15) for day in days)
        counts.append(len({each["throughput_source"] for each in table}))
    assert counts[0] < counts[1] < counts[-1]


@pytest.fixture(scope="module")
def every_speed(app):
    return app.test_client().get("/throughput?limit=100000").json


@pytest.mark.parametrize(
    ("asked", "key", "values"),
    [
        ("image_size=128", "image_size", {128}),
        ("year=2019", "throughput_year", {2019}),
        ("nodes=2", "nodes", {2}),
        ("recipe=mlperf-v2.1-*", "throughput_year", {2022}),
        ("recipe=ffcv-rn50-*", "images_per_second", {20789.0, 28133.0}),
        ("rates=confirmed", "confirmed", {True}),
    ],
)
def test_throughput_filters(client, every_speed, asked, key, values):
    some = client.get(f"/throughput?limit=100000&{asked}").json
    assert {each[key] for each in some["throughputs"]} == values
    assert 0 < some["count"] < every_speed["count"]
    assert {each["confirmed"] for each in every_speed["throughputs"]} == {True, False}


def test_throughput_may_have_the_best_speed_of_each_machine_alone(client):
    asked = "/throughput?model=resnet50&image_size=224&provider=aws&limit=100000"
    every, best = (client.get(f"{asked}{more}").json["throughputs"] for more in ("", "&speeds=best"))
    offer_of = itemgetter("instance_type", "purchase_option", "term", "payment", "price_source")
    first, most = {offer_of(each): each for each in reversed(every)}, {offer_of(each): each for each in reversed(best)}
    assert most == first
    assert len(best) < len(every)


def test_throughput_rates_count_every_machine(client):
    table = client.get("/throughput?model=resnet50&limit=100000").json["throughputs"]
    many = [each for each in table if each["nodes"] > 1]
    assert many
    for each in many[:20]:
        ratio = each["images_per_second"] / each["images_per_second_per_dollar_hour"]
        assert abs(ratio - float(each["hourly_rate"])) < 1e-6 * ratio


def test_offers_in_other_currencies_stay_out_of_the_throughput_table():
    euros = offer(currency="EUR", region="eu")
    dollars = offer(region="us")
    catalogue = Catalogue.from_offers([euros, replace(dollars, observed_at=datetime(2026, 1, 1, tzinfo=UTC))], "two")
    client = create_app(service_of(FixedPrices(catalogue))).test_client()
    assert {row["region"] for row in client.get("/throughput?limit=1000").json["throughputs"]} <= {"us"}


def test_models_list_what_was_measured(client):
    listing = client.get("/models").json
    names = [each["model"] for each in listing["models"]]
    assert names == sorted(names)
    assert {"resnet18", "resnet50", "vgg16", "inception_v3", "efficientnet_b0"} <= set(names)


def test_one_model_has_its_recipes_with_curves_and_sources(client):
    found = client.get("/models/ResNet-50").json
    assert found["model"]["model"] == "resnet50"
    recipe = next(each for each in found["recipes"] if each["name"] == "riseml-2018-tpuv2")
    assert recipe["source"]
    assert recipe["evaluations"]
    assert found["throughputs"]
    assert all(each["source"] for each in found["throughputs"])


def test_lists_are_tagged(client):
    for path in ("/models", "/models/resnet50", "/offers?limit=1", "/offers.csv?limit=1", "/throughput?limit=1"):
        etag = client.get(path).headers["ETag"]
        assert client.get(path, headers={"If-None-Match": etag}).status_code == 304, path


def test_readiness_says_what_it_stands_on(client):
    ready = client.get("/readyz").json
    service = packaged_service()
    assert ready["status"] == "ok"
    assert ready["offers"] == len(service.catalogue())
    assert ready["evidence_version"] == service.evidence.version
    assert client.get("/healthz").json == {"status": "ok"}
    assert service.catalogue().first_observed_at < NOW
    assert ready["freshness"]["median_age_days"] > 0
    assert ready["freshness"]["by_provider"].keys() > {"aws", "azure", "gcp", "lambda"}


def test_rates_of_the_past_have_changed_too(client):
    assert client.get("/offers/changes?since=2017-06-01&as_of=2018-04-26").json["count"] > 0


def test_rates_confirmed_leaves_out_what_nobody_vouches_for():
    heard = offer(region="heard", flags=("second_hand",))
    client = create_app(service_of(FixedPrices(Catalogue.from_offers([offer(), heard], "two")))).test_client()
    assert {each["region"]: each["confirmed"] for each in client.get("/offers").json["offers"]} == {
        "us-east-1": True,
        "heard": False,
    }
    sheet = csv.DictReader(io.StringIO(client.get("/offers.csv?rates=confirmed").text))
    assert [(row["region"], row["confirmed"]) for row in sheet] == [("us-east-1", "true")]
    assert client.get("/offers?rates=confirmed").json["count"] == 1
