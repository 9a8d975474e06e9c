"""What verdicts say of limits, scored on results that follow the said ranges, and on results that are later than these say."""

from math import log
from random import Random

import pytest

from science.validation.deadlines import limits_exceeded
from science.validation.scores import Case

WIDTH = log(1.5)


def cases(shift=0.0):
    """Results whose logarithm is normal, the 80 % range being 1.5 times up and down; `shift` of them in ln(time) are later."""
    chance = Random(7)
    errors = (chance.gauss(0, WIDTH / 1.2816) - shift for _ in range(20_000))
    return [Case(f"{at}", "one", error, 0.0, (WIDTH, WIDTH)) for at, error in enumerate(errors)]


def test_chances_of_honest_ranges_come_true():
    for each in limits_exceeded(cases()):
        assert each.reached == pytest.approx(each.said, abs=0.01)


def test_of_what_is_later_than_said_more_exceeds_its_limit():
    assert all(each.reached > each.said + 0.05 for each in limits_exceeded(cases(shift=0.2)))
