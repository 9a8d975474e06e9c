import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from costcalc.throughput.fitted_parameters import HalfWidth
from science.validation.scores import (
    SCORED_LEVELS,
    Case,
    Coverage,
    Goal,
    coverage,
    half_width,
    score,
    with_half_widths,
)

CASES = [Case(f"c{i}", f"g{i % 5}", 0.01 * (i % 10 - 5), 0.02 * (i % 10 - 5)) for i in range(100)]


def case(group, error, **facts):
    return Case(f"{group} {error}", group, error, 2 * error, **facts)


class TestScore:
    """One row of the report."""

    def test_errors_by_hand(self):
        found = score("made up", [Case("a", "x", math.log(1.1), math.log(1.2)), Case("b", "y", math.log(0.9), 0.0)])
        assert (found.experiment, found.cases, found.goal) == ("made up", 2, None)
        assert found.mape == pytest.approx(0.1)
        assert found.baseline_mape == pytest.approx(0.1)
        assert found.bias == pytest.approx((math.log(1.1) + math.log(0.9)) / 2)

    def test_median_and_ninetieth_percentile_are_of_absolute_errors(self):
        found = score("made up", [case("x", math.log(1 + part)) for part in (-0.5, 0.1, 0.2, 0.3, 0.4)])
        assert found.median == pytest.approx(0.3)
        assert found.p90 == pytest.approx(0.4 + 0.6 * 0.1)

    def test_a_baseline_without_an_answer_is_left_out_of_its_mean(self):
        found = score("made up", [Case("a", "x", 0.0, math.nan), Case("b", "x", 0.0, math.log(1.3))])
        assert found.baseline_mape == pytest.approx(0.3)

    def test_both_levels_are_covered(self):
        assert tuple(each.level for each in score("made up", CASES).coverage) == SCORED_LEVELS == (0.8, 0.9)

    @pytest.mark.parametrize(
        ("goal", "reached"),
        [
            (Goal(0.05, 0.5), False),
            (Goal(0.11, 0.5), True),
            (Goal(0.05, 0.51), True),
            (Goal(0.0999, 0.499), False),
            (None, True),
        ],
    )
    def test_a_goal_is_an_error_or_a_share_of_the_baselines(self, goal, reached):
        assert score("made up", [Case("a", "x", math.log(1.1), math.log(1.2))], goal).reached == reached


class TestHalfWidth:
    """Split conformal: an order statistic of the errors."""

    def test_it_is_the_ceiling_of_n_plus_one_times_the_level(self):
        errors = [case("x", sign * size) for sign, size in ((1, 0.1), (-1, 0.2), (1, 0.3), (-1, 0.4))]
        assert half_width(errors, 0.2) == HalfWidth(0.1, by_rule=False, cases=4)
        assert half_width(errors, 0.5).ln == 0.3  # 2.5 of 4: the third
        assert half_width(errors, 0.8) == HalfWidth(0.4, by_rule=False, cases=4)
        assert half_width(CASES[:9], 0.8).ln == sorted(abs(case.error) for case in CASES[:9])[7]

    def test_too_few_errors_are_stretched_by_half_and_called_a_rule(self):
        assert half_width([case("x", 0.1), case("x", -0.4)], 0.9) == HalfWidth(
            pytest.approx(0.6), by_rule=True, cases=2
        )

    @pytest.mark.parametrize(
        ("cases", "level", "by_rule"), [(4, 0.8, False), (3, 0.8, True), (9, 0.9, False), (8, 0.9, True)]
    )
    def test_a_quantile_needs_its_number_of_errors(self, cases, level, by_rule):
        assert half_width(CASES[:cases], level).by_rule == by_rule

    def test_none_at_all_promise_nothing(self):
        assert half_width([], 0.8) == HalfWidth(math.inf, by_rule=True)

    def test_groups_may_count_once_each(self):
        """Five organisations: four with one error each, one with a hundred large ones."""
        errors = [case(f"o{size}", size) for size in (0.1, 0.2, 0.3, 0.4)] + [case("many", 0.9)] * 100
        assert half_width(errors, 0.8, by_group=True) == HalfWidth(
            0.9, by_rule=False, cases=5, by_organisation=True
        )  # 4.8 of 5
        assert half_width(errors, 0.6, by_group=True).ln == 0.4  # 3.6 of 5
        assert half_width(errors, 0.6).ln == 0.9
        assert half_width(errors, 0.9, by_group=True).by_rule  # 5.4 of 5

    def test_errors_count_relative_to_their_scatter(self):
        assert half_width([case("x", 0.4, scatter=2.0)], 0.5).ln == 0.2

    @given(st.lists(st.floats(-3, 3), min_size=1, max_size=30), st.sampled_from((0.5, 0.8, 0.9)))
    def test_at_least_the_level_of_its_own_errors_lie_inside(self, errors, level):
        width = half_width([case("x", error) for error in errors], level).ln
        assert sum(abs(error) <= width for error in errors) >= level * len(errors) - 1e-9


class TestCoverage:
    """How often intervals from other groups' errors hold the truth."""

    def test_a_group_is_judged_by_the_others_alone(self):
        wild = [*(case("calm", 0.01 * i) for i in range(1, 10)), case("wild", 5.0)]
        found = coverage(wild, 0.8)
        assert found.observed == 0.9  # the calm are judged by the wild one's error, the wild one by theirs
        assert found.half_width == 7.5

    def test_its_own_errors_do_not_move_a_groups_width(self):
        def widths(error):
            return coverage([case("a", error), case("a", error), case("a", error), case("b", 0.2)], 0.5)

        assert widths(0.1).half_width == widths(9.0).half_width == 0.2
        assert (widths(0.1).observed, widths(0.3).observed) == (0.75, 0.25)

    def test_one_group_alone_promises_nothing_and_holds_everything(self):
        found = coverage([case("one", 0.1), case("one", 0.2)], 0.8)
        assert (found.observed, found.half_width) == (1, math.inf)

    def test_scatter_widens_a_cases_interval(self):
        steady, scattered = (coverage([case("a", 0.1), case("b", 0.15, scatter=each)], 0.5) for each in (1.0, 2.0))
        assert steady.observed == 0.5  # b lies outside 0.1, a inside 0.15
        assert scattered.observed == 0.5  # b lies inside 2 x 0.1, a outside 0.15 / 2
        assert scattered.half_width == pytest.approx((0.2 + 0.075) / 2)

    def test_cases_that_bring_half_widths_are_judged_by_those(self):
        brought = [case("a", 0.15, half_widths=(0.1, 0.2)), case("b", -0.05, half_widths=(0.1, 0.2))]
        assert coverage(brought, 0.8).observed == 0.5
        assert coverage(brought, 0.9).observed == 1
        assert coverage(brought, 0.9).half_width == 0.2

    def test_widths_by_rule_are_named(self):
        few = [case("a", 0.1), case("b", 0.2)]
        assert coverage(few, 0.8).by_rule
        assert not coverage([case(str(i), 0.1) for i in range(6)], 0.8).by_rule
        assert not coverage([replace(one, half_widths=(0.1, 0.2)) for one in few], 0.8).by_rule

    def test_the_share_has_clopper_and_pearsons_interval(self):
        halves = [case("a", 0.05 if i % 2 else 0.3, half_widths=(0.1, 0.1)) for i in range(10)]
        found = coverage(halves, 0.8)
        assert (found.low, found.high) == pytest.approx((0.1871, 0.8129), abs=1e-4)
        none = coverage([case("a", 0.3, half_widths=(0.1, 0.1))] * 10, 0.8)
        assert (none.low, none.high) == pytest.approx((0, 0.3085), abs=1e-4)

    @pytest.mark.parametrize(("level", "good"), [(0.79, False), (0.8, True), (0.85, True), (0.9, True), (0.91, False)])
    def test_it_is_good_where_the_level_lies_in_that_interval(self, level, good):
        assert Coverage(level, 0.85, 0.8, 0.9, 0.1).good == good


class TestByGroup:
    """Each group counts once."""

    CASES = tuple([case(f"o{number}", 0.1 * number) for number in range(1, 10)] + [case("o1", 0.1)] * 50)

    def test_the_share_inside_is_that_of_groups(self):
        found = coverage(self.CASES, 0.8, by_group=True)
        assert found.observed == pytest.approx(8 / 9)
        assert coverage(self.CASES, 0.8).observed == pytest.approx(51 / 59)

    def test_cases_may_carry_the_widths_of_all_other_groups(self):
        carried = with_half_widths(self.CASES, by_group=True)
        assert [each.name for each in carried] == [each.name for each in self.CASES]
        others = [each for each in self.CASES if each.group != "o9"]
        expected = tuple(half_width(others, level, by_group=True).ln for level in SCORED_LEVELS)
        assert next(each for each in carried if each.group == "o9").half_widths == expected
        assert coverage(carried, 0.8, by_group=True) == coverage(self.CASES, 0.8, by_group=True)
