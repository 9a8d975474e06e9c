"""Answers of providers that other projects kept as they were, which nobody here wrote: each file names its origin and licence."""

import json
import re
from datetime import timedelta
from decimal import Decimal

import pytest
from support.recorded_sources import NOW, RECORDINGS, recorded

from costcalc.hardware import Machine
from costcalc.offer import Offer
from pricing.sources.aws.price_list import described_machines
from pricing.sources.aws.services import spot_offers
from pricing.sources.azure import source as azure
from pricing.sources.catalogues.skypilot import cloud_offers
from pricing.sources.common.listing import Listing
from pricing.sources.gcp.skus import ON_DEMAND, Skipped, rate_book, read_sku
from pricing.sources.small_clouds import digitalocean, hetzner, lambda_cloud, oci, runpod, vast, verda, vultr

ORIGIN = re.compile(r"^[\w.-]+/[\w.-]+@\w+ .*; (Apache-2\.0|MIT|MPL-2\.0|CC-BY-4\.0|no licence\b.*figures only)")


def kept(name):
    """The body of an answer."""
    return json.loads(recorded(name), parse_float=Decimal)["body"]


def rates(offers: tuple[Offer, ...]) -> dict[tuple[str, str], Decimal]:
    """The rate of each machine, by its name and how it is bought."""
    return {(each.instance_type, each.purchase_option.value): each.hourly_rate for each in offers}


KEPT = sorted(RECORDINGS.glob("*/*_kept_by_*.json"))


def test_most_sources_are_tested_on_answers_that_others_kept():
    assert {file.parent.name for file in KEPT} == {
        *("aws", "azure", "gcp", "oci"),
        *("digitalocean", "hetzner", "lambda", "runpod", "skypilot", "vast", "verda", "vultr"),
    }


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.parent.name)
def test_its_origin_and_licence_are_stated(file):
    [origin] = json.loads(file.read_text("utf-8"))["origin"]
    assert ORIGIN.match(origin), origin


def test_a_page_of_googles_catalogue_makes_the_published_rate_of_an_a100():
    read = [read_sku(row) for row in kept("gcp/skus_kept_by_opencost.json")["skus"]]
    rates = rate_book(sku for sku in read if not isinstance(sku, Skipped))
    sizes = {"A2 vCPU": 12, "A2 GiB": 85, "nvidia-tesla-a100": 1}
    parts = {part: rates.rate(part, ON_DEMAND, "us-central1") for part in sizes}
    assert sum(rate.hourly * sizes[part] for part, rate in parts.items()) == Decimal("3.673385")
    assert sum(isinstance(sku, Skipped) for sku in read) == 4, "those that are priced in another currency"


def test_googles_tpus_of_june_2026_are_all_priced():
    read = [read_sku(row) for row in kept("gcp/tpu_skus_kept_by_public_pricing.json")["skus"]]
    priced = [sku for sku in read if not isinstance(sku, Skipped)]
    assert len(read) - len(priced) == 1, "the reservation by the calendar"
    found = {(sku.part, region): sku.hourly for sku in priced for region in sku.regions if sku.use == ON_DEMAND}
    assert found["TPU v5e", "asia-south2"] == Decimal("1.44132")


def test_oracles_list_prices_every_accelerator_that_it_names():
    found = oci.offers(kept("oci/products_kept_by_opencost.json"), NOW)
    on_demand = {
        offer.instance_type: offer.hourly_rate for offer in found.offers if offer.purchase_option == "on_demand"
    }
    wanted = {"BM.GPU2.2": "2.55", "VM.GPU2.1": "1.275", "VM.GPU3.1": "2.95", "BM.GPU4.8": "24.4", "BM.GPU.A100-v2.8": "32",
              "VM.GPU.A10.1": "2", "BM.GPU.H100.8": "80"}  # fmt: skip
    assert {name: on_demand[name] for name in wanted} == {name: Decimal(rate) for name, rate in wanted.items()}
    assert not found.gaps


def test_awss_description_of_a_machine():
    rows = kept("aws/instance_types_kept_by_instance_selector.json")["InstanceTypes"]
    machines = described_machines(rows, {})
    assert machines == {"t3.micro": None, "p3.16xlarge": Machine("V100", 8, 16.0, 64, 488.0)}


def test_awss_newest_spot_price_of_the_cheapest_zone():
    rows = kept("aws/spot_prices_kept_by_instance_selector.json")
    machine = Machine("Xeon", 0, vcpus=2, memory_gib=8.0)
    [offer] = spot_offers(rows, "us-east-1", lambda _: machine, Listing("aws", "spot", NOW))
    newest = {
        zone: max((row["Timestamp"], row["SpotPrice"]) for row in rows if row["AvailabilityZone"] == zone)
        for zone in {row["AvailabilityZone"] for row in rows}
    }
    assert offer.hourly_rate == min(Decimal(rate) for _, rate in newest.values())
    assert offer.effective_from + timedelta(days=365) < NOW


def test_azures_rates_reservations_and_savings_plans(monkeypatch):
    monkeypatch.setattr(azure, "N_SERIES", "Standard_")  # the kept ones have no accelerators
    quotes = [each for row in kept("azure/retail_items_kept_by_others.json") for each in azure.read_item(row, NOW)]
    found = [(each.instance_type, each.option.value, each.term, each.amount) for each in quotes]
    assert found == [
        ("Standard_B16als_v2", "on_demand", None, Decimal("0.673")),
        ("Standard_B16als_v2", "savings_plan", "3y", Decimal("0.34323")),
        ("Standard_B16als_v2", "savings_plan", "1y", Decimal("0.49129")),
        ("Standard_B16als_v2", "reserved", "1y", Decimal(3478)),
        ("Standard_E64_v4", "reserved", "1y", Decimal(25007)),
    ]


def test_lambdas_types_and_which_can_be_rented_where():
    found = lambda_cloud.offers(kept("lambda/instance_types_kept_by_inference_plane.json"), NOW)
    assert rates(found.offers) == {
        ("gpu_1x_a100_sxm4", "on_demand"): Decimal("1.99"),
        ("gpu_1x_gh200", "on_demand"): Decimal("2.29"),
        ("gpu_1x_h100_sxm5", "on_demand"): Decimal("4.29"),
    }
    assert not found.gaps


def test_vultrs_plans():
    found = vultr.offers(kept("vultr/plans_kept_by_gpuhunt.json"), NOW)
    on_demand = {name: rate for (name, option), rate in rates(found.offers).items() if option == "on_demand"}
    assert on_demand["vbm-112c-2048gb-8-h100-gpu"] == Decimal("23.92")
    assert on_demand["vbm-256c-2048gb-8-mi300x-gpu"] == Decimal("17.52")
    assert on_demand["vcg-a100-12c-120g-80vram"] == Decimal("2.397")
    assert "vcg-a100-1c-6g-4vram" not in on_demand, "a fraction of an accelerator"


def test_digitaloceans_sizes():
    found = digitalocean.offers(kept("digitalocean/sizes_kept_by_gpuhunt.json"), NOW)
    assert rates(found.offers) == {
        ("gpu-h100x8-640gb", "on_demand"): Decimal("23.92"),
        ("gpu-h100x8-640gb", "monthly"): Decimal("23.92"),
        ("gpu-mi300x8-1536gb", "on_demand"): Decimal("15.92"),
        ("gpu-mi300x8-1536gb", "monthly"): Decimal("15.92"),
    }


def test_verdas_instance_types():
    found = verda.offers(kept("verda/instance_types_kept_by_gpuhunt.json"), NOW)
    assert rates(found.offers) == {
        ("1H100.80S.30V", "on_demand"): Decimal("3.95"),
        ("1H100.80S.30V", "spot"): Decimal("1.70"),
        ("2A6000.20V", "on_demand"): Decimal("1.98"),
        ("2A6000.20V", "spot"): Decimal("0.70"),
        ("1V100.6V", "on_demand"): Decimal("0.89"),
        ("1V100.6V", "spot"): Decimal("0.25"),
    }


def test_vasts_hosts():
    found = vast.offers(kept("vast/bundles_kept_by_gpu_index.json"), NOW)
    [on_demand, spot] = (each for each in found.offers if each.machine.accelerator == "H100")
    assert (on_demand.instance_type, on_demand.region) == ("1x H100", "us")
    assert round(on_demand.hourly_rate, 4) == round(spot.hourly_rate, 4) == Decimal("1.7356"), (
        "the lowest bid is the price"
    )
    assert {each.machine.accelerator for each in found.offers} == {"H100", "H200-NVL"}, "known by its data sheet's name"
    assert found.gaps == ()


def test_hetzners_server_costs_a_month_and_its_setup():
    found = hetzner.offers(kept("hetzner/configurations_kept_by_public_pricing.json"), NOW)
    assert {(each.region, each.monthly, each.upfront) for each in found.offers} == {
        ("hel1", Decimal("3808.3000"), Decimal("2912.0000")),
        ("fsn1", Decimal("3818.3000"), Decimal("2912.0000")),
    }
    assert {each.region for each in found.offers if "available" in each.flags} == {"hel1"}


def test_runpods_prices_of_zero_are_unknown_and_spot_that_equals_on_demand_is_none():
    found = runpod.offers(kept("runpod/gpu_types_kept_by_gpu_index.json"), NOW)
    assert rates(found.offers) == {
        ("1x MI300X secure", "on_demand"): Decimal("2.39"),
        ("1x MI300X community", "on_demand"): Decimal("0.5"),
        ("1x A100-40GB community", "on_demand"): Decimal("1"),
        ("1x B200 secure", "on_demand"): Decimal("6.79"),
        ("1x B200 community", "on_demand"): Decimal("5.98"),
        ("1x RTX 4090 secure", "on_demand"): Decimal("0.74"),
        ("1x RTX 4090 community", "on_demand"): Decimal("0.34"),
        ("1x H100 secure", "on_demand"): Decimal("3.29"),
        ("1x H100 community", "on_demand"): Decimal("2.69"),
        ("1x L40S secure", "on_demand"): Decimal("0.99"),
        ("1x L40S community", "on_demand"): Decimal("0.79"),
    }


def test_skypilots_rows_of_four_clouds():
    rows = kept("skypilot/vms_kept_by_skypilot_catalog.json")
    found = [
        cloud_offers("\n".join(rows[cloud]).encode(), cloud, NOW)
        for cloud in ("jarvislabs", "nebius", "yotta", "daytona")
    ]
    assert [gap.reason for each in found for gap in each.gaps] == [
        "machines that don't say SXM or PCIe left out: daytona 8x-H100"
    ]
    small = [*found[2].offers, *found[3].offers]
    assert [(each.provider, each.machine.accelerator, str(each.hourly_rate)) for each in small] == [
        ("yotta", "RTX 5090", "0.65"), ("daytona", "B300", "72.9856"), ("daytona", "B300", "42.0"),
    ]  # fmt: skip
    assert {(each.region, each.instance_type): each.hourly_rate for each in found[0].offers} == {
        ("india-noida-01", "1x_L4_28V_124G"): Decimal("0.44"),
        ("india-chennai-01", "8x_RTXPRO6000_224V_1280G"): Decimal("17.52"),
        ("india-noida-01", "8x_H100_192V_1600G"): Decimal("27.92"),
    }
    nebius = rates(found[1].offers)
    assert nebius["gpu-h100-sxm_8gpu-128vcpu-1600gb", "on_demand"] == Decimal("23.60")
    assert nebius["gpu-h100-sxm_8gpu-128vcpu-1600gb", "spot"] == Decimal("10.00")
    assert nebius["gpu-b200-sxm_8gpu-160vcpu-1792gb", "on_demand"] == Decimal("44.00")
