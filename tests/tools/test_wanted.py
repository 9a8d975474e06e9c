"""What a measurement is worth is what one saves by choosing after it."""

import math
from random import Random
from statistics import fmean

import pytest

from tools.wanted import _mean_of_lesser


@pytest.mark.parametrize(("middle", "deviation", "other"), [(10.0, 0.4, 8.0), (10.0, 0.4, 12.0), (10.0, 0.1, 20.0)])
def test_the_mean_of_the_lesser_cost_is_what_drawing_it_gives(middle, deviation, other):
    draw = Random(7)
    drawn = fmean(min(middle * math.exp(draw.gauss(0, deviation)), other) for _ in range(20_000))
    assert _mean_of_lesser(middle, deviation, other) == pytest.approx(drawn, rel=0.01)


def test_without_another_machine_there_is_nothing_to_choose():
    assert _mean_of_lesser(10.0, 0.4, math.inf) == pytest.approx(10.0 * math.exp(0.08))
