"""Bills add up, charge at least what was used, and have an array form that agrees to the cent."""

from decimal import Decimal

import numpy as np
import pytest
from fakes.offers import all_offers, committed_offers, metered_offers, monthly, offer, owned, reserved
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from costcalc.catalogue.catalogue import Catalogue
from costcalc.costing.bills import Bill, Tariffs, Terms, break_even_hours
from costcalc.money import cents
from costcalc.offer import Offer, Payment, PurchaseOption, RatePart, tariff, term_hours

times = (st.floats(0.0001, 2) | st.floats(0.0001, 20_000)).map(lambda hours: Decimal(repr(hours)))
shares = st.sampled_from([Decimal(text) for text in ("0", "0.25", "0.8", "1")])
terms = st.builds(
    Terms,
    nodes=st.integers(1, 16),
    price_factor=st.sampled_from([Decimal(1), Decimal("0.88")]),
    utilization=shares,
    exchange=st.sampled_from([Decimal(1), Decimal("0.92")]),
)


def doubled(one: Offer) -> Offer:
    def twice(amount: Decimal | None) -> Decimal | None:
        return None if amount is None else 2 * amount

    return replace(
        one,
        hourly_rate=2 * one.hourly_rate,
        upfront=twice(one.upfront),
        recurring_hourly=twice(one.recurring_hourly),
        monthly=twice(one.monthly),
        parts=tuple(RatePart(part.name, 2 * part.hourly) for part in one.parts),
    )


def arrays_of(one: Offer, factor: Decimal) -> Tariffs:
    paid = tariff(one)
    return Tariffs(
        metered=np.array([float(paid.metered_hourly * factor)]),
        fee=np.array([float(paid.fee * factor)]),
        period_hours=np.array([paid.period_hours], np.int32),
        minimum_periods=np.array([paid.minimum_periods], np.int32),
        sold_singly=np.array([paid.sold_singly], np.int8),
        increment_seconds=np.array([paid.increment_seconds], np.int32),
        minimum_seconds=np.array([paid.minimum_seconds], np.int32),
        currency=np.array([0], np.int8),
    )


@given(all_offers, times, terms)
def test_components_add_up_to_the_billed_cost(one, hours, own):
    bill = Bill(one, own)
    components = bill.components(hours)
    assert sum(component.amount for component in components) == cents(bill.billed(hours))
    off = [abs(part.amount - part.quantity * part.rate) for part in components]
    assert max(off) <= Decimal("0.005") * (len(off) + 1)
    assert all(component.unit in {"hours", "days", "months", "machines", "units"} for component in components)


@given(all_offers, times, terms)
def test_twice_the_rate_is_twice_the_cost(one, hours, own):
    once, twice = Bill(one, own), Bill(doubled(one), own)
    assert float(twice.billed(hours)) == pytest.approx(2 * float(once.billed(hours)), rel=1e-12)
    assert float(twice.effective(hours)) == pytest.approx(2 * float(once.effective(hours)), rel=1e-12)


@given(metered_offers(), times)
def test_billed_time_is_elapsed_time_in_whole_increments(one, hours):
    (part, *_) = Bill(one, Terms()).components(hours)
    seconds = round(part.quantity * 3600, 9)
    assert seconds >= one.minimum_seconds
    assert seconds == one.minimum_seconds or seconds % one.billing_increment_seconds == 0
    assert float(seconds) >= float(hours) * 3600 - 1e-6
    assert float(seconds) <= max(float(hours) * 3600 + one.billing_increment_seconds, one.minimum_seconds)


@pytest.mark.parametrize(
    ("increment", "minimum", "hours", "cost"),
    [
        (1, 60, "0.003", "0.05"),  # an 11 s run is billed a minute
        (1, 60, "8", "24.00"),
        (3600, 0, "0.4833", "3.00"),  # 29 minutes of an hourly biller
        (3600, 0, "2", "6.00"),
        (3600, 0, "2.0000000001", "6.00"),  # less than a microsecond over
        (3600, 0, "2.0001", "9.00"),
        (60, 0, "0.01", "0.05"),
        (1, 3600, "0.5", "3.00"),
    ],
)
def test_meters_by_hand(increment, minimum, hours, cost):
    one = offer(billing_increment_seconds=increment, minimum_seconds=minimum)
    assert str(cents(Bill(one, Terms()).billed(Decimal(hours)))) == cost


@given(all_offers, times)
def test_a_run_pays_its_share_or_more(one, hours):
    billed = Bill(one, Terms()).billed(hours)
    effective = [
        Bill(one, Terms(utilization=share)).effective(hours) for share in (Decimal(1), Decimal("0.5"), Decimal(0))
    ]
    assert effective == sorted(effective), "the less others use, the more a run carries"
    slack = one.hourly_rate / 10**9 + Decimal("1e-12")
    assert effective[-1] <= billed + slack
    assert float(effective[0]) == pytest.approx(float(hours * tariff(one).effective_hourly), rel=1e-12)


@given(all_offers, times, terms)
def test_the_effective_rate_makes_the_effective_cost(one, hours, own):
    bill = Bill(one, own)
    assert float(bill.effective_hourly(hours) * hours) == pytest.approx(float(bill.effective(hours)), rel=1e-12)


def test_no_hours_cost_the_full_rate_each():
    bill = Bill(reserved(), Terms(utilization=Decimal("0.5")))
    assert bill.effective_hourly(Decimal(0)) == Decimal("1.2")
    assert bill.effective(Decimal(0)) == 0


@given(all_offers, times, terms)
def test_arrays_agree_to_the_cent(one, hours, own):
    bill = Bill(one, own)
    factor = own.nodes * own.price_factor * own.exchange
    arrays, time = arrays_of(one, factor), np.array([float(hours)])
    assert arrays.billed(time)[0] == pytest.approx(float(bill.billed(hours)), rel=1e-12, abs=0.005)
    share = arrays.effective(time, float(own.utilization))[0]
    assert share == pytest.approx(float(bill.effective(hours)), rel=1e-9, abs=0.005)


@given(metered_offers(), st.floats(0.0001, 1.5))
def test_arrays_know_increments_and_minima(one, hours):
    exact = Bill(one, Terms()).billed(Decimal(repr(hours)))
    assert arrays_of(one, Decimal(1)).billed(np.array([hours]))[0] == pytest.approx(float(exact), rel=1e-9)


@given(all_offers, times, st.integers(2, 16))
def test_node_hours_are_constant_where_scaling_is_perfect(one, hours, nodes):
    alone = Bill(one, Terms()).effective(hours)
    together = Bill(one, Terms(nodes=nodes)).effective(hours / nodes)
    assert float(together) == pytest.approx(float(alone), rel=1e-9)


@given(all_offers, times)
def test_machines_discount_and_exchange_multiply(one, hours):
    own = Terms(nodes=4, price_factor=Decimal("0.9"), exchange=Decimal("1.5"))
    assert Bill(one, own).billed(hours) == pytest.approx(Bill(one, Terms()).billed(hours) * Decimal("5.4"))


@given(all_offers, times)
def test_a_longer_run_never_costs_less(one, hours):
    bill = Bill(one, Terms())
    assert bill.billed(hours) <= bill.billed(hours * 2)
    assert bill.effective(hours) <= bill.effective(hours * 2)


@given(committed_offers())
def test_a_whole_commitment_is_its_effective_rate_times_its_term(one):
    whole, bill = Decimal(term_hours(one.term)), Bill(one, Terms())
    parts = one.hourly_rate * whole
    if one.upfront is not None:
        parts = one.upfront + one.recurring_hourly * whole
    assert float(bill.billed(Decimal(1))) == float(bill.billed(whole)) == pytest.approx(float(parts), rel=1e-12)
    assert float(one.hourly_rate * whole) == pytest.approx(float(parts), rel=1e-9)
    assert bill.billed(whole + 1) == 2 * bill.billed(whole)


LINES = [
    (offer(), 2, [("one", "2", "hours", "3", "6.00")]),
    (
        offer(
            parts=(RatePart("Cloud TPU v2-8", Decimal("6.50")), RatePart("host", Decimal("0.19"))),
            hourly_rate=Decimal("6.69"),
        ),
        2,
        [("Cloud TPU v2-8", "2", "hours", "6.50", "13.00"), ("host", "2", "hours", "0.19", "0.38")],
    ),
    (
        reserved(),
        10,
        [("one upfront", "1", "units", "1752", "1752.00"), ("one recurring", "8760", "hours", "1", "8760.00")],
    ),
    (
        reserved(payment=Payment.ALL_UPFRONT, recurring_hourly=Decimal(0)),
        10,
        [("one upfront", "1", "units", "1752", "1752.00")],
    ),
    (
        reserved(payment=Payment.NO_UPFRONT, upfront=Decimal(0)),
        8761,
        [("one recurring", "17520", "hours", "1", "17520.00")],
    ),
    (
        reserved(upfront=None, recurring_hourly=None),
        10,
        [("one 1y commitment", "8760", "hours", "1.2", "10512.00")],
    ),
    (monthly(), 731, [("one", "2", "months", "730", "1460.00")]),
    (
        offer(purchase_option=PurchaseOption.CAPACITY_BLOCK, term="14d"),
        30,
        [("one", "14", "days", "72", "1008.00")],
    ),
    (
        offer(provider="aws", purchase_option=PurchaseOption.CAPACITY_BLOCK, hourly_rate=Decimal("14.75")),
        "336",
        [("one", "14", "days", "354", "4956.00")],
    ),
    (
        offer(provider="aws", purchase_option=PurchaseOption.CAPACITY_BLOCK, hourly_rate=Decimal("14.75")),
        "2022.24",  # 84.26 days
        [("one", "91", "days", "354", "32214.00")],
    ),
    (
        owned(),
        10,
        [
            ("one, loss in value", "1", "machines", "26280", "26280.00"),
            ("one running cost", "10", "hours", "0.1", "1.00"),
        ],
    ),
    (
        offer(purchase_option=PurchaseOption.FREE, hourly_rate=Decimal(0)),
        10,
        [("one", "10", "hours", "0", "0.00")],
    ),
]


@pytest.mark.parametrize(("one", "hours", "lines"), LINES, ids=lambda value: getattr(value, "purchase_option", None))
def test_lines_by_hand(one, hours, lines):
    components = Bill(one, Terms()).components(Decimal(hours))
    assert [(c.name, c.quantity, c.unit, c.rate, c.amount) for c in components] == [
        (name, Decimal(quantity), unit, Decimal(rate), Decimal(amount)) for name, quantity, unit, rate, amount in lines
    ]


def test_the_largest_line_takes_what_rounding_leaves():
    thirds = tuple(RatePart(name, Decimal("0.333")) for name in "abc")
    odd = offer(parts=(RatePart("large", Decimal("1.004")), *thirds), hourly_rate=Decimal("2.003"))
    amounts = {line.name: line.amount for line in Bill(odd, Terms()).components(Decimal(1))}
    assert amounts == {"large": Decimal("1.01"), **dict.fromkeys("abc", Decimal("0.33"))}


@pytest.mark.parametrize(
    ("one", "on_demand", "hours"),
    [
        (reserved(), "3", "3504"),  # 10,512 paid in any case
        (reserved(), "1.2", "8760"),
        (reserved(), "1.19", None),  # never pays off
        (monthly(), "2", "365"),
        (monthly(term="3mo"), "2", "1095"),
        (offer(), "3", None),
        (reserved(), None, None),
        (owned(), "0.1", None),  # rent as cheap as the electricity
        (owned(), "10.1", "2628"),
    ],
)
def test_break_even_by_hand(one, on_demand, hours):
    rate = None if on_demand is None else Decimal(on_demand)
    found = break_even_hours(tariff(one), rate)
    assert found == (None if hours is None else Decimal(hours))


@given(all_offers, st.decimals("0.01", 1000, places=2))
def test_at_break_even_both_cost_the_same(one, on_demand):
    bill = Bill(one, Terms())
    hours = break_even_hours(bill.tariff, on_demand)
    if hours is not None:
        own = tariff(one).fee * max(tariff(one).minimum_periods, 1) + tariff(one).metered_hourly * hours
        assert float(own) == pytest.approx(float(on_demand * hours), rel=1e-12)


@pytest.mark.parametrize(
    ("one", "hours", "paid"),
    [(offer(), 5, 0), (reserved(), 5, 8760), (reserved(), 8761, 17520), (monthly(term="3mo"), 5, 2190)],
)
def test_hours_that_fees_are_paid_for(one, hours, paid):
    assert Bill(one, Terms(nodes=4)).paid_hours(Decimal(hours)) == paid


@given(metered_offers(), times)
def test_where_rounding_is_assumed_the_low_end_is_by_the_second(one, hours):
    assumed = Bill(one, Terms(rounding_assumed=True)).paid([hours] * 3, [Decimal(1)] * 2, "billed")
    known = Bill(one, Terms()).paid([hours] * 3, [Decimal(1)] * 2, "billed")
    by_the_second = Bill(one, Terms()).by_the_second
    assert (assumed.billed, assumed.billed_high) == (known.billed, known.billed_high)
    assert assumed.billed_low == cents(by_the_second.billed(hours))
    tariffs = Tariffs.of(Catalogue.from_offers([one], "").columns, np.array([0]), np.array([1]))
    exact = float(by_the_second.billed(hours))
    assert tariffs.by_the_second(np.array([True])).billed(np.array([float(hours)]))[0] == pytest.approx(exact)
