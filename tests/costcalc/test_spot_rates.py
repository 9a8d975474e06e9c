"""Spot rates move: how far is measured on the packaged prices, and the range of cost holds it."""

from datetime import UTC, datetime
from decimal import Decimal
from math import exp, hypot, log

import pytest
from fakes.offers import DAY, metered_offers, offer
from hypothesis import given
from hypothesis import strategies as st

from costcalc import spot_rates
from costcalc.catalogue.catalogue import Catalogue
from costcalc.costing.bills import Bill, Terms
from costcalc.hardware import Machine
from costcalc.offer import PurchaseOption
from science.fitting.spot_rates import Series, learned, listed_series
from science.validation.spot_rates import AHEAD, LEFT_OUT, spot_coverage

H100 = Machine("H100", 8, 80.0)
SPOT = PurchaseOption.SPOT
COSTS = ("billed_cost", "effective_cost")
hours = st.floats(0.01, 20_000)
ratios = st.floats(1, 5)


@pytest.fixture(scope="module")
def series():
    return listed_series()


def test_the_ranges_are_what_is_learned_from_the_packaged_lists(series):
    assert learned(series) == spot_rates.GOOGLE_S
    assert len(series) == 46
    for moves in spot_rates.GOOGLE_S.values():
        assert moves.fall == tuple(sorted(moves.fall))
        assert moves.rise == tuple(sorted(moves.rise))


def test_ranges_hold_four_in_five_of_what_came_later_and_of_regions_left_out(series):
    scores = spot_coverage(series)
    assert {(one.what, one.days) for one in scores} == {
        (what, n) for what in (LEFT_OUT, AHEAD) for n in (14, 30, 90, 180)
    }
    overall = {(one.what, one.days): one.inside for one in scores if one.generation == "all"}
    assert all(0.75 <= overall[AHEAD, days] <= 0.92 for days in (14, 30, 90, 180))
    assert all(0.75 <= overall[LEFT_OUT, days] <= 0.92 for days in (14, 30, 90, 180))
    assert all(one.good or 0.8 < one.inside < 0.92 for one in scores)
    for one in scores:
        assert one.inside + one.below + one.above == pytest.approx(1)


def test_a_score_that_looks_ahead_knows_nothing_of_what_comes():
    """A rate that stayed for a year and then doubled lies above every range of before."""
    steady = (*range(0, 400, 30), 401, 800)
    known = tuple(Series("A", region, steady, (*[1.0] * (len(steady) - 2), 2.0, 2.0)) for region in ("one", "other"))
    [ahead] = (one for one in spot_coverage(known) if (one.what, one.generation, one.days) == (AHEAD, "A", 180))
    assert (ahead.stretches, ahead.inside, ahead.above) == (2, 0.5, 0.5)


def test_a_range_ends_where_the_list_ends():
    """Eleven moves, one of them down, seven of none, three up: four fifths end at the second of the three, and as few stretches
    are known, half as far below."""
    moves = [-0.5, *7 * [0.0], 0.1, 0.2, 0.3]
    known = tuple(
        Series("A", str(number), (0, 14, 15), (1.0, exp(move), exp(move))) for number, move in enumerate(moves)
    )
    after = learned(known, (14,))["A"]
    assert (after.fall[1], after.rise[1]) == pytest.approx((0.1, 0.2))


def test_a_rate_seen_just_now_moves_less_than_one_of_last_year():
    google_s = offer(provider="gcp", machine=H100, purchase_option=SPOT)
    for end in ("fall", "rise"):
        widths = [getattr(spot_rates.width(google_s, days, 24), end) for days in (0, 29, 89, 364, 3000)]
        assert widths == sorted(widths)
        assert widths[-1] == widths[-2] == getattr(spot_rates.GOOGLE_S["H100"], end)[-1]


@pytest.mark.parametrize(("provider", "accelerator"), [("aws", "A100-40GB"), ("gcp", "TPU v5e"), ("vast", "RTX 4090")])
def test_where_nothing_is_known_the_widest_stands(provider, accelerator):
    assert spot_rates.generation(provider, accelerator) is None
    assert spot_rates.moves(provider, accelerator) == spot_rates.GOOGLE_S["H100"]
    assert spot_rates.moves("gcp", "A100-40GB") != spot_rates.GOOGLE_S["H100"]


@given(hours, ratios, ratios)
def test_half_widths_of_hours_and_rate_add_in_quadrature(point, below, above):
    low, high = point / below, point * above
    cheaper, dearer = spot_rates.factors(spot_rates.Width(0.3, 0.17), point, low, high)
    assert cheaper < 1 < dearer
    assert log(dearer * high / point) == pytest.approx(hypot(log(high / point), 0.17), abs=1e-9)
    assert log(cheaper * low / point) == pytest.approx(-hypot(log(point / low), 0.3), abs=1e-9)


@pytest.mark.parametrize("option", [option for option in PurchaseOption if option is not SPOT])
def test_other_rates_stay(option):
    width = spot_rates.width(offer(purchase_option=option, term="1y"), 100, 5)
    assert spot_rates.factors(width, 2, 1, 5) == (1, 1)


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
        moves = spot_rates.moves(one.provider, one.accelerator).after(one.price_age_days + one.hours / 24)
        widest = ratio(one, "hours") * exp(sum(map(float, moves)))
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
    fall, rise = map(float, spot_rates.moves(one.provider, one.accelerator).after(one.price_age_days + one.hours / 24))
    assert f"the rate ending at {exp(-fall):.2f} to {exp(rise):.2f} times" in money
    assert "takes the widest moves known" in money
