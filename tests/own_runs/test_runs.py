"""What a training run says of itself."""

import pytest
from support.own_speeds import own_speed
from support.own_training_runs import own_run

from own_runs.runs import CurvePoint, stored_run


def test_what_a_run_reached_follows_the_direction_of_its_metric() -> None:
    assert own_run().reached == pytest.approx(0.9 - 0.5**8)
    assert own_run(lower_is_better=True).reached == pytest.approx(0.4)


def test_hours_are_those_of_the_log_or_follow_from_the_speed() -> None:
    assert own_run().hours == pytest.approx(8 / 6)
    untimed = own_run(curve=(CurvePoint(2, None, 0.5),))
    assert untimed.hours == pytest.approx(2 * 1_200_000 / 2000 / 3600)


def test_what_is_no_run_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="missing required field"):
        stored_run(own_speed().stored())
