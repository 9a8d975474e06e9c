import numpy as np
import pytest

from costcalc.fitting.ridge import fit

ROWS = [[(("mean",), 1.0, 10.0), (("group", name), 1.0, 1.0)] for name in "aaabbbccc"]
TARGET = np.array([1.0, 1.1, 0.9, 2.0, 2.1, 1.9, 3.0, 3.1, 2.9])


def test_much_data_is_believed():
    found = fit(ROWS, TARGET, noise=0.01, degrees=3.0).effects
    means = [found["mean",] + found["group", name] for name in "abc"]
    assert means == pytest.approx([1.0, 2.0, 3.0], abs=0.01)


def test_little_data_is_shrunk_towards_the_mean():
    found = fit(ROWS, TARGET, noise=3.0, degrees=1e9).effects
    assert abs(found["group", "c"]) < 0.5


def test_an_outlier_counts_less():
    wild = TARGET.copy()
    wild[0] = 9.0
    found = fit(ROWS, wild, noise=0.1, degrees=3.0).effects
    assert found["mean",] + found["group", "a"] == pytest.approx(1.0, abs=0.15)


def test_the_primal_and_the_dual_agree():
    tall = fit(ROWS * 2, np.tile(TARGET, 2), noise=0.1, degrees=1e12).effects
    wide_rows = [[*row, *((("unused", str(i)), 0.0, 1.0) for i in range(40))] for row in ROWS * 2]
    wide = fit(wide_rows, np.tile(TARGET, 2), noise=0.1, degrees=1e12).effects
    assert {key: wide[key] for key in tall} == pytest.approx(tall, abs=1e-9)


def test_a_group_left_out_is_missed_by_what_the_others_say():
    plain = {"noise": 0.1, "degrees": 1e12}
    missed = fit(ROWS, TARGET, **plain).left_out("aabbccaab")
    for group in "abc":
        kept = [row for row, name in enumerate("aabbccaab") if name != group]
        others = fit([ROWS[row] for row in kept], TARGET[kept], **plain).effects
        for row in set(range(9)) - set(kept):
            told = sum(others.get(key, 0.0) * value for key, value, _ in ROWS[row])
            assert missed[row] == pytest.approx(TARGET[row] - told, abs=1e-6)


def test_one_effect_is_shrunk_by_its_prior_against_the_noise():
    """The posterior mean of a normal: n y / (n + noise^2 / deviation^2)."""
    rows = [[(("level",), 1.0, 0.5)] for _ in range(4)]
    found = fit(rows, np.full(4, 2.0), noise=1.0, degrees=1e12)
    assert found.effects == {("level",): pytest.approx(4 * 2.0 / (4 + 1.0 / 0.25))}
    assert found.variance == pytest.approx(np.ones(4))


def test_values_multiply_effects_and_equal_terms_of_a_row_add_up():
    rows = [[(("slope",), x, 100.0)] for x in (1.0, 2.0, 3.0)]
    twice = [[(("slope",), x / 2, 100.0), (("slope",), x / 2, 100.0)] for x in (1.0, 2.0, 3.0)]
    target = np.array([0.5, 1.0, 1.5])
    for terms in (rows, twice):
        assert fit(terms, target, noise=0.01, degrees=1e12).effects["slope",] == pytest.approx(0.5, abs=1e-6)


def test_the_weights_are_those_of_a_t_distribution():
    """A row four deviations off keeps (3 + 1) / (3 + 16) of its weight: its variance is that much larger."""
    rows = [[(("level",), 1.0, 1e-9)] for _ in range(3)]
    found = fit(rows, np.array([0.0, 1.0, 4.0]), noise=1.0, degrees=3.0)
    assert found.variance == pytest.approx([1.0, 1.0, 19 / 4])
