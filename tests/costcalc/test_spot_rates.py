"""Spot rates move: how far is measured on the packaged prices, and the range of cost holds it."""

from bisect import bisect
from collections import defaultdict
from datetime import UTC, date, datetime
from decimal import Decimal
from math import ceil, exp, hypot, log

import pytest
from fakes.offers import DAY, metered_offers, offer
from hypothesis import given
from hypothesis import strategies as st
from packaged_tables import matching, rate, table

from costcalc.catalogue.catalogue import Catalogue
from costcalc.costing.bills import Bill, Terms
from costcalc.offers import PurchaseOption, spot_rate_factors, spot_rate_width

SPOT = PurchaseOption.SPOT
COSTS = ("billed_cost", "effective_cost")
hours = st.floats(0.01, 20_000)
ratios = st.floats(1, 5)


def series():
    """The days and rates of one of Google's machines of each family in each region, where at least six rates are known."""
    known = defaultdict(dict)
    for row in matching(table("offers.csv"), provider="gcp", purchase_option="spot"):
        if row["source"].startswith("Cyclenerd/"):
            known[row["region"], row["instance_type"]][date.fromisoformat(row["observed_at"][:10])] = float(rate(row))
    long = {where: rates for where, rates in sorted(known.items()) if len(rates) >= 6}
    return {(region, name.rpartition("-")[0]): rates for (region, name), rates in long.items()}.values()


def moves(rates, days):
    """|ln| between the rates of every seventh day and so many days later."""
    seen = sorted(rates)
    for start in range(seen[0].toordinal(), seen[-1].toordinal() - days + 1, 7):
        before, after = (rates[seen[bisect(seen, date.fromordinal(day)) - 1]] for day in (start, start + days))
        yield abs(log(after / before))


@pytest.mark.parametrize("days", [30, 90, 180, 365])
def test_the_width_is_what_four_in_five_listed_rates_moved_by(days):
    moved = sorted(move for rates in series() for move in moves(rates, days))
    assert len(moved) > 2000
    assert spot_rate_width(SPOT, days, 0) == pytest.approx(moved[ceil(0.8 * len(moved)) - 1], abs=0.035)


def test_a_rate_seen_just_now_moves_less_than_one_of_last_year():
    widths = [spot_rate_width(SPOT, days, 24) for days in (0, 29, 364, 3000)]
    assert widths == pytest.approx([0.0147, 0.0803, 0.28, 0.28], abs=1e-3)


@given(hours, ratios, ratios)
def test_half_widths_of_hours_and_rate_add_in_quadrature(point, below, above):
    low, high = point / below, point * above
    cheaper, dearer = map(float, spot_rate_factors(0.17, *(Decimal(repr(each)) for each in (low, point, high))))
    assert cheaper < 1 < dearer
    assert log(dearer * high / point) == pytest.approx(hypot(log(high / point), 0.17), abs=1e-9)
    assert log(cheaper * low / point) == pytest.approx(-hypot(log(point / low), 0.17), abs=1e-9)


@pytest.mark.parametrize("option", [option for option in PurchaseOption if option is not SPOT])
def test_other_rates_stay(option):
    assert spot_rate_factors(spot_rate_width(option, 100, 5), Decimal(1), Decimal(2), Decimal(5)) == (1, 1)


@given(metered_offers(), hours.map(lambda each: Decimal(repr(each))), st.floats(0.5, 2).map(Decimal))
def test_the_moved_rate_is_that_of_the_metered_hours(one, spent, times):
    bill = Bill(one, Terms(nodes=3, price_factor=Decimal("0.88")))
    assert float(bill.billed(spent, times)) == pytest.approx(float(bill.billed(spent) * times))
    assert float(bill.effective(spent, times)) == pytest.approx(float(bill.effective(spent) * times))


@pytest.fixture(scope="module")
def listed(ask):
    """Estimates on demand and spot, with a year's worth of rates."""
    both = {"purchase": (PurchaseOption.ON_DEMAND, SPOT), "as_of": datetime(2025, 6, 2, tzinfo=UTC), "limit": 1000}
    found = ask(0.757, **both).estimates
    assert {one.purchase_option for one in found} == set(both["purchase"])
    return found


def ratio(one, name):
    return float(getattr(one, f"{name}_high") / getattr(one, f"{name}_low"))


def test_a_spot_range_holds_its_point_and_is_wider_than_that_of_its_hours(listed):
    for one in (one for one in listed if one.purchase_option is SPOT):
        assert one.effective_cost_low < one.effective_cost < one.effective_cost_high
        assert one.billed_cost_low < one.billed_cost < one.billed_cost_high
        widest = ratio(one, "hours") * exp(2 * spot_rate_width(SPOT, one.price_age_days, one.hours))
        rounded = 0.02 / float(one.effective_cost_low)
        assert ratio(one, "hours") - rounded < ratio(one, "effective_cost") < widest + rounded


def test_on_demand_the_range_is_that_of_the_hours(listed):
    for one in (one for one in listed if one.purchase_option is not SPOT):
        assert float(one.effective_cost_low) == pytest.approx(float(one.hourly_rate) * one.hours_low, abs=0.006)
        assert float(one.effective_cost_high) == pytest.approx(float(one.hourly_rate) * one.hours_high, abs=0.006)


def asked(ask, **parameters):
    prices = Catalogue.from_offers([offer(purchase_option=SPOT)], "made up")
    (one,) = ask(0.757, prices=prices, as_of=DAY, nodes=1, limit=1, **parameters).estimates
    return one


def test_storage_does_not_move_with_the_rate(ask):
    extra = {"storage_gb": Decimal(10_000), "storage_rate": Decimal(73)}
    bare, stored = asked(ask), asked(ask, **extra)
    for end in ("", "_low", "_high"):
        beside = 10_000 * 73 / 730 * getattr(bare, f"hours{end}")
        for name in COSTS:
            added = getattr(stored, name + end) - getattr(bare, name + end)
            assert float(added) == pytest.approx(beside, abs=0.02), name + end


@pytest.mark.parametrize(
    ("overheads", "interruptions"), [("typical", "one interruption per machine in 48 h"), ("none", "left out")]
)
def test_spot_says_what_its_range_holds(ask, overheads, interruptions):
    one = asked(ask, overheads=overheads)
    time, money = (text for text in one.assumptions if text.startswith("Spot: "))
    assert interruptions in time
    assert "waiting for capacity is not counted" in time
    assert f"a factor of {exp(spot_rate_width(SPOT, one.price_age_days, one.hours)):.2f}" in money
