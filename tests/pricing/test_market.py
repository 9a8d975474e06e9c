"""What others ask for an accelerator is told of rates that are far off it, and nobody vouches for these."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from fakes.offers import offer
from msgspec.structs import replace

from costcalc.catalogue.catalogue import Catalogue
from costcalc.hardware import Machine
from costcalc.offer import OFF_MARKET, PurchaseOption
from pricing.market import market

NOW = datetime(2026, 11, 20, tzinfo=UTC)
EIGHT, ONE = Machine("H100", 8, 80.0), Machine("H100", 1, 80.0)


def asked(provider, rate, machine=EIGHT, **changes):
    return offer(provider=provider, machine=machine, hourly_rate=Decimal(str(rate)), observed_at=NOW, **changes)


@pytest.fixture(scope="module")
def known():
    offers = [asked("a", 16), asked("b", 24), asked("c", 4, ONE), asked("c", 80, ONE, region="dear")]
    return market(Catalogue.from_offers(offers, "made up"), NOW)


def test_it_is_the_median_of_the_least_that_each_provider_asks(known):
    assert known.medians == {"H100": 3.0}


def test_two_providers_make_no_market():
    assert market(Catalogue.from_offers([asked("a", 16), asked("b", 24)], "made up"), NOW).medians == {}


@pytest.mark.parametrize(
    ("rate", "changes", "flagged"),
    [
        (1.25, {}, True),
        (5, {}, False),
        (400, {}, False),
        (500, {}, True),
        (1.25, {"currency": "JPY"}, False),
        (1.25, {"purchase_option": PurchaseOption.SPOT}, False),
        (1.1, {"purchase_option": PurchaseOption.SPOT}, True),
        (1.25, {"machine": Machine("A40", 8, 48.0)}, False),
    ],
)
def test_what_is_far_off_is_flagged_and_not_vouched_for(known, rate, changes, flagged):
    typed = replace(asked("mine", rate), **changes)
    (found,) = known.flagged([typed])
    assert (OFF_MARKET in found.flags) == flagged
    assert Catalogue.from_offers([found], "made up").vouched.tolist() == [not flagged]


def test_it_says_what_others_ask(known):
    said = known.comparison(asked("mine", 1.25, instance_type="8x-h100"))
    assert said == "8x-h100 at 0.16 an hour and H100, others ask 3.00 in the median"
