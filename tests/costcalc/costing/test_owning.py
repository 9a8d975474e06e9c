"""Machines that the asker owns: their rate in parts, and the use from which on they beat renting."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from costcalc.costing.bills import Bill, Terms
from costcalc.costing.owning import Electricity, Purchase, owned_offer, owning_pays_from
from costcalc.hardware import Machine
from costcalc.query import EstimateQuery

DAY = datetime(2020, 2, 1, tzinfo=UTC)
BOX = Machine("RTX 2080 Ti", 1, 11.0)


def amounts(low, high, places=2):
    return st.decimals(low, high, places=places)


def owned(price=2350, watts=450, per_kwh="0.15", pue=1, **terms):
    query = EstimateQuery("resnet50", 0.757, **terms)
    bought = Purchase(Decimal(price), Decimal(watts), DAY, "a receipt")
    return owned_offer(query, BOX, bought, Electricity(Decimal(per_kwh), Decimal(pue)))


def test_a_2080_ti_box_costs_what_the_formula_says():
    """2,350 dollars, a quarter of it left after three years: 74 cents an hour at a tenth of the hours, 20 cents at half."""
    bill = Bill(owned(), Terms())
    assert (bill.offer.term, bill.tariff.committed_hours) == ("3y", 3 * 8760)
    life = Decimal(3 * 8760)
    rate = lambda use: bill.tariff.fee / (life * use) + bill.tariff.metered_hourly  # noqa: E731
    assert round(rate(Decimal("0.1")), 2) == Decimal("0.74")
    assert round(rate(Decimal("0.5")), 2) == Decimal("0.20")
    assert owning_pays_from(bill, Decimal("0.5"), Decimal(1)).quantize(Decimal(1)) == 4075


def test_the_parts_of_the_rate_are_lines_of_the_bill():
    lines = Bill(owned(pue="1.2"), Terms()).components(Decimal(100))
    assert [(line.name, line.amount) for line in lines] == [
        ("1x RTX 2080 Ti, loss in value", Decimal("1762.50")),
        ("electricity of 450 W at 0.15 a kWh", Decimal("6.75")),
        ("electricity of the building at PUE 1.2", Decimal("1.35")),
    ]


def test_a_building_that_adds_nothing_has_no_line():
    assert [line.name for line in Bill(owned(pue=1), Terms()).components(Decimal(100))][1:] == [
        "electricity of 450 W at 0.15 a kWh"
    ]


def test_a_machine_that_is_paid_for_costs_its_electricity_and_pays_from_the_first_hour():
    bill = Bill(owned(price=0), Terms())
    assert bill.billed(Decimal(100)) == bill.effective(Decimal(100)) == Decimal("6.75")
    assert owning_pays_from(bill, Decimal(1), Decimal(1)) == 0


def test_it_never_pays_where_renting_costs_less_than_its_electricity():
    assert owning_pays_from(Bill(owned(), Terms()), Decimal("0.06"), Decimal(1)) is None
    assert owning_pays_from(Bill(owned(), Terms()), None, Decimal(1)) is None


@given(amounts(0, 1, 4), amounts(0, 1, 4), amounts(1, 10_000), amounts("0.1", 1000))
def test_dearer_electricity_never_lowers_the_cost(one, other, price, hours):
    cheap, dear = (Bill(owned(price, per_kwh=str(each)), Terms()) for each in sorted((one, other)))
    assert cheap.effective(hours) <= dear.effective(hours)
    assert cheap.billed(hours) <= dear.billed(hours)


@given(amounts(1, 500_000), amounts("0.01", 500), amounts("0.05", 1000), amounts(0, 1))
def test_owning_and_renting_meet_exactly_at_the_break_even(price, rented_cost, hours, resale):
    bill = Bill(owned(price, own_resale=resale), Terms())
    even = owning_pays_from(bill, rented_cost, hours)
    assume(even)
    tariff = bill.tariff
    used = even / (tariff.committed_hours)  # the share of its life that the machine is used
    owned_hour = tariff.fee / (tariff.committed_hours * used) + tariff.metered_hourly
    assert owned_hour * hours == pytest.approx(rented_cost, rel=Decimal("1e-12"))
