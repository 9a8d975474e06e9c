import json
from decimal import Decimal

import pytest
from support.recorded_sources import NOW, RECORDED, recorded

from costcalc.offer import RatePart
from pricing.sources.small_clouds.vast import offers
from pricing.sources.source import SourceError


def rows():
    return json.loads(recorded("vast/bundles.json"), parse_float=Decimal)["offers"]


def by_key(collected):
    return {offer.key[1:4]: offer for offer in collected.offers}


def test_the_cheapest_host_of_a_country_stands_for_its_machine():
    found = by_key(offers(rows(), NOW))
    offer = found["us", "1x RTX 4090", "on_demand"]
    assert offer.hourly_rate == Decimal("0.302222")
    assert offer.parts == (RatePart("machine", Decimal("0.3")), RatePart("disk", Decimal("0.002222")))
    assert offer.machine.accelerator_memory_gib == 24


def test_the_lowest_bid_has_the_disk_added():
    found = by_key(offers(rows(), NOW))
    assert found["us", "1x RTX 4090", "spot"].hourly_rate == Decimal("0.12") + Decimal("0.001111")
    assert ("us", "8x H100", "spot") not in found


def test_a_bid_above_on_demand_is_flagged_and_a_marketplace_said_to_be_one():
    found = by_key(offers(rows(), NOW))
    assert found["unspecified", "2x A100-40GB", "spot"].flags == ("marketplace", "available", "spot_above_on_demand")
    assert found["us", "8x H100", "on_demand"].flags == ("marketplace", "available")


def test_the_cheapest_bid_may_be_dearer_than_the_cheapest_host():
    dear = {**rows()[0], "id": 99, "dph_base": Decimal(2), "dph_total": Decimal("2.002222"), "min_bid": Decimal(1)}
    found = by_key(offers([{**rows()[0], "min_bid": None}, dear], NOW))
    assert found["us", "1x RTX 4090", "on_demand"].hourly_rate == Decimal("0.302222")
    assert found["us", "1x RTX 4090", "spot"].flags == ("marketplace", "available", "spot_above_on_demand")


def test_unknown_accelerators_are_named():
    assert [gap.reason for gap in offers(rows(), NOW).gaps] == ["accelerators not known here left out: RTX 9990"]


def test_machines_of_each_size_are_asked_for(httpserver):
    RECORDED["vast"].serve(httpserver)
    RECORDED["vast"].collect(httpserver.url_for(""))
    asked = [request.get_json() for request, _ in httpserver.log]
    assert [query["num_gpus"] for query in asked] == [{"eq": count} for count in (1, 2, 4, 8)]
    assert all(query["rentable"] == {"eq": True} and query["rented"] == {"eq": False} for query in asked)


@pytest.mark.parametrize(("key", "capped"), [("", True), ("a-key", False)])
def test_a_capped_listing_is_a_gap_without_a_key(httpserver, key, capped):
    many = [{**rows()[0], "id": number} for number in range(64)]
    httpserver.expect_request("/api/v0/bundles/", method="POST").respond_with_data(
        json.dumps({"offers": many}, default=float)
    )
    collected = RECORDED["vast"].collect(httpserver.url_for(""), COSTCALC_VAST_API_KEY=key)
    assert any("COSTCALC_VAST_API_KEY" in gap.reason for gap in collected.gaps) is capped


def test_sizes_that_nobody_offers_are_no_fault_but_all_of_them_are(httpserver):
    httpserver.expect_request("/api/v0/bundles/", method="POST").respond_with_json({"offers": []})
    with pytest.raises(SourceError, match="empty"):
        RECORDED["vast"].collect(httpserver.url_for(""))
