from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costcalc.convergence.eligibility import success_probability, target_shift
from costcalc.convergence.model_recipes import SEED_SIGMA
from costcalc.training import Metric

accuracies = st.floats(0.5, 0.9)
SIGMA = SEED_SIGMA[Metric.TOP1]


def chance(end, target, runs=1.0):
    return success_probability(np.array([end]), target, np.array([SIGMA]), np.array([runs]))[0]


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
        target_shift(Metric.TOP1, np.array([SIGMA]), np.array([1.0]), level)[0] for level in sorted((first, second))
    ]
    assert 0 < shifts[0] <= shifts[1]


def test_eight_in_ten_runs_lie_within_1_28_standard_deviations():
    spread = (SIGMA**2 * 2 + 0.00094**2) ** 0.5
    [shift] = target_shift(Metric.TOP1, np.array([SIGMA]), np.array([1.0]), 0.8)
    assert shift == pytest.approx(1.2816 * spread, rel=1e-4)
