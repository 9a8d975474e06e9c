"""A whole listing is set straight before it is judged."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from msgspec.structs import replace

from costcalc.hardware import Machine
from costcalc.offer import Offer, Payment, PurchaseOption
from pricing.checks import SourceListing, violations
from pricing.sources.aws.price_list import newest, publishable

NOW = datetime(2026, 11, 20, tzinfo=UTC)
NOVEMBER = datetime(2026, 11, 1, tzinfo=UTC)
ON_DEMAND = Offer(
    "aws", "us-east-1", "p4d.24xlarge", Machine("A100-40GB", 8), PurchaseOption.ON_DEMAND, Decimal("21.96"), NOW, "a test",
    effective_from=NOVEMBER,
)  # fmt: skip
SPOT = replace(ON_DEMAND, purchase_option=PurchaseOption.SPOT)


def reserved(payment, rate):
    return replace(
        ON_DEMAND,
        purchase_option=PurchaseOption.RESERVED,
        hourly_rate=Decimal(rate),
        term="1y",
        payment=payment,
        offering_class="convertible",
    )


def broken(offers):
    return violations(SourceListing(offers, frozenset({"A100-40GB"}), {}, NOW))


def test_of_two_rates_for_one_offer_the_one_in_effect_last_wins():
    old = replace(ON_DEMAND, hourly_rate=Decimal("32.77"), effective_from=datetime(2025, 5, 1, tzinfo=UTC))
    undated = replace(ON_DEMAND, hourly_rate=Decimal(40), effective_from=None)
    assert newest([old, ON_DEMAND, undated]) == newest([ON_DEMAND, undated, old]) == (ON_DEMAND,)


def test_doubles_go_and_a_contradiction_is_not_ours_to_settle():
    other = replace(ON_DEMAND, hourly_rate=Decimal("22.5"))
    assert newest([ON_DEMAND, ON_DEMAND, other]) == (ON_DEMAND, other)


def test_a_reservation_that_on_demand_has_undercut_is_left_out_by_name():
    dear = [reserved(Payment.NO_UPFRONT, "22.40"), reserved(Payment.PARTIAL_UPFRONT, "22.00")]
    cheap = reserved(Payment.ALL_UPFRONT, "21.50")
    assert broken([ON_DEMAND, *dear, cheap])
    kept, gaps = publishable([ON_DEMAND, *dear, cheap])
    assert kept == (ON_DEMAND, cheap)
    assert [gap.reason for gap in gaps] == [
        "left out, dearer than on demand: p4d.24xlarge in us-east-1 reserved 1y no upfront convertible; "
        "p4d.24xlarge in us-east-1 reserved 1y partial upfront convertible"
    ]
    assert not broken(kept)


def test_a_ladder_whose_upfront_payments_are_rounded_is_in_order():
    rounded = [reserved(Payment.NO_UPFRONT, "22.4000"), reserved(Payment.ALL_UPFRONT, "22.4004")]
    assert publishable([ON_DEMAND, *rounded])[0] == (ON_DEMAND,)


def test_a_ladder_out_of_order_is_left_for_the_checks_to_leave_out():
    upside_down = [reserved(Payment.NO_UPFRONT, "10"), reserved(Payment.ALL_UPFRONT, "30")]
    kept, gaps = publishable([ON_DEMAND, *upside_down])
    assert (len(kept), gaps) == (3, ())
    assert broken(kept)


@pytest.mark.parametrize(("rate", "flags"), [("21.96", ()), ("21.97", ("spot_above_on_demand",))])
def test_spot_above_on_demand_is_flagged(rate, flags):
    kept, gaps = publishable([ON_DEMAND, replace(SPOT, hourly_rate=Decimal(rate))])
    assert kept[1].flags == flags
    assert gaps == ()
    assert not broken(kept)


def test_without_an_on_demand_rate_there_is_nothing_to_compare_with():
    alone = (reserved(Payment.NO_UPFRONT, "22.40"), SPOT)
    assert publishable(alone) == (alone, ())
