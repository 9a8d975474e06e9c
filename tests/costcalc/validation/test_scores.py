import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costcalc.validation.scores import Case, Goal, binomial_interval, coverage, half_width, score

CASES = [Case(f"c{i}", f"g{i % 5}", 0.01 * (i % 10 - 5), 0.02 * (i % 10 - 5)) for i in range(100)]


def test_errors_by_hand():
    found = score("tier", [Case("a", "x", math.log(1.1), math.log(1.2)), Case("b", "y", math.log(0.9), 0.0)])
    assert found.mape == pytest.approx(0.1)
    assert found.plain_mape == pytest.approx(0.1)
    assert found.bias == pytest.approx((math.log(1.1) + math.log(0.9)) / 2)
    assert (found.cases, found.goal) == (2, None)


@pytest.mark.parametrize(
    ("goal", "reached"), [(Goal(0.05, 0.5), False), (Goal(0.11, 0.5), True), (Goal(0.05, 1.01), True), (None, True)]
)
def test_a_goal_is_an_error_or_a_share_of_the_plain_methods(goal, reached):
    assert score("tier", [Case("a", "x", math.log(1.1), math.log(1.1))], goal).reached == reached


def test_the_half_width_is_an_order_statistic():
    assert half_width(CASES[:9], 0.8) == sorted(abs(case.error) for case in CASES[:9])[7]
    assert half_width(CASES[:3], 0.9) == pytest.approx(1.5 * max(abs(case.error) for case in CASES[:3]))
    assert half_width([], 0.8) == math.inf


def test_a_group_is_judged_by_the_others_alone():
    wild = [Case("w", "wild", 5.0, 5.0), *CASES]
    assert coverage(wild, 0.9).observed <= 1 - 1 / len(wild)
    assert coverage([Case("a", "one", 0.1, 0.1), Case("b", "one", 0.2, 0.1)], 0.8).observed == 1


def test_clopper_and_pearsons_table():
    assert binomial_interval(5, 10) == pytest.approx((0.1871, 0.8129), abs=1e-4)
    assert binomial_interval(0, 10) == pytest.approx((0, 0.3085), abs=1e-4)
    assert binomial_interval(10, 10) == pytest.approx((0.6915, 1), abs=1e-4)


@given(st.integers(1, 60), st.data())
def test_the_interval_holds_its_share(trials, data):
    successes = data.draw(st.integers(0, trials))
    low, high = binomial_interval(successes, trials)
    assert 0 <= low <= successes / trials <= high <= 1
