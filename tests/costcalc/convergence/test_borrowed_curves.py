"""Curves that recipes borrow from logs with the same kind of schedule, all made up."""

from itertools import pairwise

import pytest
from fakes.recipes import recipe

from costcalc.convergence.borrowed_curves import SHARES, borrowed_curve, error_ratios, lent_curves, with_borrowed_curve
from costcalc.convergence.curves import NEAR_THE_END
from costcalc.training import Evaluation


def straight(epochs, error, times):
    """A log whose error falls in a straight line from so many times its last one."""
    points = [step * epochs / 100 for step in range(101)]
    return tuple(Evaluation(at, None, 1 - error * (times - (times - 1) * at / epochs), None) for at in points)


END = Evaluation(200.0, 5.0, 0.8, 0.95)


def test_errors_are_told_in_multiples_of_the_last_one_at_shares_of_the_schedule():
    ratios = error_ratios([straight(300, 0.2, 2), straight(90, 0.3, 2)])
    assert ratios == pytest.approx(2 - SHARES)
    assert error_ratios([straight(300, 0.2, 2), straight(300, 0.2, 4)]) == pytest.approx(3 - 2 * SHARES)


def test_it_ends_where_the_recipe_ended_and_rises_to_it():
    curve = borrowed_curve(END, error_ratios([straight(300, 0.3, 2)]))
    assert curve[-1] is END
    assert all(before.epochs < after.epochs and before.top1 < after.top1 for before, after in pairwise(curve))
    assert all(point.hours is None and point.top5 is None for point in curve[:-1])
    halfway = next(point for point in curve if point.top1 >= 0.78)
    assert halfway.epochs == pytest.approx(0.9 * 200, abs=0.02 * 200)


def test_nothing_is_said_further_below_the_end_than_was_checked():
    curve = borrowed_curve(END, error_ratios([straight(300, 0.3, 2)]))
    assert curve[0].top1 == pytest.approx(0.8 - NEAR_THE_END, abs=0.005)
    assert curve[0].top1 >= 0.8 - NEAR_THE_END


def test_logs_lend_to_recipes_of_the_same_kind_of_schedule_alone():
    log = recipe(name="log", schedule_shape="cosine", evaluations=straight(300, 0.3, 2))
    alike, other, unlike = (
        recipe(name=name, is_log=False, schedule_shape=shape, evaluations=(END,))
        for name, shape in (("alike", "cosine"), ("other", "steps"), ("unlike", None))
    )
    lent = lent_curves([log, alike, other, unlike])
    assert list(lent) == ["cosine"]
    assert len(with_borrowed_curve(alike, lent).evaluations) > 5
    assert [with_borrowed_curve(one, lent).evaluations for one in (other, unlike)] == [(END,), (END,)]
    assert with_borrowed_curve(alike, lent).has_borrowed_curve
    assert not with_borrowed_curve(other, lent).has_borrowed_curve
