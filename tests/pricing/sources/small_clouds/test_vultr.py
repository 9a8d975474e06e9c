import json
from decimal import Decimal

import pytest
from support.recorded_sources import NOW, RECORDED, recorded

from costcalc.offer import tariff
from pricing.sources.small_clouds.vultr import offers
from pricing.sources.source import SourceError


def plans():
    def listed(name):
        return json.loads(recorded(f"vultr/{name}.json"), parse_float=Decimal)[name]

    return listed("plans_metal") + listed("plans")


def by_key():
    return {offer.key[1:4]: offer for offer in offers(plans(), NOW).offers}


def test_bare_metal_costs_at_most_672_hours_a_month():
    month = by_key()["sea", "vbm-112c-2048gb-8-h100-gpu", "monthly"]
    assert (month.monthly, month.hours_in_month, month.hourly_rate) == (Decimal("16074.24"), 672, Decimal("23.92"))
    assert tariff(month).period_hours == 672
    assert (month.machine.accelerator, month.machine.accelerators) == ("H100", 8)


def test_cloud_gpu_counts_months_of_730_hours():
    month = by_key()["ewr", "vcg-a100-12c-120g-80vram", "monthly"]
    assert (month.hours_in_month, month.hourly_rate.quantize(Decimal("0.001"))) == (730, Decimal("2.397"))


def h100(**changes):
    [plan, *_] = plans()
    return {offer.key[1:4]: offer for offer in offers([plan | changes], NOW).offers}


def test_a_month_counts_the_hours_of_the_plan_itself():
    """Plans cap the month at 664 to 730 hours; where it costs more than all hours of a month, nobody takes it."""
    plan = "vbm-112c-2048gb-8-h100-gpu"
    assert h100(monthly_cost=Decimal("15882.88"))["sea", plan, "monthly"].hours_in_month == 664
    assert ("sea", plan, "monthly") not in h100(monthly_cost=Decimal("32602.96"))  # 1,363 hours
    assert ("sea", plan, "monthly") not in h100(monthly_cost=None)


def test_a_region_may_have_prices_of_its_own():
    own = {"hourly_cost": 26, "monthly_cost": 17472, "hourly_cost_preemptible": 20}
    found = h100(locations=["sea", "sao"], location_cost={"sao": own})
    rates = {(region, option): offer.hourly_rate for (region, _, option), offer in found.items()}
    assert rates == {
        ("sea", "on_demand"): Decimal("23.92"), ("sea", "monthly"): Decimal("23.92"), ("sea", "spot"): Decimal("18.4"),
        ("sao", "on_demand"): 26, ("sao", "monthly"): 26, ("sao", "spot"): 20,
    }  # fmt: skip
    assert h100(location_cost=[]).keys() == h100().keys()


def test_what_is_not_sold_preemptible_has_no_spot():
    assert {option for _, _, option in h100(deploy_preemptible=False)} == {"on_demand", "monthly"}
    assert {option for _, _, option in h100(deploy_ondemand=False, deploy_preemptible=True)} == {"spot"}


def test_virtual_dedicated_metal_is_read():
    found = by_key()
    h100s, b200s, mi355xs = (found["ewr", plan, "on_demand"].machine for plan in VDM)
    assert (h100s.accelerator, h100s.accelerators, h100s.vcpus) == ("H100", 8, 216)
    assert (b200s.accelerator, b200s.accelerators, b200s.accelerator_memory_gib) == ("B200", 8, 180)
    assert (mi355xs.accelerator, mi355xs.accelerators, mi355xs.accelerator_memory_gib) == ("MI355X", 8, 288)


VDM = ("vcg-h100-216c-1914gb-640vram", "vcg-b200-248c-2826g-1536vram", "vcg-mi355x-252c-2872g-2304vram")


def test_preemptible_is_spot():
    assert by_key()["sea", "vbm-112c-2048gb-8-h100-gpu", "spot"].hourly_rate == Decimal("18.4")
    assert ("ewr", "vcg-a100-12c-120g-80vram", "spot") not in by_key()


def test_fractions_of_an_accelerator_and_plans_without_one_are_no_offers():
    kinds = {kind for _, kind, _ in by_key()}
    assert kinds == {
        *VDM,
        "vbm-112c-2048gb-8-h100-gpu",
        "vbm-64c-2048gb-8-l40-gpu",
        "vcg-a100-12c-120g-80vram",
        "vcg-a16-96c-960g-256vram",
    }


def test_a_plan_named_after_the_l40_holds_l40s():
    machine = by_key()["unspecified", "vbm-64c-2048gb-8-l40-gpu", "on_demand"].machine
    assert (machine.accelerator, machine.accelerators) == ("L40S", 8)


def test_many_small_accelerators_are_counted_by_their_memory():
    machine = by_key()["ewr", "vcg-a16-96c-960g-256vram", "on_demand"].machine
    assert (machine.accelerator, machine.accelerators, machine.accelerator_memory_gib) == ("A16", 16, 16)


def test_what_the_plan_does_not_say_is_not_guessed():
    reasons = [gap.reason for gap in offers(plans(), NOW).gaps]
    assert reasons == [
        "plans that don't say SXM or PCIe left out: vbm-112c-2048gb-8-a100-gpu",
        "virtual dedicated metal not known here left out: vcg-mi325x-252c-2872g-1536vram",
    ]


def test_a_plan_that_is_not_sold_on_demand_keeps_its_preemptible_price():
    [plan, *_] = plans()
    found = offers([{**plan, "deploy_ondemand": False}], NOW).offers
    assert [offer.purchase_option.value for offer in found] == ["spot"]


def test_a_plan_that_no_place_has_is_flagged():
    [plan, *_] = plans()
    found = offers([{**plan, "locations": [""]}], NOW).offers
    assert {(offer.region, offer.flags) for offer in found} == {("unspecified", ("no_capacity",))}


@pytest.mark.parametrize(("status", "taken"), [(404, True), (500, False)])
def test_a_list_that_is_gone_is_a_fault_and_one_that_fails_is_a_failure(httpserver, status, taken):
    httpserver.expect_request("/v2/plans-metal").respond_with_data(recorded("vultr/plans_metal.json"))
    httpserver.expect_request("/v2/plans").respond_with_data("", status=status)
    if taken:
        assert any("404" in gap.reason for gap in RECORDED["vultr"].collect(httpserver.url_for("")).faults)
    else:
        with pytest.raises(SourceError, match="500"):
            RECORDED["vultr"].collect(httpserver.url_for(""))


def test_pages_are_followed(httpserver):
    metal, cloud = json.loads(recorded("vultr/plans_metal.json")), json.loads(recorded("vultr/plans.json"))
    first = {"plans_metal": metal["plans_metal"][2:], "meta": {"links": {"next": "bmV4dA=="}}}
    query = {"per_page": "500", "cursor": "bmV4dA=="}
    httpserver.expect_request("/v2/plans-metal", query_string=query).respond_with_json(metal)
    httpserver.expect_request("/v2/plans-metal").respond_with_json(first)
    httpserver.expect_request("/v2/plans").respond_with_json(cloud)
    collected = RECORDED["vultr"].collect(httpserver.url_for(""))
    assert "vbm-112c-2048gb-8-h100-gpu" in {offer.instance_type for offer in collected.offers}
