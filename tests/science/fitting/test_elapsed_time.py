import numpy as np
import pytest

from science.fitting.elapsed_time import FACTORS, POWERS, fit_elapsed_time

TRAINING = np.geomspace(30, 30_000, 12)


@pytest.mark.parametrize(("factor", "power"), [(5, 6), (20, 2), (40, 12)])
def test_a_law_of_the_grid_is_found_exactly(factor, power):
    law = fit_elapsed_time(TRAINING, TRAINING + FACTORS[factor] * TRAINING ** POWERS[power])
    assert law == (pytest.approx(FACTORS[factor]), pytest.approx(POWERS[power]))


def test_one_wild_run_does_not_move_the_law():
    elapsed = TRAINING + FACTORS[20] * TRAINING ** POWERS[6]
    elapsed[5] *= 10
    law = fit_elapsed_time(TRAINING, elapsed)
    assert law == (pytest.approx(FACTORS[20]), pytest.approx(POWERS[6]))
