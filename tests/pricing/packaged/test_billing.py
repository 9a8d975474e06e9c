"""How providers bill stands in one table, which has every provider that a source can bring."""

from decimal import Decimal

import pytest
from packaged_tables import table
from pytest_httpserver import HTTPServer
from support.prices import offer
from support.recorded_sources import RECORDED
from support.stores import packaged_edition

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
