import json
from decimal import Decimal

import pytest
from support.recorded_sources import NOW, RECORDED, recorded

from costcalc.offer import PurchaseOption
from pricing.sources.small_clouds.runpod import offers
from pricing.sources.source import SchemaChanged


@pytest.fixture
def found():
    document = json.loads(recorded("runpod/gpu_types.json"), parse_float=Decimal)
    return {offer.key[2:5]: offer for offer in offers(document, NOW).offers}


def test_the_two_clouds_are_two_machines(found):
    rates = {key[0]: offer.hourly_rate for key, offer in found.items() if key[1] == "on_demand" and "A100" in key[0]}
    assert rates == {
        "1x A100-80GB-PCIe secure": Decimal("1.89"),
        "2x A100-80GB-PCIe secure": Decimal("3.78"),
        "4x A100-80GB-PCIe secure": Decimal("7.56"),
        "8x A100-80GB-PCIe secure": Decimal("15.12"),
        "1x A100-80GB-PCIe community": Decimal("1.59"),
        "2x A100-80GB-PCIe community": Decimal("3.18"),
        "4x A100-80GB-PCIe community": Decimal("6.36"),  # and no 8: the community's machines hold 4 at most
    }


def test_a_price_of_null_or_zero_is_unknown(found):
    assert ("1x A100-80GB-PCIe secure", "spot", "") not in found
    assert not any("H100 community" in kind for kind, _, _ in found)


def test_spot_that_costs_as_much_as_on_demand_is_none(found):
    assert ("2x H100 secure", "on_demand", "") in found
    assert ("2x H100 secure", "spot", "") not in found


def test_a_term_without_a_discount_is_no_offer(found):
    terms = {(kind, term): offer for (kind, option, term), offer in found.items() if option == "savings_plan"}
    assert set(terms) == {("1x H100 secure", "3mo"), ("2x H100 secure", "3mo")}
    assert terms["2x H100 secure", "3mo"].hourly_rate == Decimal("5.0")


def test_a_cloud_whose_most_is_zero_or_that_has_none_is_not_offered(found):
    assert {kind for kind, _, _ in found if "B200" in kind} == {f"{count}x B200 secure" for count in (1, 2, 4, 8)}
    assert offered(communityCloud=False) == {"secure"}
    assert offered(secureCloud=False) == {"community"}


def test_an_accelerator_without_figures_is_named():
    document = json.loads(recorded("runpod/gpu_types.json"), parse_float=Decimal)
    document["data"]["gpuTypes"][1] |= {"id": "NVIDIA RTX A4500", "displayName": "RTX A4500", "memoryInGb": 20}
    gaps = [gap.reason for gap in offers(document, NOW).gaps]
    assert "accelerators without figures here left out: NVIDIA RTX A4500" in gaps


def offered(**changes):
    document = json.loads(recorded("runpod/gpu_types.json"), parse_float=Decimal)
    [a100, *_] = document["data"]["gpuTypes"]
    found = offers({"data": {"gpuTypes": [a100 | changes]}}, NOW).offers
    return {offer.instance_type.rpartition(" ")[2] for offer in found}


def test_stock_is_that_of_the_cloud_and_the_number_of_accelerators(found):
    on_demand = {kind: offer.flags for (kind, option, _), offer in found.items() if option == "on_demand"}
    assert {kind for kind, flags in on_demand.items() if "A100" in kind and flags == ("no_capacity",)} == {
        "8x A100-80GB-PCIe secure",
        "2x A100-80GB-PCIe community",
        "4x A100-80GB-PCIe community",
    }
    assert on_demand["1x A100-80GB-PCIe community"] == ("available",)
    assert on_demand["1x H100 secure"] == ("no_capacity",)


def test_the_region_is_not_said(found):
    assert {offer.region for offer in found.values()} == {"unspecified"}
    assert {offer.purchase_option for offer in found.values()} == {
        PurchaseOption.ON_DEMAND,
        PurchaseOption.SPOT,
        PurchaseOption.SAVINGS_PLAN,
    }


def test_a_query_that_is_refused_is_a_changed_schema():
    with pytest.raises(SchemaChanged, match="not understood"):
        offers({"errors": [{"message": "Cannot query field"}], "data": None}, NOW)


def test_the_query_asks_for_what_is_read(httpserver):
    RECORDED["runpod"].serve(httpserver)
    RECORDED["runpod"].collect(httpserver.url_for(""))
    asked = httpserver.log[0][0].get_json()["query"]
    gpu = json.loads(recorded("runpod/gpu_types.json"))["data"]["gpuTypes"][0]
    assert [field for field in [*gpu, *gpu["secure1"]] if field not in asked] == []
    assert "secure8: lowestPrice(input: {gpuCount: 8, secureCloud: true})" in asked
