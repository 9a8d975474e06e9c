"""Commitments pay from the hours that arithmetic says, and their money is due to the cent."""

from decimal import Decimal
from math import ceil

import pytest
from fakes.offers import committed_offers, monthly, offer, rented_offers, reserved
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from costcalc.costing.bills import Bill, Terms, break_even_hours
from costcalc.costing.commitments import (
    UTILIZATIONS,
    Demand,
    by_month,
    payment_schedule,
    pays_back,
    purchase_choices,
    term_months,
)
from costcalc.money import cents
from costcalc.offer import Payment
from costcalc.units import HOURS_PER_MONTH

terms = st.builds(
    Terms,
    nodes=st.integers(1, 9),
    price_factor=st.sampled_from([Decimal(1), Decimal("0.88")]),
    exchange=st.sampled_from([Decimal(1), Decimal("0.8950948800572860723236663086")]),
)
bills = st.builds(Bill, committed_offers() | rented_offers(), terms).filter(lambda bill: by_month(bill.offer))
rates = st.decimals("0.01", "200", places=4)
YEAR = Bill(reserved(), Terms())  # 1752 at once and 1 an hour: 10,512 for 8,760 hours
TEN_HOURS = Demand(Decimal(10))


def only_way(bill, need=TEN_HOURS, rate=Decimal(3)):
    [way] = purchase_choices([bill], need, rate)
    return way


def test_a_year_by_hand():
    way = only_way(YEAR)
    assert (way.months, way.total, way.upfront, way.monthly) == (
        12,
        Decimal("10512.00"),
        Decimal("1752.00"),
        Decimal("730.00"),
    )
    assert way.break_even_hours_per_term == 3504  # 10512 / 3
    assert way.break_even_hours_per_month == 292
    assert way.break_even_utilization == Decimal("0.4")
    assert way.break_even_runs_per_month == Decimal("29.2")
    assert way.cash_by_month == (Decimal("2482.00"), *[Decimal("730.00")] * 11)
    half = next(usage for usage in way.usage if usage.utilization == Decimal("0.5"))
    assert (half.hours_per_month, half.runs_per_month) == (365, Decimal("36.5"))
    assert (half.on_demand_per_month, half.cost_per_month, half.saving_per_month, half.saving_per_term) == (
        Decimal("1095.00"),
        Decimal("876.00"),
        Decimal("219.00"),
        Decimal("2628.00"),
    )
    assert half.pays_back_in_month == 5  # 1752 + 5 x 730 = 5402 against 5 x 1095 = 5475; at 4: 4672 against 4380


def test_the_runs_asked_for_stand_among_the_usual_shares():
    way = only_way(YEAR, Demand(Decimal(10), Decimal("40")))
    assert [usage.utilization for usage in way.usage if not usage.asked] == list(UTILIZATIONS)
    [asked] = [usage for usage in way.usage if usage.asked]
    assert (asked.hours_per_month, asked.runs_per_month, asked.machine_sets) == (400, 40, 1)
    assert [usage.hours_per_month for usage in way.usage] == sorted(usage.hours_per_month for usage in way.usage)


def test_the_runs_asked_for_come_back_as_they_were_asked():
    need = Demand(
        Decimal("0.39188511922785896"), Decimal(3000)
    )  # 1175.655358 hours to a millionth are 3000.000001 runs
    [asked] = [usage for usage in only_way(YEAR, need).usage if usage.asked]
    assert (asked.hours_per_month, asked.runs_per_month) == (Decimal("1175.655358"), 3000)


def test_more_hours_than_a_month_has_take_more_machines():
    way = only_way(YEAR, Demand(Decimal(10), Decimal(100)))
    asked = way.usage[-1]
    assert (asked.asked, asked.hours_per_month, asked.machine_sets) == (True, 1000, 2)
    assert asked.cost_per_month == Decimal("1752.00")
    assert asked.on_demand_per_month == Decimal("3000.00")


def test_a_month_of_rent_is_one_payment():
    way = only_way(Bill(monthly(), Terms(nodes=4)))
    assert (way.months, way.upfront, way.monthly, way.cash_by_month) == (1, 0, 2920, (Decimal("2920.00"),))


@pytest.mark.parametrize(
    ("payment", "upfront"),
    [(Payment.NO_UPFRONT, 0), (Payment.ALL_UPFRONT, 10512), (Payment.PARTIAL_UPFRONT, None), (None, 0)],
)
def test_a_payment_that_is_known_by_its_rate_alone(payment, upfront):
    way = only_way(Bill(reserved(upfront=None, recurring_hourly=None, payment=payment), Terms()))
    assert way.upfront == upfront
    assert way.total == Decimal("10512.00")
    assert (way.cash_by_month is None) == (upfront is None) == (way.monthly is None)


def test_nothing_to_compare_with_and_nothing_to_gain():
    alone = only_way(YEAR, rate=None)
    assert alone.break_even_hours_per_term is None
    assert {(usage.on_demand_per_month, usage.saving_per_month) for usage in alone.usage} == {(None, None)}
    dearer = only_way(YEAR, rate=Decimal("1.19"))  # the year costs 1.20 an hour at full use
    assert dearer.break_even_hours_per_term is None
    assert all(usage.saving_per_month < 0 for usage in dearer.usage)
    assert {usage.pays_back_in_month for usage in dearer.usage} == {None}


def test_what_is_metered_or_shorter_than_a_month_is_no_way():
    short = Bill(reserved(term="14d"), Terms())
    assert purchase_choices([Bill(offer(), Terms()), short], TEN_HOURS, Decimal(3)) == ()


def test_ways_come_cheapest_first():
    found = purchase_choices([YEAR, Bill(monthly(), Terms())], TEN_HOURS, Decimal(3))
    assert [way.hourly_rate for way in found] == [1, Decimal("1.2")]


@given(bills)
def test_payments_add_up_to_the_rounded_whole(bill):
    payments = payment_schedule(bill)
    if payments is not None:
        assert sum(payments.by_month) == cents(bill.committed_cost)
        assert len(payments.by_month) == term_months(bill.offer)
        assert all(amount == amount.quantize(Decimal("0.01")) for amount in payments.by_month)


@given(bills, rates)
def test_break_even_is_where_saving_changes_its_sign(bill, rate):
    hours = break_even_hours(bill.tariff, rate, bill.factor)
    full = bill.tariff.period_hours * max(bill.tariff.minimum_periods, 1)
    if hours is None:
        assert full * rate <= bill.committed_cost * (1 + Decimal("1e-20"))
    else:
        assert abs(hours * rate - bill.committed_cost) <= bill.committed_cost * Decimal("1e-20")


@given(bills, rates)
def test_the_estimates_break_even_is_the_same(bill, listed):
    hours = break_even_hours(bill.tariff, listed)
    own = break_even_hours(bill.tariff, listed * bill.factor, bill.factor)
    assert (hours is None) == (own is None)
    if hours is not None:
        assert abs(hours - own) <= hours * Decimal("1e-20")


@given(bills, rates, st.decimals("0.01", "900", places=2))
def test_costs_savings_and_pay_back_agree(bill, rate, hours_per_run):
    way = only_way(bill, Demand(hours_per_run, Decimal(3)), rate)
    for usage in way.usage:
        assert usage.on_demand_per_month == cents(rate * usage.hours_per_month)
        assert abs(usage.on_demand_per_month - usage.cost_per_month - usage.saving_per_month) <= Decimal("0.01")
        assert usage.machine_sets == max(1, ceil(usage.hours_per_month / HOURS_PER_MONTH))
        payments, month = payment_schedule(bill), usage.pays_back_in_month
        if payments and month:
            assert payments.paid_by(month) * usage.machine_sets <= rate * usage.hours_per_month * month
        elif payments:
            whole = payments.paid_by(way.months) * usage.machine_sets
            assert whole > rate * usage.hours_per_month * way.months


def test_pay_back_needs_both_sides():
    assert pays_back(None, 1, Decimal(5)) is None
    assert pays_back(payment_schedule(YEAR), 1, None) is None
    unsplit = replace(YEAR.offer, upfront=None, recurring_hourly=None)
    assert payment_schedule(Bill(unsplit, Terms())) is None


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
    way = only_way(bill)
    assert (way.upfront, way.monthly, way.cash_by_month, way.total) == (None, None, None, 10512)
    assert {use.pays_back_in_month for use in way.usage} == {None}


@given(bills, st.none() | rates)
def test_a_choice_saves_exactly_from_its_break_even_on(bill, on_demand):
    even = break_even_hours(bill.tariff, on_demand, bill.factor)
    way = only_way(bill, rate=on_demand)
    for usage in way.usage:
        if on_demand is None:
            assert usage.saving_per_month is None
        elif even is None:
            assert usage.saving_per_month <= Decimal("0.01") or bill.offer.hours_in_month < 730
        else:
            cheaper = usage.hours_per_month * way.months >= even
            assert (usage.saving_per_month > 0) == cheaper or abs(usage.saving_per_month) <= Decimal("0.01")


@pytest.mark.parametrize(("term", "months"), [(None, 1), ("1mo", 1), ("6mo", 6), ("1y", 12), ("3y", 36)])
def test_terms_in_months(term, months):
    assert term_months(monthly(term=term)) == months


def test_terms_in_days_are_no_months():
    with pytest.raises(ValueError, match="14d"):
        term_months(replace(monthly(), term="14d"))


def test_the_cheapest_rate_comes_first_however_long_its_term():
    year = Bill(reserved(upfront=Decimal(0), recurring_hourly=Decimal("0.8"), hourly_rate=Decimal("0.8")), Terms())
    choices = purchase_choices([Bill(monthly(), Terms()), year], TEN_HOURS, None)
    assert [choice.months for choice in choices] == [12, 1]


def test_it_is_paid_back_in_the_month_that_is_as_dear():
    schedule = payment_schedule(YEAR)  # 1752 at once and 730 a month
    assert pays_back(schedule, 1, Decimal(1752) / 6 + 730) == 6
    assert pays_back(schedule, 1, Decimal(1752) / 6 + 729) == 7
    assert pays_back(schedule, 2, Decimal(1752) / 6 + 730) is None
