"""What the packaged prices promise: keys, dates, sources, and sane relations between rates."""

import re
from collections import defaultdict
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from packaged_tables import TABLES, canonical_accelerators, rate, table

from costcalc.offer import OFF_MARKET, PurchaseOption
from pricing.market import market
from pricing.packaged.catalogue import packaged_catalogue
from pricing.sources.gcp.machines import sold

NEWEST = max(date(2026, 11, 20), datetime.now(UTC).date())
CHEAPER = {
    PurchaseOption.SPOT,
    PurchaseOption.RESERVED,
    PurchaseOption.SAVINGS_PLAN,
    PurchaseOption.COMMITTED_USE,
    PurchaseOption.CAPACITY_BLOCK,
}
NOVEMBER = datetime(2026, 11, 22, tzinfo=UTC)
KEY = ["provider", "region", "instance_type", "purchase_option", "term", "payment", "offering_class", "observed_at"]


@pytest.fixture(scope="module")
def offers():
    return table("offers.csv")


@pytest.fixture(scope="module")
def machines():
    return {(row["provider"], row["instance_type"]): row for row in table("instance_types.csv")}


def grouped(offers, *cells):
    groups = defaultdict(list)
    for row in offers:
        if "ended" not in row["flags"]:
            groups[tuple(row[cell] for cell in cells)].append(row)
    return groups.values()


@pytest.fixture(scope="module")
def current():
    """The offers that are current in the newest packaged prices."""
    prices = packaged_catalogue()
    return list(map(prices.offer, prices.current_offers(NOVEMBER).listed.tolist()))


def rented(offer):
    return offer.provider, offer.region, offer.instance_type, offer.currency


def test_a_table_of_prices_ships_only_if_the_package_reads_it():
    package = Path(__file__).parents[3] / "pricing"
    code = "".join(path.read_text("utf-8") for path in package.rglob("*.py"))
    assert [file.name for file in TABLES.iterdir() if f'"{file.name}"' not in code] == []


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("offers.csv", KEY),
        ("instance_types.csv", ["provider", "instance_type"]),
        ("providers.csv", ["provider", "family"]),
        ("owned.csv", ["machine", "observed_at"]),
        ("free_tiers.csv", ["provider", "instance_type", "observed_at"]),
    ],
)
def test_keys_are_unique_and_rows_sorted(name, key):
    keys = [tuple(row[cell] for cell in key) for row in table(name)]
    assert len(set(keys)) == len(keys)
    assert keys == sorted(keys)


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("offers.csv", "observed_at"),
        ("providers.csv", "observed_on"),
        ("owned.csv", "observed_at"),
        ("free_tiers.csv", "observed_at"),
    ],
)
def test_every_row_has_a_source_and_a_past_date(name, cell):
    for row in table(name):
        assert row["source"].strip()
        assert date(2016, 1, 1) <= date.fromisoformat(row[cell][:10]) <= NEWEST


def test_an_offer_starts_no_later_than_it_was_seen(offers):
    assert all(row["effective_from"] <= row["observed_at"] for row in offers)


def test_rates_are_positive_and_in_a_currency(offers):
    assert all(rate(row) > 0 and re.fullmatch("[A-Z]{3}", row["currency"]) for row in offers)


def test_parts_add_up_to_the_rate(offers):
    composed = [row for row in offers if row["parts"]]
    assert composed
    for row in composed:
        assert abs(sum(Decimal(part.rpartition("=")[2]) for part in row["parts"].split(";")) - rate(row)) < Decimal(
            "1e-9"
        )


def test_commitments_have_a_term_and_the_rest_has_none(offers):
    for row in offers:
        assert bool(row["term"]) == (row["purchase_option"] not in {"on_demand", "spot"}), row


def test_a_month_is_spread_over_its_own_hours(offers):
    rented = [row for row in offers if row["purchase_option"] == "monthly"]
    assert {row["hours_in_month"] for row in rented} == {"672", "730", "744"}
    for row in rented:
        assert abs(Decimal(row["monthly"]) / int(row["hours_in_month"]) - rate(row)) < Decimal("1e-9")


def test_an_upfront_total_is_spread_over_its_term(offers):
    paid = [row for row in offers if row["payment"] == "all_upfront" and row["upfront"]]
    assert len(paid) >= 7
    for row in paid:
        assert abs(Decimal(row["upfront"]) / (int(row["term"][0]) * 8760) - rate(row)) < Decimal("1e-9")


def test_every_machine_is_known_and_every_known_machine_is_offered(offers, machines):
    assert {(row["provider"], row["instance_type"]) for row in offers} == set(machines)


def test_every_provider_says_how_it_bills(offers):
    assert {row["provider"] for row in offers} <= {row["provider"] for row in table("providers.csv")}


@pytest.mark.parametrize("name", ["instance_types.csv", "owned.csv", "free_tiers.csv"])
def test_accelerators_are_called_by_their_canonical_names(name):
    known = canonical_accelerators()
    assert {row["accelerator"] for row in table(name) if row["accelerators"] != "0"} <= known


def test_accelerators_have_the_memory_their_name_says(machines):
    sizes = {
        "V100": 16,
        "V100-32GB": 32,
        "A100-40GB": 40,
        "A100-80GB": 80,
        "A100-80GB-PCIe": 80,
        "H100": 80,
        "H100-NVL": 94,
    }
    for row in machines.values():
        if row["accelerator"] in sizes:
            assert float(row["accelerator_memory_gib"]) == sizes[row["accelerator"]], row


@pytest.mark.parametrize(
    ("instance_type", "chips"),
    [
        ("v2-8", 4),
        ("v3-8", 4),
        ("v4-8", 4),
        ("v5p-8", 4),
        ("v5litepod-8", 8),
        ("v6e-8", 8),
        ("v3-2048", 1024),
        ("tpu7x-8", 4),
    ],
)
def test_slices_count_chips(machines, instance_type, chips):
    assert machines["gcp", instance_type]["accelerators"] == str(chips)


@pytest.mark.parametrize(
    ("instance_type", "vcpus", "memory_gib"),
    [("v5litepod-1", 24, 48), ("v5litepod-8", 224, 384), ("v5p-8", 208, 448), ("v6e-256", 11520, 46080)],
)
def test_slices_have_the_processors_and_memory_of_their_hosts(machines, instance_type, vcpus, memory_gib):
    facts = machines["gcp", instance_type]
    assert (facts["vcpus"], facts["memory_gib"]) == (str(vcpus), str(memory_gib))


def test_few_offers_of_today_lack_their_processors():
    prices = packaged_catalogue()
    rows = prices.current_offers(NOVEMBER).rows
    unknown = sum(prices.vocabulary.instances[code][2].vcpus is None for code in prices.columns.instance[rows])
    assert unknown / len(rows) < 0.07


def test_spot_is_never_above_on_demand(offers):
    compared = 0
    for rows in grouped(offers, "provider", "region", "instance_type", "observed_at", "currency"):
        asked = {row["purchase_option"]: rate(row) for row in rows}
        if "spot" in asked and "on_demand" in asked:
            compared += 1
            assert asked["spot"] <= asked["on_demand"], rows[0]
    assert compared > 1000


def test_no_current_rate_is_above_on_demand_whenever_either_was_seen(current):
    on_demand = {rented(offer): offer for offer in current if offer.purchase_option is PurchaseOption.ON_DEMAND}
    compared = [offer for offer in current if offer.purchase_option in CHEAPER and rented(offer) in on_demand]
    assert len(compared) > 4000
    assert [offer.key for offer in compared if offer.hourly_rate > on_demand[rented(offer)].hourly_rate] == []


def test_the_only_current_rates_far_off_the_market_are_of_old_chips_and_second_hand(current):
    flagged = market(packaged_catalogue(), NOVEMBER).flagged(current)
    far_off = {offer.instance_type: offer for offer in flagged if OFF_MARKET in offer.flags}
    assert set(far_off) == {"1V100.6V"}
    assert not far_off["1V100.6V"].first_hand


def test_nothing_is_packaged_that_google_does_not_sell_so(offers):
    google = [row for row in offers if row["provider"] == "gcp" and row["purchase_option"] != "capacity_block"]
    assert [row for row in google if PurchaseOption(row["purchase_option"]) not in sold(row["instance_type"])] == []


def test_a_commitment_is_cheaper_than_on_demand(offers):
    compared = 0
    for rows in grouped(offers, "provider", "region", "instance_type", "observed_at", "currency"):
        on_demand = [rate(row) for row in rows if row["purchase_option"] == "on_demand"]
        for row in rows:
            if row["purchase_option"] in {"reserved", "savings_plan", "committed_use"} and on_demand:
                compared += 1
                assert rate(row) < on_demand[0], row
    assert compared > 1000


def test_paying_earlier_is_never_dearer(offers):
    order = ["all_upfront", "partial_upfront", "no_upfront"]
    reserved = [row for row in offers if row["purchase_option"] == "reserved"]
    compared = 0
    for rows in grouped(reserved, "provider", "region", "instance_type", "term", "offering_class", "observed_at"):
        asked = {row["payment"]: rate(row) for row in rows}
        ladder = [asked[payment] for payment in order if payment in asked]
        compared += len(ladder) - 1
        assert ladder == sorted(ladder), rows[0]
    assert compared >= 100


def test_a_longer_term_is_never_dearer(offers):
    terms = ["1mo", "3mo", "6mo", "1y", "2y", "3y", "5y"]
    cells = ["provider", "region", "instance_type", "purchase_option", "payment", "offering_class", "observed_at"]
    for rows in grouped([row for row in offers if row["term"] in terms], *cells):
        ladder = [rate(row) for row in sorted(rows, key=lambda row: terms.index(row["term"]))]
        assert ladder == sorted(ladder, reverse=True), rows[0]


def test_more_accelerators_are_never_cheaper(offers, machines):
    """Spot rates of each machine follow what is free of it."""
    cells = ["provider", "region", "purchase_option", "term", "payment", "observed_at", "currency"]
    for rows in grouped([row for row in offers if row["purchase_option"] != "spot"], *cells):
        cheapest: dict[str, dict[int, Decimal]] = defaultdict(dict)
        for row in rows:
            machine = machines[row["provider"], row["instance_type"]]
            count, sizes = int(machine["accelerators"]), cheapest[machine["accelerator"]]
            sizes[count] = min(rate(row), sizes.get(count, rate(row)))
        for accelerator, sizes in cheapest.items():
            ladder = [sizes[count] for count in sorted(sizes) if count]
            assert ladder == sorted(ladder), (accelerator, rows[0])
