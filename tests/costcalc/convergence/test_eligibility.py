"""Which recipes may answer, with which chance and how surely: laws of the formulas, and recipes made up to fall either way."""

from statistics import NormalDist

import numpy as np
import pytest
from fakes.recipes import recipe
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from costcalc.convergence.eligibility import (
    EVALUATION_SIGMA,
    INTERPOLATION_SIGMA,
    RUNS_IN_COMMON,
    SEED_SIGMA,
    STOPPED_REACHED,
    STOPPED_RUNS,
    ModelRecipes,
    best_reached,
    eligible_recipes,
    success_probability,
    target_shift,
)
from costcalc.query import EstimateQuery
from costcalc.training import Evaluation, Metric

accuracies = st.floats(0.5, 0.9)
SIGMA = SEED_SIGMA[Metric.TOP1]
LENGTH_WIDTH = 0.07


def chance(end, target, runs=1.0):
    return success_probability(np.array([end]), target, np.array([SIGMA]), np.array([runs]))[0]


def found(*recipes, target=0.75, **asked):
    """What is eligible among these recipes."""
    return eligible_recipes(ModelRecipes(recipes, LENGTH_WIDTH), EstimateQuery("resnet50", target, **asked))


def ending_at(*top1, **facts):
    """A recipe that was evaluated after every epoch."""
    points = tuple(Evaluation(epoch, None, accuracy, None) for epoch, accuracy in enumerate(top1, 1))
    return recipe(evaluations=points, **facts)


@given(accuracies, accuracies, accuracies)
def test_a_stricter_target_is_never_likelier(end, first, second):
    loose, strict = sorted((first, second))
    assert chance(end, strict) <= chance(end, loose)


def test_chances_by_hand():
    assert chance(0.76, 0.76) == pytest.approx(0.5)
    assert chance(0.76 + 1.2816 * SIGMA * 2**0.5, 0.76) == pytest.approx(0.9, abs=1e-4)
    assert chance(float("nan"), 0.76) == 0


@pytest.mark.parametrize("probability", [0.5, 0.9, 0.95])
def test_several_runs_need_less_of_a_margin(probability):
    margin = NormalDist().inv_cdf(probability) * SIGMA * (1 + 1 / 3) ** 0.5
    assert chance(0.76 + margin, 0.76, 3.0) == pytest.approx(probability)


@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_wider_levels_reach_further(first, second):
    shifts = [
        target_shift(EVALUATION_SIGMA[Metric.TOP1], np.array([SIGMA]), np.array([1.0]), level)[0]
        for level in sorted((first, second))
    ]
    assert 0 < shifts[0] <= shifts[1]


@pytest.mark.parametrize(("metric", "between_evaluations"), [(Metric.TOP1, 0.00094), (Metric.TOP5, 0.00056)])
def test_eight_in_ten_runs_lie_within_1_28_standard_deviations(metric, between_evaluations):
    spread = (SIGMA**2 * 2 + between_evaluations**2) ** 0.5
    [shift] = target_shift(EVALUATION_SIGMA[metric], np.array([SIGMA]), np.array([1.0]), 0.8)
    assert shift == pytest.approx(1.2816 * spread, rel=1e-4)


class TestColumns:
    def test_seed_noise_is_that_of_all_recipes_and_grows_where_nobody_ran(self):
        columns = ModelRecipes((recipe(), recipe(tuned_to=0.759), recipe(is_interpolated=True)), LENGTH_WIDTH)
        for metric in Metric:
            seed, between = SEED_SIGMA[metric], INTERPOLATION_SIGMA[metric]
            expected = [seed, seed, (seed**2 + between**2) ** 0.5]
            assert columns.sigma(metric).tolist() == pytest.approx(expected)
        assert columns.is_mlperf.tolist() == [False, True, False]
        assert columns.length_width.tolist() == [0, 0, LENGTH_WIDTH]

    def test_the_best_is_of_the_metric_asked_about(self):
        both = recipe(name="both", evaluations=(Evaluation(1, None, 0.7, 0.93), Evaluation(2, None, 0.6, 0.9)))
        columns = ModelRecipes((ending_at(0.75, name="top-1 alone"), both), LENGTH_WIDTH)
        assert best_reached(columns, Metric.TOP1).recipe == "top-1 alone"
        best = best_reached(columns, Metric.TOP5)
        assert (best.recipe, best.accuracy) == ("both", 0.93)
        assert best_reached(ModelRecipes((ending_at(0.7),), LENGTH_WIDTH), Metric.TOP5) is None
        assert best_reached(ModelRecipes((), LENGTH_WIDTH), Metric.TOP1) is None


class TestReaching:
    def test_one_that_ends_far_above_the_target_stops_at_its_crossing(self):
        answer = found(ending_at(0.7, 0.76, 0.79))
        assert answer.to_target.epochs.tolist() == [2]
        assert answer.eligible.tolist() == [True]
        assert answer.success_probability[0] > 0.999

    def test_one_that_ends_within_its_seed_noise_below_runs_to_its_end(self):
        near, far = 0.75 - 0.9 * SIGMA, 0.75 - 1.1 * SIGMA
        answer = found(ending_at(0.7, near), ending_at(0.7, far), confidence=0.05)
        np.testing.assert_array_equal(answer.to_target.epochs, [2, np.nan])
        assert answer.eligible.tolist() == [True, False]
        assert answer.rejections["target_never_reached"] == 1
        assert 0.05 < answer.success_probability[0] < 0.5

    def test_mlperf_stops_at_its_target_instead(self):
        answer = found(ending_at(0.7, 0.7495, tuned_to=0.749))
        assert np.isnan(answer.to_target.epochs[0])

    def test_runs_that_stop_at_their_target_reach_it_as_often_as_published_ones(self):
        end = 0.7595
        share = STOPPED_REACHED / STOPPED_RUNS
        assert found(ending_at(0.7, end, tuned_to=0.759), target=0.759).success_probability[0] == pytest.approx(share)
        assert found(ending_at(0.7, end), target=0.759).success_probability[0] < share
        beyond = found(ending_at(0.7, end, tuned_to=0.759), target=0.7593).success_probability[0]
        assert beyond == pytest.approx(chance(end, 0.7593))

    @pytest.mark.parametrize("reached", [3, 4, 5])
    def test_its_own_runs_count_beside_those_of_all(self, reached):
        one = ending_at(0.7, 0.7595, tuned_to=0.759, runs=5, reached=reached)
        share = (reached + RUNS_IN_COMMON * STOPPED_REACHED / STOPPED_RUNS) / (5 + RUNS_IN_COMMON)
        assert found(one, target=0.759).success_probability[0] == pytest.approx(share)

    def test_the_mean_end_of_all_runs_counts_for_the_metric_it_is_of(self):
        points = (Evaluation(1, None, 0.76, 0.93),)
        one = recipe(evaluations=points, mean_top1=0.752)
        assert found(one, target=0.752).success_probability[0] == pytest.approx(0.5)
        assert found(one, target=0.93, metric=Metric.TOP5).success_probability[0] == pytest.approx(0.5)

    def test_a_schedule_nobody_ran_answers_near_its_end_only(self):
        between = ending_at(0.70, 0.72, 0.80, is_interpolated=True)
        assert found(between, target=0.77).eligible.tolist() == [True]
        answer = found(between, target=0.71)
        assert answer.eligible.tolist() == [False]
        assert answer.rejections["far_below_end"] == 1


class TestRequested:
    ends = 0.7, 0.8

    def test_unsure_ones_are_left_out_of_the_best_and_stand_among_all(self):
        unsure = ending_at(0.7, 0.7505)
        assert found(unsure).rejections["below_confidence"] == 1
        assert found(unsure, recipes="all").eligible.tolist() == [True]

    def test_of_every_recipe_the_sure_are_the_best_if_there_are_any(self):
        sure, unsure = ending_at(0.7, 0.8), ending_at(0.7, 0.7505)
        listed = found(sure, unsure, recipes="all")
        assert (listed.eligible.tolist(), listed.best.tolist()) == ([True, True], [True, False])
        assert found(unsure, recipes="all").best.tolist() == [True]

    def test_confidence_may_be_met_exactly(self):
        end = ending_at(0.7, 0.75)
        assert found(end, confidence=float(found(end).success_probability[0])).eligible.tolist() == [True]

    def test_names_choose(self):
        old, new = ending_at(*self.ends, name="old"), ending_at(*self.ends, name="new")
        assert found(old, new, recipe=("new",)).eligible.tolist() == [False, True]
        assert found(old, new, recipe=("other*",)).rejections["no_recipe"] == 1

    @pytest.mark.parametrize(("names", "later"), [((), 2), (("old",), 0), (("n*",), 2), (("new",), 1)])
    def test_recipes_published_later_are_counted(self, names, later):
        old, *unknown = (ending_at(*self.ends, name=name) for name in ("old", "new", "newest"))
        query = EstimateQuery("resnet50", 0.75, recipe=names)
        rejections = eligible_recipes(ModelRecipes((old,), LENGTH_WIDTH, tuple(unknown)), query).rejections
        assert (rejections["not_yet_published"], rejections["no_recipe"]) == (later, 0)

    def test_all_hold_what_the_best_is_chosen_from(self):
        pair = ending_at(*self.ends), ending_at(*self.ends, is_interpolated=True)
        assert found(*pair, target=0.78).eligible.tolist() == [True, True]
        assert found(*pair, target=0.78, recipes="all").eligible.tolist() == [True, True]


class TestWidths:
    def widths(self, one, **asked):
        answer = found(one, **asked)
        return answer.log_width_below[0], answer.log_width_above[0]

    def test_they_are_the_epochs_at_which_the_shifted_target_is_crossed(self):
        steps = [0.75 + 0.0006 * step for step in range(-9, 30)]
        one = ending_at(*steps)
        [shift] = target_shift(EVALUATION_SIGMA[Metric.TOP1], np.array([SIGMA]), np.array([1.0]), 0.8)
        early, late = (next(e for e, top1 in enumerate(steps, 1) if top1 >= t) for t in (0.75 - shift, 0.75 + shift))
        assert early < 10 < late
        assert self.widths(one) == pytest.approx((np.log(10 / early), np.log(late / 10)))

    def test_a_later_crossing_that_does_not_exist_is_the_end(self):
        assert self.widths(ending_at(0.7, 0.7501, 0.7502, 0.7503), recipes="all")[1] == pytest.approx(np.log(4 / 2))

    def test_mlperf_has_none_and_a_schedule_nobody_ran_that_of_its_length(self):
        rising = [0.75 + 0.0005 * step for step in range(-20, 40)]
        assert self.widths(ending_at(*rising, tuned_to=0.749)) == (0, 0)
        assert self.widths(ending_at(*rising, is_interpolated=True)) == (LENGTH_WIDTH, LENGTH_WIDTH)

    def test_a_borrowed_curve_is_less_sure_the_further_from_its_end_but_never_takes_longer(self):
        rising = [0.70 + 0.001 * step for step in range(100)]
        for target, width in ((0.75, 0.2), (0.78, 0.2), (0.75, 9.0)):
            pair = [ending_at(*rising, **facts) for facts in ({}, {"has_borrowed_curve": True})]
            columns = ModelRecipes(tuple(pair), LENGTH_WIDTH, (), width)
            seen = eligible_recipes(columns, EstimateQuery("resnet50", target))
            left = np.log(100 / seen.to_target.epochs[1])
            below, above = seen.log_width_below, seen.log_width_above
            assert below[1] == pytest.approx(np.hypot(below[0], width * left))
            assert above[1] == pytest.approx(min(np.hypot(above[0], width * left), left))


def test_recipes_that_never_reach_the_target_do_not_disturb_the_others():
    one, never = ending_at(0.7, 0.8), replace(ending_at(0.5, 0.6), name="never")
    together, alone = found(one, never), found(one)
    assert together.success_probability[0] == alone.success_probability[0]
    assert together.log_width_above[0] == alone.log_width_above[0]
