import json
from decimal import Decimal

import pytest
from support.recorded_sources import NOW, recorded

from costcalc.hardware import Machine
from costcalc.offer import PurchaseOption
from pricing.sources.small_clouds.lambda_cloud import offers
from pricing.sources.source import SchemaChanged


def listing():
    return json.loads(recorded("lambda/instance_types.json"))


def by_name(collected):
    return {offer.instance_type: offer for offer in collected.offers}


def test_cents_become_dollars_for_the_whole_machine():
    offer = by_name(offers(listing(), NOW))["gpu_8x_h100_sxm5"]
    assert offer.hourly_rate == Decimal("31.92")
    assert (offer.provider, offer.region, offer.purchase_option) == ("lambda", "any", PurchaseOption.ON_DEMAND)
    assert offer.machine == Machine("H100", 8, 80.0, 208, 1800.0)
    assert (offer.billing_increment_seconds, offer.minimum_seconds) == (60, 60)


def test_a_machine_that_no_region_has_free_is_priced_and_flagged():
    found = by_name(offers(listing(), NOW))
    assert found["gpu_1x_h100_sxm5"].flags == ("no_capacity",)
    assert found["gpu_1x_h100_sxm5"].available is False
    assert (found["gpu_1x_a100_sxm4"].available, found["gpu_1x_a100_sxm4"].available_at) == (True, NOW)


def test_a_name_alone_tells_the_accelerator_where_the_description_is_missing():
    document = {"data": {"gpu_4x_h200_sxm5": listing()["data"]["gpu_1x_h100_sxm5"]}}
    document["data"]["gpu_4x_h200_sxm5"]["instance_type"] |= {
        "name": "gpu_4x_h200_sxm5",
        "specs": {"vcpus": 8, "memory_gib": 9, "gpus": 4},
    }
    [offer] = offers(document, NOW).offers
    assert (offer.machine.accelerator, offer.machine.accelerator_memory_gib) == ("H200", 141)


def test_machines_without_accelerators_pass_in_silence_and_unknown_ones_do_not():
    collected = offers(listing(), NOW)
    assert len(collected.offers) == 3
    assert [gap.reason for gap in collected.gaps] == ["accelerators not known here left out: H999 (999 GB SXM9)"]


def test_prices_under_another_name_are_a_changed_schema():
    document = listing()
    for entry in document["data"].values():
        entry["instance_type"]["price_usd"] = entry["instance_type"].pop("price_cents_per_hour")
    with pytest.raises(SchemaChanged, match=r"required field `instance_type\.price_cents_per_hour`"):
        offers(document, NOW)
