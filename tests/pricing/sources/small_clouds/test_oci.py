import json
from decimal import Decimal

import pytest
from support.recorded_sources import NOW, RECORDED, recorded

from pricing.sources.small_clouds.oci import offers
from pricing.sources.source import SchemaChanged


def document():
    return json.loads(recorded("oci/products.json"), parse_float=Decimal)


def rates(collected):
    return {(offer.instance_type, offer.purchase_option.value): offer.hourly_rate for offer in collected.offers}


def test_a_shape_costs_its_accelerators():
    found = rates(offers(document(), NOW))
    assert found["BM.GPU.H100.8", "on_demand"] == 80
    assert found["BM.GPU.A100-v2.8", "on_demand"] == 32
    assert found["VM.GPU3.2", "on_demand"] == Decimal("5.90")
    assert found["BM.GPU3.8", "on_demand"] == Decimal("23.60")


def test_the_newest_shapes_are_read_by_part_number():
    found = rates(offers(document(), NOW))
    names = ("H200.8", "B300.8", "GB200.4", "GB300.4", "RTXPRO.8", "MI355X.8")
    assert [found[f"BM.GPU.{name}", "on_demand"] for name in names] == [80, 120, 64, 72, 36, Decimal("68.8")]


def test_licences_and_machines_on_ones_own_premises_are_no_rentals():
    said = " ".join(gap.reason for gap in offers(document(), NOW).gaps)
    assert "Enterprise" not in said
    assert not any(shape.startswith("BM.GPU.L40S") for shape, _ in rates(offers(document(), NOW)))


def test_a_part_for_bare_metal_prices_no_virtual_machine():
    found = rates(offers(document(), NOW))
    assert found["BM.GPU2.2", "on_demand"] == Decimal("2.55")
    assert ("VM.GPU2.1", "on_demand") not in found


def test_preemptible_machines_cost_half_and_say_so():
    collected = offers(document(), NOW)
    spot = {offer.instance_type: offer for offer in collected.offers if offer.purchase_option == "spot"}
    assert {name: offer.hourly_rate for name, offer in spot.items()} == {
        "VM.GPU3.1": Decimal("1.475"),
        "VM.GPU3.2": Decimal("2.95"),
        "VM.GPU3.4": Decimal("5.9"),
    }
    assert {offer.flags for offer in spot.values()} == {("derived",)}


def test_bare_metal_is_billed_for_an_hour_at_least():
    least = {offer.instance_type: offer.minimum_seconds for offer in offers(document(), NOW).offers}
    assert (least["BM.GPU3.8"], least["VM.GPU3.1"]) == (3600, 60)


def test_a_part_in_another_currency_is_a_gap():
    reasons = [gap.reason for gap in offers(document(), NOW).gaps]
    assert reasons == [
        "parts without a price in USD left out: Oracle Cloud Infrastructure - Compute - GPU - L40S",
    ]


def test_a_list_in_another_currency_altogether_gives_nothing():
    everything = document()
    for part in everything["items"]:
        part["currencyCodeLocalizations"][0]["currencyCode"] = "IDR"
    with pytest.raises(SchemaChanged, match="without a price in USD"):
        offers(everything, NOW)


def test_dollars_are_asked_for(httpserver):
    RECORDED["oci"].serve(httpserver)
    RECORDED["oci"].collect(httpserver.url_for(""))
    assert httpserver.log[0][0].args["currencyCode"] == "USD"
