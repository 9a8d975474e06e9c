"""Where curves reach a target, under three rules, against definitions that share no code with them."""

import numpy as np
import pytest
from fakes.recipes import RECIPE
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from costcalc.convergence.curves import Curves, isotonic
from costcalc.convergence.own_noise import evaluation_sigma
from costcalc.training import Crossing, Evaluation, Metric

accuracies = st.lists(st.integers(1, 99).map(lambda percent: percent / 100), min_size=1, max_size=9)
targets = st.integers(0, 100).map(lambda percent: (percent + 0.37) / 100)


def recipe(values, hours=None):
    points = (Evaluation(e + 1.0, hours and hours[e], value, None) for e, value in enumerate(values))
    return replace(RECIPE, evaluations=tuple(points))


def nearest_monotone(values):
    """The max-min formula of isotonic regression."""
    count = range(len(values))
    return [
        max(min(np.mean(values[start : end + 1]) for end in count if end >= at) for start in range(at + 1))
        for at in count
    ]


def crossing_epoch(values, target, rule):
    """The epoch by definition, NaN if there is none."""
    reached = {
        Crossing.FIRST: lambda at: values[at] >= target,
        Crossing.SUSTAINED: lambda at: all(value >= target for value in values[at:]),
        Crossing.ISOTONIC: lambda at: nearest_monotone(values)[at] >= target,
    }[rule]
    return next((at + 1.0 for at in range(len(values)) if reached(at)), np.nan)


@given(accuracies)
def test_the_fit_is_the_nearest_monotone_sequence(values):
    assert isotonic(values).tolist() == pytest.approx(nearest_monotone(values))


@pytest.mark.parametrize("rule", Crossing)
@given(st.lists(accuracies, min_size=1, max_size=4), targets)
def test_crossings_are_those_of_the_definition(rule, curves, target):
    assume(all(abs(value - target) > 1e-9 for values in curves for value in nearest_monotone(values)))
    reach = Curves([recipe(values) for values in curves], Metric.TOP1).epochs_to(target, rule)
    np.testing.assert_array_equal(reach.epochs, [crossing_epoch(values, target, rule) for values in curves])


@given(accuracies, targets, targets)
def test_a_stricter_target_is_never_reached_earlier(values, one, other):
    low, high = sorted((one, other))
    curves = Curves([recipe(values)], Metric.TOP1)
    for rule in Crossing:
        early, late = curves.epochs_to(low, rule).epochs[0], curves.epochs_to(high, rule).epochs[0]
        assert np.isnan(late) or early <= late


@given(accuracies, targets)
def test_sustained_comes_no_earlier_than_first(values, target):
    curves = Curves([recipe(values)], Metric.TOP1)
    first, sustained = (curves.epochs_to(target, rule).epochs[0] for rule in (Crossing.FIRST, Crossing.SUSTAINED))
    assert np.isnan(sustained) or first <= sustained


def test_a_target_that_is_met_exactly_is_reached():
    curves = Curves([recipe([0.5, 0.757])], Metric.TOP1)
    assert [curves.epochs_to(0.757, rule).epochs[0] for rule in Crossing] == [2, 2, 2]


def test_a_single_spike_counts_for_first_alone():
    curves = Curves([recipe([0.5, 0.8, 0.5, 0.5])], Metric.TOP1)
    assert curves.epochs_to(0.79, Crossing.FIRST).epochs[0] == 2
    assert np.isnan(curves.epochs_to(0.79, Crossing.SUSTAINED).epochs[0])
    assert np.isnan(curves.epochs_to(0.79, Crossing.ISOTONIC).epochs[0])


def test_hours_and_ends_are_those_of_the_curve():
    known, unknown = recipe([0.5, 0.7, 0.6], hours=[1.0, 2.5, 3.0]), recipe([0.5, 0.9])
    reach = Curves([known, unknown], Metric.TOP1).epochs_to(0.55, Crossing.FIRST)
    assert reach.epochs.tolist() == [2, 2]
    np.testing.assert_array_equal(reach.own_hours, [2.5, np.nan])
    assert reach.end_accuracy.tolist() == pytest.approx([0.65, 0.9])
    assert reach.end_epochs.tolist() == [3, 2]


def test_each_metric_has_its_own_points():
    both = replace(RECIPE, evaluations=(Evaluation(1, None, 0.5, None), Evaluation(2, None, 0.6, 0.9)))
    only_top1 = recipe([0.7])
    top5 = Curves([both, only_top1], Metric.TOP5)
    reach = top5.epochs_to(0.8, Crossing.ISOTONIC)
    np.testing.assert_array_equal(reach.epochs, [2, np.nan])
    np.testing.assert_array_equal(reach.end_accuracy, [0.9, np.nan])
    np.testing.assert_array_equal(reach.end_epochs, [2, np.nan])
    assert top5.best.tolist() == [0.9, 0]


def test_no_recipes_reach_nothing():
    assert len(Curves([], Metric.TOP1).epochs_to(0.5, Crossing.FIRST).epochs) == 0


def test_a_schedule_tuned_to_a_target_answers_from_its_crossing_on_alone():
    curve = recipe([0.5, 0.7, 0.75, 0.76])
    tuned = Curves([replace(curve, tuned_to=0.75)], Metric.TOP1)
    assert [tuned.epochs_to(target, Crossing.FIRST).epochs[0] for target in (0.6, 0.75, 0.755)] == [3, 3, 4]
    missed = Curves([replace(curve, tuned_to=0.77)], Metric.TOP1)
    assert [missed.epochs_to(target, Crossing.FIRST).epochs[0] for target in (0.6, 0.76)] == [4, 4]


def test_curves_run_to_their_end_where_they_are_told_to():
    reach = Curves([recipe([0.6, 0.7, 0.8], [1.0, 2.0, 3.5]), recipe([0.6, 0.7])], Metric.TOP1).epochs_to(
        0.6, Crossing.FIRST
    )
    longer = reach.run_to_end(np.array([True, False]))
    assert longer.epochs.tolist() == [3, 1]
    np.testing.assert_array_equal(longer.own_hours, [3.5, np.nan])


def test_each_curve_may_have_a_target_of_its_own():
    curves = Curves([recipe([0.6, 0.7]), recipe([0.6, 0.7])], Metric.TOP1)
    assert curves.epochs_to(np.array([0.6, 0.7]), Crossing.SUSTAINED).epochs.tolist() == [1, 2]


def test_a_log_without_noise_is_as_sure_as_imagenets_recipes():
    assert evaluation_sigma([0.1, 0.5, 0.86, 0.86]) == pytest.approx(0.0015 * 0.76 / 1.2)


def test_a_log_that_still_rises_may_scatter_by_a_share_of_its_last_rise():
    assert evaluation_sigma([0.1, 0.3, 0.5, 0.86]) == pytest.approx(0.14 * 0.36 / 1.2)
    assert evaluation_sigma([0.1, 0.3, 0.8, 0.6]) == pytest.approx(0.1)  # what is seen is more
