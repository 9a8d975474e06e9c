import math

import pytest
from msgspec.structs import replace
from support.mlperf_results import mlperf_row, publish

from costcalc.training import Evaluation
from science.validation.regret import Regret, regret, regret_of_lengths, regret_of_systems
from science.validation.scores import Case


def test_regret_is_mean_and_worst():
    assert regret(iter([0.0, 0.1, 0.5])) == Regret(3, pytest.approx(0.2), 0.5)


class TestSystems:
    """The recipe predicted fastest on a system, against the fastest."""

    @pytest.fixture
    def published(self):
        return publish(
            [
                mlperf_row("Ada", minutes=30.0),
                mlperf_row("Bob", minutes=33.0),
                mlperf_row("Cleo", count=4, minutes=60.0),
                mlperf_row("Dan", count=16, nodes=2, minutes=10.0),
                mlperf_row("Eve", count=16, nodes=2, minutes=12.0),
            ]
        )

    def cases(self, published, errors):
        return [Case(result.recipe, "", error, 0.0) for result, error in zip(published.results, errors, strict=True)]

    def test_the_right_picks_cost_nothing(self, published):
        assert regret_of_systems(published, self.cases(published, [0.0] * 5)) == Regret(2, 0.0, 0.0)

    def test_a_wrong_pick_costs_its_time_over_the_best(self, published):
        found = regret_of_systems(published, self.cases(published, [0.2, 0.0, 0.0, 0.0, 0.0]))
        assert found == Regret(2, pytest.approx(0.05), pytest.approx(0.1))

    def test_an_error_alike_for_all_costs_nothing(self, published):
        assert regret_of_systems(published, self.cases(published, [0.5] * 5)).worst == 0

    def test_a_system_with_one_recipe_is_no_choice(self, published):
        found = regret_of_systems(published, self.cases(published, [0.0, 0.0, 0.0, 0.0, -1.0]))
        assert found == Regret(2, pytest.approx(0.1), pytest.approx(0.2))


def family(ends):
    """Schedules of so many epochs that end at these accuracies."""
    rows = []
    for epochs, accuracy in ends.items():
        row = mlperf_row(f"rn{epochs}", epochs=float(epochs))
        rows.append(
            replace(
                row, recipe=replace(row.recipe, evaluations=(Evaluation(epochs, None, accuracy, None),), tuned_to=None)
            )
        )
    return publish(rows, groups={"recipe_family": {row.recipe.name: "rn" for row in rows}})


class TestLengths:
    """The shortest schedule predicted to reach a target, against the shortest that does."""

    def test_smooth_families_are_picked_right(self):
        smooth = {epochs: 0.6 + 0.03 * math.log2(epochs / 16) for epochs in (16, 32, 64, 128)}
        found = regret_of_lengths(family(smooth), ("rn",))
        assert found == Regret(36, pytest.approx(0.0), 0.0)

    def test_a_pick_that_misses_is_paid_for_twice(self):
        """64 epochs end at 64 %, though the others say 66 %: eight targets between take 64 + 128 epochs instead of 128. The 32
        that end at 63 % are told to end at 61.1 %: eight targets between take 64 epochs instead of 32."""
        smooth = {epochs: 0.6 + 0.03 * math.log2(epochs / 16) for epochs in (16, 32, 64, 128)}
        found = regret_of_lengths(family(smooth | {64: 0.64}), ("rn",))
        assert found == Regret(36, pytest.approx((8 * 0.5 + 8 * 1.0) / 36), 1.0)

    def test_families_count_together(self):
        smooth = {epochs: 0.6 + 0.03 * math.log2(epochs / 16) for epochs in (16, 32, 64, 128)}
        published = family(smooth)
        assert regret_of_lengths(published, ("rn", "rn")).choices == 2 * regret_of_lengths(published, ("rn",)).choices
