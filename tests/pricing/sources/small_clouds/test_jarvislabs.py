from decimal import Decimal

import pytest
from support.recorded_sources import NOW, RECORDED

from pricing.sources.small_clouds.jarvislabs import offers
from pricing.sources.source import SchemaChanged

POOL = {
    "gpu_type": "L4",
    "region": "india-noida-01",
    "vram": "24",
    "price_per_hour": Decimal("255.15"),
    "num_gpus": "8",
}


@pytest.fixture
def found(httpserver):
    RECORDED["jarvislabs"].serve(httpserver)
    listed = RECORDED["jarvislabs"].collect(httpserver.url_for("")).offers
    return {(each.region, each.instance_type, each.purchase_option.value): each for each in listed}


def test_a_rate_is_that_of_one_accelerator_times_how_many_there_are(found):
    india = {name[1:]: each.hourly_rate for name, each in found.items() if name[0] == "india-noida-01"}
    assert {name: rate for name, rate in india.items() if "L4" in name[0] and name[1] == "on_demand"} == {
        (f"{count}x L4", "on_demand"): Decimal("0.44") * count for count in (1, 2, 4, 8)
    }
    assert india["4x A100-80GB", "spot"] == Decimal("3.56")
    assert ("8x A100-80GB", "on_demand") not in india, "its pool has four to a machine"


def test_a_pool_that_does_not_say_how_many_a_machine_holds_rents_one(found):
    [h100] = [each for (region, *_), each in found.items() if region == "europe-01"]
    machine = h100.machine
    assert (h100.instance_type, machine.accelerator, machine.vcpus, machine.memory_gib) == ("1x H100", "H100", 16, 200)


def test_what_is_free_decides_how_many_can_be_rented_now(found):
    kinds = {count: found["india-noida-01", f"{count}x L4", "on_demand"].flags for count in (2, 4)}
    assert kinds == {2: ("available",), 4: ("no_capacity",)}
    assert found["india-noida-01", "4x L4", "spot"].flags == ("no_capacity",)


def test_a_server_that_is_spot_only_has_no_rate_on_demand(found):
    assert {purchase for _, name, purchase in found if name == "1x RTX A6000"} == {"spot"}


def test_rupees_stay_rupees_and_an_answer_without_a_currency_is_refused():
    [one, *_] = offers({"currency": "INR", "server_meta": [POOL]}, NOW).offers
    assert (one.currency, one.hourly_rate) == ("INR", Decimal("255.15"))
    with pytest.raises(SchemaChanged, match="no currency; expected USD or INR"):
        offers({"server_meta": [POOL]}, NOW)
