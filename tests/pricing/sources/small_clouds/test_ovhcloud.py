import json
from decimal import Decimal

import pytest
from support.recorded_sources import NOW, RECORDED

from costcalc.hardware import Machine
from costcalc.offer import tariff
from pricing.sources.small_clouds.ovhcloud import offers
from pricing.sources.source import SchemaChanged


def catalogue():
    return json.loads(RECORDED["ovhcloud"].priced.body, parse_float=Decimal)


def by_key(document):
    return {offer.key[2:4]: offer for offer in offers(document, NOW).offers}


def test_prices_are_hundred_millionths_of_a_euro_for_the_whole_machine():
    offer = by_key(catalogue())["h200-1920", "on_demand"]
    assert (offer.hourly_rate, offer.currency, offer.region) == (Decimal(42), "EUR", "unspecified")
    assert (offer.machine.accelerator, offer.machine.accelerators) == ("H200", 8)
    assert (offer.billing_increment_seconds, offer.minimum_seconds) == (3600, 3600)


def test_a_month_is_an_offer_of_its_own():
    month = by_key(catalogue())["h100-380", "monthly"]
    assert (month.monthly, month.hours_in_month, month.term) == (1940, 730, "1mo")
    assert tariff(month).fee == 1940
    assert str(month.monthly) == "1940"


def test_memory_is_that_of_one_accelerator():
    assert by_key(catalogue())["rtx5000-84", "on_demand"].machine == Machine("Quadro RTX 5000", 3, 16, 16, 84)


def test_windows_other_places_other_bricks_and_plain_machines_are_no_offers():
    assert set(by_key(catalogue())) == {
        ("h100-380", "on_demand"),
        ("h100-380", "monthly"),
        ("h200-1920", "on_demand"),
        ("l4-90", "on_demand"),
        ("rtx5000-84", "on_demand"),
        ("t2-le-45", "on_demand"),
    }
    assert by_key(catalogue())["l4-90", "on_demand"].hourly_rate == Decimal("0.75")


def test_an_accelerator_whose_form_is_not_said_is_a_gap():
    assert [gap.reason for gap in offers(catalogue(), NOW).gaps] == ["accelerators not known here left out: A100"]


def test_a_plan_with_two_prices_is_left_out_by_name():
    document = catalogue()
    [plan] = [addon for addon in document["addons"] if addon["planCode"] == "h200-1920.consumption"]
    plan["pricings"] *= 2
    reasons = [gap.reason for gap in offers(document, NOW).gaps]
    assert "plans with more than one price left out: h200-1920.consumption" in reasons


def test_another_currency_stays_what_it_is_and_none_is_a_changed_schema():
    document = catalogue()
    document["locale"]["currencyCode"] = "PLN"
    assert by_key(document)["h100-380", "on_demand"].currency == "PLN"
    document["locale"] = None
    with pytest.raises(SchemaChanged, match="no currency"):
        offers(document, NOW)
