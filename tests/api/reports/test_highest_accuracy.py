"""The highest accuracy that fits, found in few questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.reports.accuracy import STEPS, highest


@given(st.integers(0, STEPS - 1), st.integers(0, STEPS))
def test_it_is_the_highest_step_that_fits_and_is_found_in_few_questions(last, limit):
    asked = []

    def fits(target):
        asked.append(target)
        return round(target * STEPS) <= last

    found = highest(fits, limit / STEPS)
    wanted = min(last, limit, STEPS - 1)
    assert found == (wanted / STEPS if wanted else None)
    assert len(asked) <= 15
    assert all(0 < target < 1 for target in asked)


@pytest.mark.parametrize(("limit", "steps"), [(0.7637, 7637), (0.28999, 2899), (1.0, 9999)])
def test_the_limit_is_cut_to_steps(limit, steps):
    assert highest(lambda _: True, limit) == steps / STEPS
