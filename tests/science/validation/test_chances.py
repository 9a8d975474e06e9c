"""Chances of success worked out by hand: each run from the others of its recipe, by the formula of `/cost`."""

from math import sqrt
from statistics import NormalDist

import pytest
from msgspec.structs import replace
from support.mlperf_results import mlperf_row, publish

from costcalc.convergence.eligibility import RUNS_IN_COMMON, SEED_SIGMA, STOPPED_REACHED, STOPPED_RUNS
from costcalc.training import Evaluation, Metric
from science.validation.convergence.chances import FEWEST_RUNS, MARGINS, brier_scores, mlperf_chances, repeated_chances
from science.validation.published import Repetitions

SIGMA = SEED_SIGMA[Metric.TOP1]


def mlperf(*found, groups=None):
    """Organisations with the ends of their runs."""
    rows = [mlperf_row(who, count=place + 1, family=family) for place, (who, family, _) in enumerate(found)]
    return publish(
        rows,
        groups=groups,
        repetitions=tuple(
            Repetitions(row.recipe.name, len(ends), sum(end >= 0.759 for end in ends), ends)
            for row, (_, _, ends) in zip(rows, found, strict=True)
        ),
    )


def repeated(ends, groups=None):
    """A schedule that ended at these accuracies on as many machines."""
    rows = []
    for count, end in enumerate(ends, 1):
        row = mlperf_row("Ada", count=count)
        ended = (Evaluation(36.0, 1.0, end, None),)
        rows.append(replace(row, recipe=replace(row.recipe, tuned_to=None, runs=1, stack="tool", evaluations=ended)))
    names = [row.recipe.name for row in rows]
    return publish(rows, groups={"repeated": dict(zip(names, groups or ["one"] * len(names), strict=True))})


class TestMLPerf:
    """Runs that stop at their target."""

    def test_each_run_is_predicted_by_the_others(self):
        low, high = mlperf_chances(mlperf(("Ada", "lars", (0.7590 + 0.005, 0.7580))))
        assert (low.reached, high.reached) == (True, False)
        common = RUNS_IN_COMMON * STOPPED_REACHED / STOPPED_RUNS
        assert low.said == pytest.approx(common / (RUNS_IN_COMMON + 1))  # the other one missed
        assert high.said == pytest.approx(NormalDist().cdf(0.005 / (SIGMA * sqrt(2))))

    def test_more_runs_are_surer_of_their_mean(self):
        ends = (0.7610, 0.7630, 0.7620)
        first = next(mlperf_chances(mlperf(("Ada", "lars", ends))))
        assert first.said == pytest.approx(NormalDist().cdf((0.7625 - 0.759) / (SIGMA * sqrt(1 + 1 / 2))))

    def test_a_diverged_run_counts_as_a_miss_but_for_no_mean(self):
        found = list(mlperf_chances(mlperf(("Ada", "lars", (0.7630, 0.7630, 0.001)))))
        assert [one.reached for one in found] == [True, True, False]
        assert found[0].said == pytest.approx(NormalDist().cdf(0.004 / (SIGMA * sqrt(1 + 1 / 2))))

    def test_single_runs_and_unknown_recipes_predict_nothing(self):
        published = mlperf(("Ada", "lars", (0.76,)))
        unknown = replace(published, repetitions=(Repetitions("unheard of", 2, 2, (0.76, 0.76)),))
        assert [*mlperf_chances(published), *mlperf_chances(unknown)] == []

    def test_the_baseline_is_what_other_organisations_reached(self):
        ada, bob = ("Ada", "lars", (0.76, 0.76)), ("Bob", "lars", (0.76, 0.75))
        found = brier_scores(mlperf(ada, bob))[0]
        assert found.baseline == pytest.approx((2 * 0.5**2 + 0 + 1) / 4)
        grouped = {"organisation": {"Ada": "both", "Bob": "both"}}
        assert brier_scores(mlperf(ada, bob, groups=grouped))[0].baseline == 0.25

    def test_small_families_stand_together(self):
        many = (0.76,) * FEWEST_RUNS
        found = brier_scores(
            mlperf(("Ada", "large", many), ("Bob", "small", (0.76, 0.75)), ("Cleo", "tiny", (0.76, 0.76)))
        )
        assert [(one.family, one.runs) for one in found] == [
            *(("all MLPerf", FEWEST_RUNS + 4), ("large", FEWEST_RUNS), ("other MLPerf", 4))
        ]


class TestRepeated:
    """Schedules that the same code ran several times."""

    def test_each_run_predicts_each_other_at_every_margin(self):
        found = list(repeated_chances(repeated([0.76, 0.762])))
        assert len(found) == 2 * len(MARGINS)
        margin = next(one for one in found if one.margin == 0.002)
        assert margin.said == pytest.approx(NormalDist().cdf(0.002 / (SIGMA * sqrt(2))))
        assert margin.family == "tool"

    def test_what_ends_below_the_target_missed(self):
        first_predicts = [one for one in repeated_chances(repeated([0.76, 0.7575])) if one.run.endswith("-2-1-512")]
        assert [one.reached for one in first_predicts] == [False, False, False, True, True, True]

    def test_other_schedules_predict_nothing(self):
        assert list(repeated_chances(repeated([0.76, 0.70], ["one", "two"]))) == []

    def test_the_score_is_the_mean_square(self):
        (both, tool) = brier_scores(repeated([0.7, 0.9]))
        assert (both.family, tool.family) == ("all repeated schedules", "tool")
        said = [NormalDist().cdf(margin / (SIGMA * sqrt(2))) for margin in MARGINS]
        assert tool.score == pytest.approx(sum((1 - p) ** 2 + p**2 for p in said) / 2 / len(said))
        assert tool.baseline == 0.25  # nobody else's runs are known
