"""Figures the packaged prices must keep: April 2018, the cuts of 2025, and how much there is per provider."""

import csv
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest
from packaged_tables import matching, rate, rates, table
from support.stores import packaged_edition

from costcalc.catalogue.catalogue import OfferFilter
from pricing.packaged.catalogue import packaged_catalogue

LEFT_OUT = Path(__file__).with_name("left_out.csv")  # rates that were read and not packaged


@pytest.fixture(scope="module")
def offers():
    return table("offers.csv")


@pytest.fixture(scope="module")
def loaded():
    return packaged_edition().offers


P3_8XLARGE = {"provider": "aws", "region": "us-east-1", "instance_type": "p3.8xlarge"}


def test_prices_of_april_2018(offers):
    assert rates(offers, **P3_8XLARGE, purchase_option="on_demand")["2017-11-12"] == Decimal("12.24")
    reserved = rates(offers, **P3_8XLARGE, purchase_option="reserved", term="1y", payment="no_upfront")
    assert reserved["2017-11-12"] == Decimal("8.354")
    p3 = rates(offers, provider="aws", region="us-east-1", instance_type="p3.16xlarge", purchase_option="on_demand")
    assert p3["2017-11-12"] == Decimal("24.48")
    rented = rates(offers, provider="cirrascale", region="us", instance_type="4x V100")
    assert rented == {"2018-04-26": Decimal("10.27397260274")}


def test_the_cloud_tpu_of_2018_is_the_tpu_and_its_host(offers):
    seen = {row["observed_at"]: row for row in offers if row["instance_type"] == "v2-8" and row["region"] == "us"}
    assert {day: row["hourly_rate"] for day, row in seen.items()} == {
        "2018-02-12": "6.69", "2018-03-25": "6.69", "2018-09-29": "4.69",
    }  # fmt: skip
    assert seen["2018-03-25"]["parts"] == "Cloud TPU v2-8=6.5;host n1-standard-4=0.19"


@pytest.mark.parametrize(
    ("instance_type", "before", "after"),
    [("p4d.24xlarge", "32.7726", "21.957642"), ("p5.48xlarge", "98.32", "55.04"), ("p5en.48xlarge", "84.8", "63.296")],
)
def test_the_cuts_of_june_2025_are_history(offers, instance_type, before, after):
    seen = rates(offers, provider="aws", region="us-east-1", instance_type=instance_type, purchase_option="on_demand")
    assert (seen["2025-04-28"], seen["2025-06-23"]) == (Decimal(before), Decimal(after))


@pytest.mark.parametrize(
    ("provider", "instance_type", "region", "on_demand"),
    [
        ("azure", "Standard_ND40rs_v2", "eastus", "22.032"),
        ("gcp", "a2-highgpu-1g", "us-central1", "3.673385"),
        ("aws", "p2.8xlarge", "us-east-1", "7.2"),
        ("aws", "g3.16xlarge", "us-east-1", "4.56"),
        ("alibaba", "ecs.gn6e-c12g1.24xlarge", "unspecified", "20.6"),
        ("lambda", "gpu_8x_h100_sxm5", "any", "31.92"),
    ],
)
def test_rates_known_from_the_providers(offers, provider, instance_type, region, on_demand):
    seen = rates(offers, provider=provider, instance_type=instance_type, region=region, purchase_option="on_demand")
    assert Decimal(on_demand) in seen.values()


def test_the_six_reservations_of_2018_are_known(offers):
    wanted = {**P3_8XLARGE, "purchase_option": "reserved", "observed_at": "2018-03-19"}
    assert {(row["term"], row["payment"]): row["hourly_rate"] for row in matching(offers, **wanted)} == {
        ("1y", "all_upfront"): "7.797", ("1y", "partial_upfront"): "7.956", ("1y", "no_upfront"): "8.354",
        ("3y", "all_upfront"): "4.637", ("3y", "partial_upfront"): "4.932", ("3y", "no_upfront"): "5.327",
    }  # fmt: skip


def test_a_series_says_each_change_and_is_seen_every_year(offers):
    a2 = {"provider": "gcp", "region": "us-central1", "instance_type": "a2-highgpu-1g"}
    spot = rates(offers, **a2, purchase_option="spot")
    assert [spot[day] for day in ("2023-05-08", "2023-06-22", "2023-08-10")] == [
        Decimal("1.1020155"), Decimal("1.21219"), Decimal("1.45467"),
    ]  # fmt: skip
    seen = sorted(date.fromisoformat(day[:10]) for day in rates(offers, **a2, purchase_option="on_demand"))
    assert max(later - earlier for earlier, later in pairwise(seen)) <= timedelta(days=400)


def test_lists_that_left_out_the_local_ssd_are_no_rates(offers):
    with_ssd = [row for row in offers if row["instance_type"].startswith(("a2-ultragpu-", "a3-highgpu-"))]
    assert min(row["observed_at"] for row in with_ssd) >= "2024-05-21"


def test_what_a_list_dropped_has_ended():
    prices, wanted = packaged_catalogue(), OfferFilter(provider=("floydhub",))
    there = [
        len(prices.allowed_rows(prices.current_offers(datetime(2021, month, 20, tzinfo=UTC)), wanted))
        for month in (5, 11, 12)
    ]
    assert there == [1, 0, 0]


def test_an_azure_reservation_is_a_total_for_the_term(offers):
    wanted = {"provider": "azure", "instance_type": "Standard_ND96isr_H100_v5", "purchase_option": "reserved"}
    upfront = {row["term"]: row["upfront"] for row in matching(offers, **wanted)}
    assert upfront == {"1y": "551221", "3y": "1134310", "5y": "1722566"}


def test_the_2080_ti_box_of_2020():
    box = next(row for row in table("owned.csv") if row["machine"] == "RTX 2080 Ti box")
    fee = Decimal(box["price"]) * (1 - Decimal(box["residual_share"]))
    power = Decimal(box["power_kw"]) * Decimal("0.15")
    at_a_tenth = fee / (8760 * int(box["lifetime_years"]) * Decimal("0.1")) + power
    assert (box["price"], round(at_a_tenth, 2)) == ("2350", Decimal("0.74"))


def test_suspect_rates_stay_out(offers):
    assert not [row for row in offers if rate(row) == 700]
    v6e = {"provider": "gcp", "instance_type": "v6e-1", "region": "us-east5", "purchase_option": "on_demand"}
    assert set(rates(offers, **v6e).values()) == {Decimal("2.7")}
    [answered] = matching(offers, **v6e | {"region": "us-south1"})
    assert answered["source"].startswith("Google Cloud Billing Catalog API, SKU 2549-F208-72FA")
    assert not [
        row for row in offers if row["provider"] == "together" and row["instance_type"] == "8x H100" and not row["term"]
    ]
    preview = rates(offers, provider="azure", instance_type="Standard_ND40s_v2")  # it ended in 2020
    assert {*preview} == {"2019-04-13"}


# How much there is, so that nothing goes missing unnoticed

AT_LEAST = {"aws": 3930, "azure": 530, "gcp": 7310, "lambda": 43, "cirrascale": 17, "runpod": 40, "oci": 17, "verda": 39,
            "jarvislabs": 40, "crusoe": 19, "vultr": 11, "digitalocean": 16, "civo": 17, "gcore": 10}  # fmt: skip


def test_no_provider_shrinks(offers):
    counts = Counter(row["provider"] for row in offers)
    assert {name: counts[name] for name, least in AT_LEAST.items() if counts[name] < least} == {}
    assert len(counts) >= 55


def test_every_purchase_option_is_there(offers):
    options = {"on_demand", "spot", "reserved", "savings_plan", "committed_use", "capacity_block", "monthly"}
    assert {row["purchase_option"] for row in offers} == options
    assert {row["currency"] for row in offers} == {"USD", "EUR"}


def test_what_is_left_out_says_why():
    left = list(csv.DictReader(LEFT_OUT.read_text(encoding="utf-8").splitlines()))
    assert len(left) > 900
    assert all(row["reason"] and row["source"] and row["provider"] for row in left)


def test_the_loader_takes_every_row(offers, loaded):
    assert len(loaded) == len(offers) + len(table("owned.csv")) + len(table("free_tiers.csv"))
    tpu = next(o for o in loaded if o.instance_type == "v2-8" and o.observed_at == datetime(2018, 3, 25, tzinfo=UTC))
    assert (tpu.hourly_rate, len(tpu.parts), tpu.machine.accelerators) == (Decimal("6.69"), 2, 4)
