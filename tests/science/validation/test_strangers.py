"""Plain loops of strangers, whose rates are all left out, lie inside the ranges that they are told."""

import numpy as np

from science.validation.published import load_published
from science.validation.strangers import strangers


def test_most_runs_of_strangers_lie_inside_the_range_of_their_epochs():
    cases = strangers(load_published())
    inside = [abs(case.error) <= case.half_widths[0] for case in cases]
    assert len({case.group for case in cases}) >= 5
    assert 0.7 <= np.mean(inside) <= 0.95
    assert abs(np.median([case.error for case in cases])) < 0.3
    assert max(case.half_widths[0] for case in cases) < np.log(1.8)
