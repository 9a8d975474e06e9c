"""How a run whose schedule is known goes on, from other runs of its family."""

import math

import numpy as np
import pytest
from msgspec.structs import replace

from costcalc.convergence.partial import BY_RULE, LEVEL, Course, NoForecast, forecast, predicted, sure_length

SHARES = np.linspace(0.05, 1.0, 20)


def falling(start, end, power=1.0):
    """A run whose error falls in a straight line of ln(error) against share^power."""
    errors = np.exp(np.log(start) + (np.log(end) - np.log(start)) * SHARES**power)
    return Course.of((SHARES * 40).tolist(), errors.tolist(), 40.0)


FAMILY = [falling(0.8, end) for end in (0.20, 0.22, 0.24, 0.26, 0.28)]


def test_a_run_like_one_of_the_family_ends_like_it():
    found = forecast(falling(0.8, 0.23).until(0.5), FAMILY)
    low, middle, high = found.end()
    assert middle == pytest.approx(0.23, rel=0.03)
    assert low < 0.23 < high
    assert not found.by_rule
    assert len(found.missed) == 5


def test_a_target_is_reached_later_the_nearer_it_is_to_the_end():
    found = forecast(falling(0.8, 0.23).until(0.5), FAMILY)
    soon, late = (found.shares_to(error)[1] for error in (0.35, 0.25))
    assert 0.5 < soon < late < 1
    assert soon == pytest.approx(math.log(0.35 / 0.8) / math.log(0.23 / 0.8), abs=0.02)
    soonest, middle, latest = found.shares_to(0.25)
    assert soonest <= middle <= latest


def test_what_is_below_the_range_of_the_end_is_never_reached():
    found = forecast(falling(0.8, 0.23).until(0.5), FAMILY)
    assert found.shares_to(0.05) == (math.inf, math.inf, math.inf)
    _, _, latest = found.shares_to(0.2299)
    assert latest == math.inf


@pytest.mark.parametrize("logs", [5, 12])
def test_the_chance_of_an_end_falls_with_it(logs):
    family = [
        falling(0.8, end, power) for end, power in zip(np.linspace(0.2, 0.28, logs), [1, 1.1, 0.9] * 4, strict=False)
    ]
    found = forecast(falling(0.8, 0.23).until(0.5), family)
    _, middle, high = found.end()
    chances = [found.chance(error) for error in (0.1, middle * 0.97, middle * 1.03, 2 * high)]
    assert chances == sorted(chances)
    assert chances[0] < 0.1 < 0.9 < chances[-1]


def test_runs_that_all_end_alike_end_so_however_one_stands():
    # all come to one end, as MLPerf's do that stop at their target
    family = [falling(start, 0.24) for start in (0.6, 0.7, 0.8, 0.9)]
    seen = falling(0.75, 0.3).until(0.6)
    assert math.exp(predicted(seen, family, np.array([1.0]))[0]) == pytest.approx(0.24, rel=0.03)


def test_a_family_of_equal_logs_lends_the_ratio_of_errors():
    family = [falling(0.8, 0.2)] * 3
    seen = falling(0.88, 0.22).until(0.5)
    assert math.exp(predicted(seen, family, np.array([1.0]))[0]) == pytest.approx(0.22, rel=1e-6)


def test_too_few_logs_for_a_quantile_have_a_range_by_rule():
    seen = falling(0.8, 0.23).until(0.5)
    few, enough = forecast(seen, FAMILY[:3]), forecast(seen, FAMILY[:4])
    assert few.by_rule
    assert not enough.by_rule
    largest = max(_left_out(FAMILY[:3]))
    assert few.half_width == pytest.approx(BY_RULE * largest)
    assert enough.half_width == pytest.approx(max(_left_out(FAMILY[:4])))


def _left_out(family):
    for one in family:
        others = [other for other in family if other is not one]
        yield abs(float(predicted(one.until(0.5), others, np.array([1.0]))[0] - one.at(1.0)))


def test_a_forecast_never_rises():
    bumpy = Course.of([10.0, 20, 30, 40], [0.6, 0.4, 0.45, 0.2], 40.0)
    assert (np.diff(forecast(falling(0.8, 0.23).until(0.4), [*FAMILY, bumpy]).log_errors) <= 0).all()


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (lambda: forecast(FAMILY[0].until(0.5), FAMILY[:2]), "3 are needed"),
        (lambda: forecast(falling(0.9, 0.7).until(0.5), FAMILY), "another course"),
        (lambda: FAMILY[0].until(0.01), "nothing was evaluated"),
        (lambda: Course.of([50.0], [0.3], 40.0), "40 were planned"),
        (lambda: Course.of([1.0], [0.0], 40.0), "above 0"),
    ],
)
def test_what_cannot_be_predicted_is_refused(asked, told):
    with pytest.raises(NoForecast, match=told):
        asked()


def of_length(epochs):
    """A run whose error at its end is a tenth lower with each doubling of its schedule."""
    return replace(falling(0.8, 0.24 * (epochs / 40) ** math.log2(0.9)), epochs=float(epochs))


def test_the_shortest_schedule_that_is_sure_of_a_target_is_named():
    family, seen = [of_length(epochs) for epochs in (20, 30, 50, 60, 80, 120)], of_length(40).until(0.5)
    found = forecast(seen, family)
    epochs, chance = sure_length(found, seen, family, 0.226)
    assert epochs in (80, 120)
    assert chance >= LEVEL > found.chance(0.226)
    assert sure_length(found, seen, family, 0.1) is None, "none of them would"
    assert sure_length(found, seen, FAMILY, 0.23) is None, "all of one length"
