import json
from decimal import Decimal

import pytest
from support.recorded_sources import NOW, RECORDED, recorded

import pricing.sources.small_clouds.digitalocean
from costcalc.offer import tariff
from pricing.sources.small_clouds.digitalocean import offers
from pricing.sources.source import SchemaChanged


def sizes():
    return json.loads(recorded("digitalocean/sizes.json"), parse_float=Decimal)["sizes"]


def test_a_size_is_offered_by_the_hour_and_by_the_month_wherever_it_is():
    found = {offer.key[1:5]: offer for offer in offers(sizes(), NOW).offers}
    assert found["tor1", "gpu-h100x8-640gb", "on_demand", ""].hourly_rate == Decimal("23.92")
    month = found["nyc1", "gpu-h100x8-640gb", "monthly", "1mo"]
    assert (month.monthly, month.hours_in_month, month.hourly_rate) == (Decimal("17796.48"), 744, Decimal("23.92"))
    assert tariff(month).fee == Decimal("17796.48")


def test_the_memory_is_that_of_all_accelerators_together():
    machine = offers(sizes(), NOW).offers[0].machine
    assert (machine.accelerator, machine.accelerators, machine.accelerator_memory_gib) == ("H100", 8, 80)
    assert (machine.vcpus, machine.memory_gib) == (160, 1920)


def test_a_size_that_no_region_has_is_flagged():
    away = {offer.region: offer.flags for offer in offers(sizes(), NOW).offers if "mi300x" in offer.instance_type}
    assert away == {"unspecified": ("no_capacity",)}


def test_unknown_accelerators_are_named_and_plain_droplets_are_not():
    assert [gap.reason for gap in offers(sizes(), NOW).gaps] == ["accelerators not known here left out: nvidia_x9000"]


def paged(size, page, more):
    pages = {"next": f"https://api.digitalocean.com/v2/sizes?page={page + 1}"} if more else {"first": "x"}
    return {"sizes": [size], "links": {"pages": pages}}


def test_pages_are_followed(httpserver):
    for number, size in enumerate(sizes()[1:3], 1):
        query = {"page": str(number), "per_page": "200"}
        answer = json.dumps(paged(size, number, number == 1), default=float)
        httpserver.expect_request("/v2/sizes", query_string=query).respond_with_data(answer)
    collected = RECORDED["digitalocean"].collect(httpserver.url_for(""))
    assert {offer.instance_type for offer in collected.offers} == {"gpu-h100x8-640gb", "gpu-mi300x8-1536gb"}


def test_pages_without_an_end_are_a_reason(httpserver, monkeypatch):
    monkeypatch.setattr(pricing.sources.small_clouds.digitalocean, "MOST_PAGES", 3)
    endless = json.dumps(paged(sizes()[1], 1, True), default=float)
    httpserver.expect_request("/v2/sizes").respond_with_data(endless)
    with pytest.raises(SchemaChanged, match="no end"):
        RECORDED["digitalocean"].collect(httpserver.url_for(""))
