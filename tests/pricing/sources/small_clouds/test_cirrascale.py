from decimal import Decimal

import pytest
from support.recorded_sources import NOW, recorded

from costcalc.offer import tariff
from pricing.packaged.machine_facts import packaged_machines
from pricing.sources.small_clouds.cirrascale import offers
from pricing.sources.source import SchemaChanged

PAGE = recorded("cirrascale/pricing.html").decode()


def by_key(page=PAGE):
    return {(offer.instance_type, offer.term): offer for offer in offers(page, NOW).offers}


def test_the_ladder_falls_with_the_term():
    ladder = {term: offer.monthly for (kind, term), offer in by_key().items() if kind == "8x H100"}
    assert ladder == {"1mo": 24999, "3mo": 23749, "6mo": 22499, "1y": 19999}


def test_a_month_of_a_server_counts_730_hours_and_binds_for_its_term():
    offer = by_key()["8x H100", "3mo"]
    assert offer.hourly_rate.quantize(Decimal("1e-12")) == Decimal("32.532876712329")
    assert (offer.region, offer.purchase_option.value, offer.currency) == ("us", "monthly", "USD")
    assert (tariff(offer).fee, tariff(offer).period_hours, tariff(offer).minimum_periods) == (23749, 730, 3)


def test_live_machines_are_those_that_are_packaged():
    assert {offer.instance_type for offer in offers(PAGE, NOW).offers} <= set(packaged_machines("cirrascale"))


def test_where_price_and_rate_disagree_the_rate_is_taken_and_flagged():
    offer = by_key()["8x H200", "1y"]
    assert (offer.monthly, offer.flags) == (Decimal("3.63") * 8 * 730, ("approximate",))
    assert by_key()["8x H100", "1y"].flags == ()


def test_a_price_without_a_term_and_a_price_for_clusters_are_no_offers():
    collected = offers(PAGE, NOW)
    assert {offer.term for offer in collected.offers if offer.instance_type == "8x H200"} == {"1y"}
    assert [gap.reason for gap in collected.gaps] == [
        "prices whose term is not said left out: 8X NVIDIA H200 (Standalone) $4.54/GPUhr Equivalent"
    ]


@pytest.mark.parametrize(
    ("title", "machine"),
    [
        ("8X AMD MI300X", "8x MI300X"),
        ("8X NVIDIA A100 (80GB)", "8x A100-80GB"),
        ("4x NVIDIA A100 40GB", "4x A100-40GB"),
        ("8X NVIDIA B200", "8x B200"),
        ("4X NVIDIA Tesla V100 (32GB)", "4x V100-32GB"),
        ("8X NVIDIA RTX PRO 6000 Blackwell Server Edition", "8x RTX PRO 6000"),
    ],
)
def test_titles_name_the_machine(title, machine):
    [*found] = by_key(PAGE.replace("8X NVIDIA H100 (Standalone)", title))
    assert machine in {kind for kind, _ in found}


def test_an_accelerator_that_nobody_knows_is_named():
    reasons = [gap.reason for gap in offers(PAGE.replace("8X NVIDIA H100 (S", "8X NVIDIA Z900 (S"), NOW).gaps]
    assert "accelerators not known here left out: Z900" in reasons


@pytest.mark.parametrize("gone", ["plan-trigger__text--secondary", "option__duration__hr", "option__duration"])
def test_another_layout_is_a_changed_schema(gone):
    with pytest.raises(SchemaChanged):
        offers(PAGE.replace(f'{gone}"', 'renamed"'), NOW)
