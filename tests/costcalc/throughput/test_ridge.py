import numpy as np
import pytest

from costcalc.throughput.ridge import effects

ROWS = [[(("mean",), 1.0, 10.0), (("group", name), 1.0, 1.0)] for name in "aaabbbccc"]
TARGET = np.array([1.0, 1.1, 0.9, 2.0, 2.1, 1.9, 3.0, 3.1, 2.9])


def test_much_data_is_believed():
    found = effects(ROWS, TARGET, noise=0.01, degrees=3.0)
    means = [found["mean",] + found["group", name] for name in "abc"]
    assert means == pytest.approx([1.0, 2.0, 3.0], abs=0.01)


def test_little_data_is_shrunk_towards_the_mean():
    found = effects(ROWS, TARGET, noise=3.0, degrees=1e9)
    assert abs(found["group", "c"]) < 0.5


def test_an_outlier_counts_less():
    wild = TARGET.copy()
    wild[0] = 9.0
    found = effects(ROWS, wild, noise=0.1, degrees=3.0)
    assert found["mean",] + found["group", "a"] == pytest.approx(1.0, abs=0.15)


def test_the_primal_and_the_dual_agree():
    tall = effects(ROWS * 2, np.tile(TARGET, 2), noise=0.1, degrees=1e12)
    wide_rows = [[*row, *((("unused", str(i)), 0.0, 1.0) for i in range(40))] for row in ROWS * 2]
    wide = effects(wide_rows, np.tile(TARGET, 2), noise=0.1, degrees=1e12)
    assert {key: wide[key] for key in tall} == pytest.approx(tall, abs=1e-9)
