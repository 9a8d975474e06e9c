from decimal import Decimal
from itertools import permutations

import pytest
from fakes.gcp import sku

from costcalc.offer import PurchaseOption
from pricing.sources.gcp.skus import ON_DEMAND, SPOT, Skipped, SkipReason, Sku, Use, rate_book, read_sku

ONE_YEAR, THREE_YEARS = (Use(PurchaseOption.COMMITTED_USE, term) for term in ("1y", "3y"))
MEGA = "nvidia-h100-mega-80gb"


@pytest.mark.parametrize(
    ("description", "usage", "part", "use"),
    [
        ("A2 Instance Core running in Americas", "OnDemand", "A2 vCPU", ON_DEMAND),
        ("N1 Predefined Instance Core running in Sao Paulo", "OnDemand", "N1 vCPU", ON_DEMAND),
        ("Spot Preemptible A3 Instance Core running in Iowa", "Preemptible", "A3 vCPU", SPOT),
        ("Preemptible N1 Predefined Instance Core running in Iowa", "Preemptible", "N1 vCPU", SPOT),
        ("Commitment v1: A2 Cpu in APAC for 1 Year", "Commit1Yr", "A2 vCPU", ONE_YEAR),
        ("Commitment v1: Cpu in Americas for 3 Years", "Commit3Yr", "N1 vCPU", THREE_YEARS),
        ("A3Ultra Instance Core running in Belgium", "OnDemand", "A3Ultra vCPU", ON_DEMAND),
        ("Nvidia Tesla A100 GPU running in Americas", "OnDemand", "nvidia-tesla-a100", ON_DEMAND),
        ("Nvidia Tesla A100 80GB GPU running in Americas", "OnDemand", "nvidia-a100-80gb", ON_DEMAND),
        (
            "Nvidia Tesla T4 GPU attached to Spot Preemptible VMs running in Iowa",
            "Preemptible",
            "nvidia-tesla-t4",
            SPOT,
        ),
        ("Nvidia Tesla K80 GPU attached to preemptible VMs running in Iowa", "Preemptible", "nvidia-tesla-k80", SPOT),
        ("Commitment v1: Nvidia Tesla V100 GPU running in Iowa for 1 Year", "Commit1Yr", "nvidia-tesla-v100", ONE_YEAR),
        ("Nvidia H100 80GB GPU running in Americas", "OnDemand", "nvidia-h100-80gb", ON_DEMAND),
        ("Nvidia H100 80GB Mega GPU running in Frankfurt", "OnDemand", MEGA, ON_DEMAND),
        ("Nvidia H100 Mega 80GB GPU running in Frankfurt", "OnDemand", MEGA, ON_DEMAND),
        ("Nvidia H100 80GB Plus GPU running in Americas", "OnDemand", MEGA, ON_DEMAND),
        ("H200 141GB GPU running in Belgium", "OnDemand", "nvidia-h200-141gb", ON_DEMAND),
        ("A4 Nvidia B200 (1 gpu slice) running in Americas", "OnDemand", "nvidia-b200", ON_DEMAND),
        ("Spot Preemptible A4 Nvidia B200 (1 gpu slice) running in Americas", "OnDemand", "nvidia-b200", SPOT),
        ("Commitment v1: A4 Nvidia B200 (1 gpu slice) in Americas for 1 Year", "Commit1Yr", "nvidia-b200", ONE_YEAR),
        ("RTX 6000 96GB running in Oregon", "OnDemand", "nvidia-rtx-pro-6000", ON_DEMAND),
        ("TpuV5e running in Delhi", "OnDemand", "TPU v5e", ON_DEMAND),
        ("TpuV5e attached to Spot Preemptible VMs running in Singapore", "Preemptible", "TPU v5e", SPOT),
        ("Commitment v1: TpuV5p running in Netherlands for 3 Years", "Commit3Yr", "TPU v5p", THREE_YEARS),
        ("TPU7x running in Americas", "OnDemand", "TPU 7x", ON_DEMAND),
        ("TPU-v2 Accelerator USA", "OnDemand", "TPU v2", ON_DEMAND),
        ("Preemptible Tpu-v3 Pod Accelerator Europe", "OnDemand", "TPU v3 pod", SPOT),
        ("Tpu-v4 Pod Accelerator USA", "OnDemand", "TPU v4 pod", ON_DEMAND),
    ],
)
def test_what_a_description_prices_and_how_it_is_bought(description, usage, part, use):
    read = read_sku(sku(description, usage, "1.25", ["us-central1"]))
    assert isinstance(read, Sku), read
    assert (read.part, read.use, read.hourly, read.regions) == (part, use, Decimal("1.25"), ("us-central1",))


@pytest.mark.parametrize(
    ("description", "usage"),
    [
        ("Reserved Nvidia H100 80GB Mega GPU in Americas in Calendar Mode", "OnDemand"),
        ("Reserved TpuV5p in Delhi in Calendar Mode", "OnDemand"),
        ("Nvidia L4 GPU attached to DWS Defined Duration VMs running in Frankfurt", "OnDemand"),
        ("DWS Calendar Mode A4 Nvidia B200 (1 gpu slice) in Americas", "OnDemand"),
        ("Capacity Optimized TpuV6e running in Columbus", "OnDemand"),
        ("A2 Sole Tenancy Instance Core running in Turin", "OnDemand"),
        ("Sole Tenancy Premium for A2 Instance Core running in Turin", "OnDemand"),
        ("Committed Use Discount Premium for A2 Instance Core running in Turin", "CmtCudPremium"),
        ("N1 Custom Instance Core running in Turin", "OnDemand"),
        ("Custom Instance Core running in Turin", "OnDemand"),
        ("G2 Instance Core suspended in Turin", "OnDemand"),
        ("Commitment - dollar based v1: A2 Cpu for 1 Year", "Commit1Yr"),
        ("Commitment v1: A2 Cpu in Turin for 5 Years", "Commit"),
        ("Commitment v1: A2 Cpu in Turin for 5 Years", "Commit5Yr"),
        ("Upgrade Premium for Nvidia Tesla A100 GPU running in Turin", "OnDemand"),
        ("Commitment v1: A2 Cpu in Turin for 1 Year", "OnDemand"),
        ("A2 Instance Core running in Turin", "Commit1Yr"),
        ("E2 Instance Core running in Turin", "OnDemand"),
        ("Compute optimized Core running in Turin", "OnDemand"),
        ("Licensing Fee for Windows Server on VM with A2 Instance Core", "OnDemand"),
    ],
)
def test_other_things_and_other_ways_to_buy_stay_out(description, usage):
    assert read_sku(sku(description, usage, "1.25", ["us-central1"])) == Skipped(SkipReason.NOT_OURS)


@pytest.mark.parametrize("description", ["Nvidia Rubin R100 GPU running in Iowa", "TPU8t running in Americas"])
def test_an_accelerator_that_is_not_known_is_named_not_guessed(description):
    assert read_sku(sku(description, "OnDemand", "1", ["us-central1"])) == Skipped(
        SkipReason.UNKNOWN, description.partition(" running")[0]
    )


@pytest.mark.parametrize(
    ("unit", "hourly"),
    [("GiBy.mo", Decimal("0.08") / 730), ("GiBy.h", Decimal("0.08"))],
)
def test_a_local_ssd_is_priced_by_the_month_or_the_hour(unit, hourly):
    read = read_sku(sku("SSD backed Local Storage", "OnDemand", "0.08", ["us-central1"], unit))
    assert isinstance(read, Sku)
    assert read.hourly == hourly


def test_units_and_nanos_may_be_absent_and_a_free_first_tier_is_passed_over():
    listed = sku("TpuV6e running in Dallas", "OnDemand", "2.7", ["us-south1"])
    listed["pricingInfo"][0]["pricingExpression"]["tieredRates"] = [
        {"startUsageAmount": 10, "unitPrice": {"currencyCode": "USD", "nanos": 700000000}},
        {"unitPrice": {"currencyCode": "USD"}},
        {"startUsageAmount": 20, "unitPrice": {"currencyCode": "USD", "units": "3"}},
    ]
    read = read_sku(listed)
    assert isinstance(read, Sku)
    assert read.hourly == Decimal("0.7")


def test_the_last_of_several_price_infos_holds_and_regions_may_stand_in_the_taxonomy():
    listed = sku("TpuV6e running in Dallas", "OnDemand", "2.7", [], geoTaxonomy={"regions": ["us-south1"]})
    newer = sku("", "", "2.9", [])["pricingInfo"]
    listed["pricingInfo"] += newer
    read = read_sku(listed)
    assert isinstance(read, Sku)
    assert (read.hourly, read.regions) == (Decimal("2.9"), ("us-south1",))


def _changed(change):
    listed = sku("TpuV6e running in Dallas", "OnDemand", "2.7", ["us-south1"])
    change(listed, listed["pricingInfo"][0]["pricingExpression"])
    return read_sku(listed)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda _, e: e["tieredRates"][0]["unitPrice"].update(currencyCode="IDR"), SkipReason.OTHER_CURRENCY),
        (lambda _, e: e["tieredRates"][0]["unitPrice"].update(units="0", nanos=0), SkipReason.FREE),
        (lambda _, e: e["tieredRates"][0]["unitPrice"].update(units="-3"), SkipReason.UNREADABLE),
        (lambda _, e: e["tieredRates"][0]["unitPrice"].update(units="NaN"), SkipReason.UNREADABLE),
        (lambda _, e: e["tieredRates"][0]["unitPrice"].update(units="two"), SkipReason.UNREADABLE),
        (lambda _, e: e.update(tieredRates=[]), SkipReason.UNREADABLE),
        (lambda _, e: e.update(usageUnit="d"), SkipReason.UNREADABLE),
        (lambda _, e: e.update(usageUnit="GiBy.h"), SkipReason.UNREADABLE),
        (lambda s, _: s.update(pricingInfo=[]), SkipReason.UNREADABLE),
        (lambda s, _: s.update(pricingInfo="none"), SkipReason.UNREADABLE),
        (lambda s, _: s.update(serviceRegions=[]), SkipReason.UNREADABLE),
        (lambda s, _: s.update(description=None), SkipReason.UNREADABLE),
        (lambda s, _: s.update(category=None), SkipReason.NOT_OURS),
    ],
)
def test_a_sku_without_a_readable_price_gives_none(change, why):
    read = _changed(change)
    assert isinstance(read, Skipped)
    assert read.why is why


def test_two_skus_that_differ_are_reported_and_the_dearer_wins_in_any_order():
    skus = [
        Sku("a", MEGA, ON_DEMAND, Decimal("10.34"), ("us-central1", "us-east4")),
        Sku("b", MEGA, ON_DEMAND, Decimal("10.52"), ("us-east4",)),
        Sku("c", MEGA, SPOT, Decimal("3"), ("us-east4",)),
    ]
    for order in permutations(skus):
        book = rate_book(order)
        assert book.rate(MEGA, ON_DEMAND, "us-east4").sku_id == "b"
        assert book.rate(MEGA, ON_DEMAND, "us-central1").hourly == Decimal("10.34")
        assert book.contradictions == (MEGA,)
        assert book.regions == ("us-central1", "us-east4")
