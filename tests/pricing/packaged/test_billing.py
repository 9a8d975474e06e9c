"""How providers bill stands in one table, which has every provider that a source can bring."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from random import Random

import pytest
from packaged_tables import table
from pytest_httpserver import HTTPServer
from support.prices import offer
from support.recorded_sources import RECORDED
from support.stores import packaged_edition

from costcalc.costing.bills import Bill, Terms
from costcalc.money import cents
from pricing.packaged.offers import OFFERS
from pricing.packaged.providers import WHOLE_HOURS, Billing, billed, billing
from pricing.sources.catalogues import skypilot
from pricing.sources.common.listing import monthly

PROVIDERS = {row["provider"] for row in table("providers.csv")}
OWN_RATES = "sheet"  # says itself how each of its rates is billed


@pytest.mark.parametrize("name", sorted(RECORDED.keys() - {OWN_RATES}))
def test_every_provider_of_a_small_cloud_stands_in_the_table(name: str, httpserver: HTTPServer) -> None:
    RECORDED[name].serve(httpserver)
    found = {offer.provider for offer in RECORDED[name].collect(httpserver.url_for("")).offers}
    assert found
    assert found <= PROVIDERS


def test_every_provider_of_the_large_clouds_and_of_the_catalogues_stands_in_the_table() -> None:
    listed = {skypilot.OUR_NAMES.get(name, name) for name in skypilot.CLOUDS.read({}).split(",")}
    assert {"aws", "azure", "gcp", *listed} <= PROVIDERS


@pytest.mark.parametrize(
    ("provider", "instance_type", "expected"),
    [
        ("vast", "8x H100", Billing(1, 1, 730)),
        ("oci", "BM.GPU3.8", Billing(1, 3600, 730)),
        ("oci", "VM.GPU3.1", Billing(1, 60, 730)),
        ("nobody-we-know", "VM.1", WHOLE_HOURS),
    ],
)
def test_a_family_of_machines_may_be_billed_in_its_own_way(
    provider: str, instance_type: str, expected: Billing
) -> None:
    assert billing(provider, instance_type) == expected
    one = billed(offer(provider=provider, instance_type=instance_type))
    assert (one.billing_increment_seconds, one.minimum_seconds) == (
        expected.increment_seconds,
        expected.minimum_seconds,
    )


def test_a_month_counts_the_hours_of_its_provider() -> None:
    stated = {(row["provider"], row["hours_in_month"]) for row in table("offers.csv") if row["monthly"]}
    assert {("digitalocean", "744"), ("vultr", "672"), ("cirrascale", "730")} <= stated
    assert {(provider, str(billing(provider).hours_in_month)) for provider, _ in stated} == stated
    plan = offer(provider="digitalocean")
    assert monthly(plan, Decimal(1488)).hourly_rate == 2
    assert monthly(plan, Decimal(1488), hours=100).hours_in_month == 100


def test_packaged_offers_are_billed_by_their_family() -> None:
    least = {one.instance_type: one.minimum_seconds for one in packaged_edition().offers if one.provider == "oci"}
    assert (least["BM.GPU3.8"], least["VM.GPU3.1"]) == (3600, 60)


MONTHS = {"1mo": 1, "3mo": 3, "6mo": 6, "1y": 12, "2y": 24, "3y": 36, "5y": 60}


def by_hand(row: dict[str, str], increment: int, minimum: int, hours: Fraction, nodes: int) -> int:
    """The bill in cents, of the texts in the tables alone: whole increments and at least the minimum, or whole terms."""
    rate = Fraction(row["hourly_rate"])
    if row["purchase_option"] in ("on_demand", "spot"):
        cost = max(ceil(hours * 3600 / increment) * increment, minimum) * rate / 3600
    else:
        months = MONTHS[row["term"]]
        in_term = months * int(row["hours_in_month"] or 730) if row["term"].endswith("mo") else months * 730
        fee = rate * in_term
        if row["monthly"]:
            fee = Fraction(row["monthly"]) * months
        elif row["upfront"] and row["recurring_hourly"]:
            fee = Fraction(row["upfront"]) + Fraction(row["recurring_hourly"]) * in_term
        cost = ceil(hours / in_term) * fee
    return floor(cost * nodes * 100 + Fraction(1, 2))


def test_a_thousand_bills_are_those_of_the_tables_by_hand() -> None:
    """At most 60 of each provider and way to buy, of runs from minutes to two months."""
    rows, how = list(table("offers.csv")), {(row["provider"], row["family"]): row for row in table("providers.csv")}
    offers = {(*offer.key, offer.observed_at.date().isoformat()): offer for offer in packaged_edition().offers}
    random, drawn = Random(7), Counter[tuple[str, str]]()
    random.shuffle(rows)
    for row in rows:
        kind = row["provider"], row["purchase_option"]
        if drawn[kind] == 60 or row["term"] not in ("", *MONTHS) or "ended" in row["flags"] or drawn.total() == 1000:
            continue
        drawn[kind] += 1
        family = row["instance_type"].partition(".")[0]
        billed_so = how.get((row["provider"], family)) or how[row["provider"], ""]
        hours, nodes = Fraction(random.randint(1, 1_500_000), 1000), random.choice([1, 2, 4])
        offer = offers[*(row[name] for name in OFFERS.key.split()[:-1]), row["observed_at"][:10]]
        bill = Bill(offer, Terms(nodes)).billed(Decimal(hours.numerator) / hours.denominator)
        terms = int(billed_so["billing_increment_seconds"]), int(billed_so["minimum_seconds"])
        assert cents(bill) * 100 == by_hand(row, *terms, hours, nodes), (row, hours, nodes)
    assert (drawn.total(), len({provider for provider, _ in drawn}) > 5) == (1000, True)
