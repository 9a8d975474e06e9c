"""When the money of a commitment is due and comes back, by hand and by law."""

from dataclasses import replace
from decimal import Decimal
from itertools import accumulate

import pytest
from fakes.offers import committed_offers, monthly, offer, rented_offers, reserved
from hypothesis import given
from hypothesis import strategies as st

from costcalc.costing.bills import Bill, Terms, break_even_hours
from costcalc.costing.commitments import (
    Demand,
    by_month,
    payment_schedule,
    pays_back,
    purchase_choices,
    term_months,
)
from costcalc.money import cents
from costcalc.offers import Payment, PurchaseOption

TEN_HOURS = Demand(Decimal(10))
terms = st.builds(Terms, nodes=st.integers(1, 8), price_factor=st.sampled_from([Decimal(1), Decimal("0.9")]))
whole_months = (committed_offers() | rented_offers()).filter(by_month)
rates = st.none() | st.decimals("0.01", 2000, places=2)


def bills(*offers):
    return [Bill(one, Terms()) for one in offers]


def test_a_reservation_by_hand():
    (way,) = purchase_choices(bills(reserved()), TEN_HOURS, Decimal(3))
    assert (way.months, way.hourly_rate, way.total) == (12, Decimal("1.2"), 10512)
    assert (way.upfront, way.monthly) == (1752, 730)
    assert way.cash_by_month == (2482, *[730] * 11)
    assert way.break_even_hours_per_term == 3504
    assert (way.break_even_hours_per_month, way.break_even_utilization) == (292, Decimal("0.4"))
    assert way.break_even_runs_per_month == Decimal("29.2")


def test_usage_by_hand():
    (way,) = purchase_choices(bills(reserved()), Demand(Decimal(10), Decimal(80)), Decimal(3))
    shares = [float(usage.utilization) for usage in way.usage]
    assert shares == pytest.approx([0.1, 0.25, 0.5, 0.75, 1, 800 / 730], abs=1e-6)
    half, asked = way.usage[2], way.usage[-1]
    assert (half.hours_per_month, half.runs_per_month, half.machine_sets, half.asked) == (
        365,
        Decimal("36.5"),
        1,
        False,
    )
    assert (half.on_demand_per_month, half.cost_per_month, half.saving_per_month) == (1095, 876, 219)
    assert half.saving_per_term == 219 * 12
    assert half.pays_back_in_month == 5  # 1,752 + 730 x 5 = 5,402 against 1,095 x 5 = 5,475
    assert (asked.asked, asked.machine_sets, asked.runs_per_month, asked.hours_per_month) == (True, 2, 80, 800)
    assert (asked.cost_per_month, asked.on_demand_per_month, asked.saving_per_month) == (1752, 2400, 648)


def test_without_an_on_demand_rate_there_is_nothing_to_compare():
    (way,) = purchase_choices(bills(monthly()), TEN_HOURS, None)
    even = way.break_even_hours_per_term, way.break_even_hours_per_month, way.break_even_utilization
    assert (*even, way.break_even_runs_per_month) == (None, None, None, None)
    assert {(use.on_demand_per_month, use.saving_per_month, use.saving_per_term) for use in way.usage} == {
        (None, None, None)
    }
    assert {use.pays_back_in_month for use in way.usage} == {None}
    assert {use.cost_per_month for use in way.usage} == {730}


def test_only_whole_months_are_ways_and_the_cheapest_rate_comes_first():
    block = offer(purchase_option=PurchaseOption.CAPACITY_BLOCK, term="14d")
    fortnight = reserved(term="14d", upfront=None, recurring_hourly=None)
    found = purchase_choices(bills(reserved(), offer(), block, fortnight, monthly()), TEN_HOURS, Decimal(3))
    assert [(way.purchase_option.value, way.hourly_rate) for way in found] == [
        ("monthly", 1),
        ("reserved", Decimal("1.2")),
    ]


@pytest.mark.parametrize(
    ("changes", "upfront", "each"),
    [
        ({"payment": Payment.ALL_UPFRONT, "recurring_hourly": Decimal(0)}, 1752, 0),
        ({"payment": Payment.NO_UPFRONT, "upfront": Decimal(0)}, 0, 730),
        ({"payment": None}, 1752, 730),
        ({"payment": None, "upfront": None, "recurring_hourly": None}, 0, 876),
        ({"payment": Payment.ALL_UPFRONT, "upfront": None, "recurring_hourly": None}, 10512, 0),
    ],
)
def test_upfront_and_monthly_by_hand(changes, upfront, each):
    payments = payment_schedule(Bill(reserved(**changes), Terms()))
    assert (payments.upfront, payments.monthly) == (upfront, each)


def test_a_partial_payment_of_unknown_size_is_not_guessed():
    bill = Bill(reserved(upfront=None, recurring_hourly=None), Terms())
    assert payment_schedule(bill) is None
    (way,) = purchase_choices([bill], TEN_HOURS, Decimal(3))
    assert (way.upfront, way.monthly, way.cash_by_month, way.total) == (None, None, None, 10512)
    assert {use.pays_back_in_month for use in way.usage} == {None}


@given(whole_months, terms)
def test_cash_adds_up_to_the_whole_term(one, own):
    bill = Bill(one, own)
    (way,) = purchase_choices([bill], TEN_HOURS, None)
    payments = payment_schedule(bill)
    if payments is None:
        assert one.payment is Payment.PARTIAL_UPFRONT
        assert one.upfront is None
        return
    assert sum(way.cash_by_month) == way.total
    assert len(way.cash_by_month) == way.months
    for month, paid in enumerate(accumulate(way.cash_by_month), 1):
        assert paid == cents(payments.paid_by(month))


@given(whole_months, terms, rates)
def test_a_way_saves_exactly_from_its_break_even_on(one, own, on_demand):
    bill = Bill(one, own)
    even = break_even_hours(bill.tariff, on_demand, bill.factor)
    (way,) = purchase_choices([bill], TEN_HOURS, on_demand)
    for usage in way.usage:
        if on_demand is None:
            assert usage.saving_per_month is None
        elif even is None:
            assert usage.saving_per_month <= Decimal("0.01") or one.hours_in_month < 730
        else:
            cheaper = usage.hours_per_month * way.months >= even
            assert (usage.saving_per_month > 0) == cheaper or abs(usage.saving_per_month) <= Decimal("0.01")


@given(whole_months, st.decimals("0.01", 2000, places=2))
def test_money_comes_back_in_the_first_month_that_is_no_dearer(one, on_demand):
    payments = payment_schedule(Bill(one, Terms()))
    month = pays_back(payments, 1, on_demand)
    if payments is None:
        assert month is None
        return
    level = [at for at in range(1, payments.months + 1) if payments.paid_by(at) <= on_demand * at]
    assert month == (level[0] if level else None)


@pytest.mark.parametrize(("term", "months"), [(None, 1), ("1mo", 1), ("6mo", 6), ("1y", 12), ("3y", 36)])
def test_terms_in_months(term, months):
    assert term_months(monthly(term=term)) == months


def test_terms_in_days_are_no_months():
    with pytest.raises(ValueError, match="14d"):
        term_months(replace(monthly(), term="14d"))
