"""Rates move after they were seen: how far is measured on the packaged prices, and the range of cost holds it."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from math import exp, hypot, log

import numpy as np
import pytest
from fakes.offers import DAY, metered_offers, offer
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from costcalc import rate_moves
from costcalc.catalogue.catalogue import Catalogue
from costcalc.costing.bills import Bill, Terms
from costcalc.hardware import Machine
from costcalc.offer import PurchaseOption
from pricing.packaged.offers import read_packaged
from pricing.packaged.rate_moves import RATE_MOVES
from pricing.packaged.rate_moves import rate_moves as packaged_moves
from science.fitting import rate_moves as fitting
from science.fitting.spot_rates import Series, learned, listed_series
from science.validation import rate_moves as validation
from science.validation.spot_rates import AHEAD, LEFT_OUT, spot_coverage

H100 = Machine("H100", 8, 80.0)
SPOT = PurchaseOption.SPOT
MOVES = packaged_moves()
GOOGLE_S = {name: moves for (_, option, name), moves in MOVES.known.items() if option == SPOT}
COSTS = ("billed_cost", "effective_cost")
hours = st.floats(0.01, 20_000)
ratios = st.floats(1, 5)


@pytest.fixture(scope="module")
def series():
    return listed_series()


@pytest.fixture(scope="module")
def seen():
    """The packaged rates that were seen more than once, and the last day on which any was."""
    offers = read_packaged().offers
    return fitting.seen_rates(offers), max(offer.observed_at for offer in offers).date()


def test_the_packaged_table_is_what_is_learned_from_the_packaged_rates(seen, series):
    rates, today = seen
    written = fitting.table(fitting.learned(rates, today.toordinal()) | fitting.of_spot(), today)
    assert RATE_MOVES.content().decode() == written, "run python -m science.fitting.rate_moves"
    assert len(series) == 46
    for moves in MOVES.known.values():
        assert moves.fall == tuple(sorted(moves.fall))
        assert moves.rise == tuple(sorted(moves.rise))
        assert all(-fall <= middle <= rise for fall, middle, rise in zip(*moves[1:], strict=True))


def test_rates_of_smaller_clouds_rise_and_those_of_the_largest_stay():
    small = MOVES.of("lambda", PurchaseOption.ON_DEMAND, "H100")
    assert (
        0.01
        < small.expected_after(60)
        < small.expected_after(120)
        == pytest.approx(2 * small.expected_after(60), abs=0.002)
    )
    assert small.expected_after(400) == small.expected_after(365)
    assert small.after_days(120).rise > small.after_days(120).fall > 0
    for option in (PurchaseOption.ON_DEMAND, PurchaseOption.RESERVED, PurchaseOption.COMMITTED_USE):
        assert MOVES.of("aws", option, "H100").after_days(365) == (0, 0)


def test_ranges_of_age_hold_both_tails_of_providers_left_out(seen):
    rates, today = seen
    scores = validation.coverage(rates, today.toordinal())
    assert {(one.what, one.days) for one in scores} == {
        (what, days) for what in (validation.LEFT_OUT, validation.AHEAD) for days in validation.HELD_BACK
    }
    for one in scores:
        assert one.inside + one.below + one.above == pytest.approx(1)
        assert one.below <= 0.1
        assert one.inside >= 0.75


def test_a_range_grows_with_the_root_of_the_days():
    days = tuple(range(validation.FIRST - 300, validation.FIRST, 30))
    known = [
        fitting.Seen("lambda", PurchaseOption.ON_DEMAND, str(n), days, tuple(1.01 ** (n * k) for k in range(10)))
        for n in range(10)
    ]
    [of_all] = fitting.learned(known, validation.FIRST).values()
    assert of_all.moves.after_days(120).rise == pytest.approx(2 * of_all.moves.after_days(30).rise, abs=0.002)
    assert (of_all.n, of_all.providers) == (450, 1)


def test_a_rate_that_doubles_lies_above_what_was_known_before():
    """Ten machines stay for a year; then one of them doubles within the days that are held back."""
    day = validation.FIRST
    days, steady = tuple(range(day - 400, day + 1, 40)), (2.0,) * 11
    known = [fitting.Seen("lambda", PurchaseOption.ON_DEMAND, str(n), days, steady) for n in range(9)]
    known.append(fitting.Seen("lambda", PurchaseOption.ON_DEMAND, "doubled", days, (*steady[:-1], 4.0)))
    held = list(validation.held_back(known, 30, day))
    assert [one.side for one in held] == [*[0] * 9, 1]
    assert validation.regret(known, 30, day).picks == 0  # one offer of each accelerator leaves nothing to pick


def test_the_pick_of_the_old_rate_costs_what_its_true_rate_is_above_the_least():
    day = validation.FIRST
    days = (day - 60, day - 40, day)
    rising = fitting.Seen("lambda", PurchaseOption.ON_DEMAND, "H100", days, (2.0, 2.0, 3.0))
    steady = fitting.Seen("verda", PurchaseOption.ON_DEMAND, "H100", days, (2.2, 2.2, 2.2))
    found = validation.regret([rising, steady], 30, day)
    assert (found.picks, found.as_seen) == (1, pytest.approx(3 / 2.2 - 1))


def test_what_was_learned_says_nothing_of_years_before(ask):
    long_ago = MOVES.at(MOVES.since - timedelta(days=1))
    assert long_ago.of("lambda", PurchaseOption.ON_DEMAND, "H100") == rate_moves.STILL
    assert long_ago.of("gcp", SPOT, "H100") == MOVES.of("gcp", SPOT, "H100")
    assert MOVES.at(MOVES.since) == MOVES


def test_a_rate_of_ones_own_sheet_stays():
    stated = offer(provider="lambda", machine=H100, flags=("your_sheet",))
    assert MOVES.of_offer(stated) == rate_moves.STILL
    assert MOVES.of_offer(replace(stated, flags=())) != rate_moves.STILL


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
    google_s = MOVES.of_offer(offer(provider="gcp", machine=H100, purchase_option=SPOT))
    for end in ("fall", "rise"):
        widths = [getattr(google_s.after_days(days), end) for days in (0, 29, 89, 365, 3000)]
        assert widths == sorted(widths)
        assert widths[0] == 0
        assert widths[-1] == widths[-2] == getattr(GOOGLE_S["H100"], end)[-1]


@given(st.floats(0, 1000))
def test_one_number_of_days_is_read_as_many_are(days):
    for moves in MOVES.known.values():
        assert moves.after_days(days) == pytest.approx([float(end) for end in moves.after(np.array(days))])


@pytest.mark.parametrize(("provider", "accelerator"), [("aws", "A100-40GB"), ("gcp", "TPU v5e"), ("vast", "RTX 4090")])
def test_where_nothing_is_known_the_widest_stands(provider, accelerator):
    assert rate_moves.generation(provider, accelerator) is None
    assert MOVES.of(provider, SPOT, accelerator) == GOOGLE_S["H100"]
    assert MOVES.of("gcp", SPOT, "A100-40GB") != GOOGLE_S["H100"]


@given(hours, ratios, ratios)
def test_half_widths_of_hours_and_rate_add_in_quadrature(point, below, above):
    low, high = point / below, point * above
    cheaper, dearer = rate_moves.factors(rate_moves.Width(0.3, 0.17), point, low, high)
    assert cheaper < 1 < dearer
    assert log(dearer * high / point) == pytest.approx(hypot(log(high / point), 0.17), abs=1e-9)
    assert log(cheaper * low / point) == pytest.approx(-hypot(log(point / low), 0.3), abs=1e-9)


@pytest.mark.parametrize("option", set(PurchaseOption) - {SPOT, PurchaseOption.ON_DEMAND})
def test_fees_stay(option):
    moves = MOVES.of_offer(offer(provider="lambda", purchase_option=option, term="1y"))
    assert rate_moves.factors(moves.after_days(100), 2, 1, 5) == (1, 1)


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
        moves = MOVES.of(one.provider, SPOT, one.accelerator).after_days(one.price_age_days + one.hours / 24)
        widest = ratio(one, "hours") * exp(sum(moves))
        rounded = 0.02 / float(one.effective_cost_low)
        assert ratio(one, "hours") - rounded < ratio(one, "effective_cost") < widest + rounded


def test_on_demand_the_range_was_that_of_the_hours_before_rates_are_known_to_move(listed):
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
    fall, rise = MOVES.of(one.provider, SPOT, one.accelerator).after_days(one.price_age_days + one.hours / 24)
    assert f"the rate ending at {exp(-fall):.2f} to {exp(rise):.2f} times" in money
    assert "takes the widest moves known" in money


def test_old_rates_of_small_clouds_widen_the_range_and_say_how_such_rates_changed(ask):
    seen = datetime(2026, 9, 20, tzinfo=UTC)
    lambda_s = offer(
        provider="lambda", instance_type="gpu_8x_h100", machine=H100, observed_at=seen, hourly_rate=Decimal("31.92")
    )
    prices = Catalogue.from_offers([lambda_s, replace(lambda_s, provider="aws")], "made up")
    by_provider = {
        one.provider: one
        for one in ask(
            0.757, prices=prices, as_of=seen + timedelta(days=69), nodes=1, recipe=("ffcv-rn50-32ep",)
        ).estimates
    }
    small, large = by_provider["lambda"], by_provider["aws"]
    assert small.billed_cost == large.billed_cost
    assert small.billed_cost_low < large.billed_cost_low < large.billed_cost_high < small.billed_cost_high
    change = exp(MOVES.of("lambda", PurchaseOption.ON_DEMAND, "H100").expected_after(69)) - 1
    sentence = f"$31.92 an hour was seen 69 days ago; such rates are {change:.0%} higher by now on average.".replace(
        "%", " %"
    )
    assert sentence in small.assumptions
    assert not any("by now on average" in text for text in large.assumptions)
