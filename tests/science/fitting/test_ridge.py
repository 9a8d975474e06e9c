import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from science.fitting.ridge import fit

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


def test_a_sum_that_the_data_want_positive_comes_to_its_bound():
    """Two effects rise together, and a third one takes what they may not."""
    rows = [[*row, (("count",), x, 1.0), (("count", "a"), x, 1.0)] for x in (0.0, 1.0, 2.0) for row in ROWS]
    target = np.concatenate([TARGET + 0.3 * x for x in (0.0, 1.0, 2.0)])
    count = [(("count",), 1.0, 1.0), (("count", "a"), 1.0, 1.0)]
    free = fit(rows, target, noise=0.1, degrees=3.0)
    assert free.effects["count",] + free.effects["count", "a"] == pytest.approx(0.3, abs=0.02)
    held = fit(rows, target, 0.1, 3.0, [count, count])
    assert held.effects["count",] + held.effects["count", "a"] == pytest.approx(0, abs=1e-5)
    assert (held.design.shape[0], len(held.target), len(held.variance)) == (28, 28, 28)  # the sum is a row, once
    assert held.effects["mean",] > free.effects["mean",]


def test_a_sum_that_the_data_want_negative_is_as_if_it_had_no_bound():
    rows = [[*row, (("count",), x, 1.0)] for x in (0.0, 1.0) for row in ROWS]
    target = np.concatenate([TARGET, TARGET - 0.2])
    free, held = (fit(rows, target, 0.1, 3.0, sums) for sums in ((), [[(("count",), 1.0, 1.0)]]))
    assert held.effects == pytest.approx(free.effects)
    assert held.design.shape == free.design.shape


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_bounded_effects_are_the_most_probable_ones(seed):
    """Against a general solver, which follows the gradient of the same density."""
    draw = np.random.default_rng(seed)
    keys = [(str(number),) for number in range(6)]
    rows = [[(key, value, 1.0) for key, value in zip(keys, draw.normal(size=6), strict=True)] for _ in range(9)]
    sums = [[(key, value, 1.0) for key, value in zip(keys, draw.normal(size=6), strict=True)] for _ in range(4)]
    target = draw.normal(size=9)
    effects = fit(rows, target, 1.0, 1e12, sums).effects
    design, bounded = (np.array([[value for _, value, _ in row] for row in many]) for many in (rows, sums))
    slow = minimize(
        lambda x: np.sum((target - design @ x) ** 2) / 2 + x @ x / 2,
        np.zeros(6),
        jac=lambda x: x - design.T @ (target - design @ x),
        constraints=[{"type": "ineq", "fun": lambda x: -bounded @ x, "jac": lambda _: -bounded}],
        options={"ftol": 1e-13, "maxiter": 500},
    )
    assert list(effects.values()) == pytest.approx(slow.x, abs=1e-4)
    assert (bounded @ list(effects.values()) < 1e-6).all()


def test_a_group_left_out_is_missed_by_what_the_others_say():
    plain = {"noise": 0.1, "degrees": 1e12}
    missed = fit(ROWS, TARGET, **plain).left_out("aabbccaab")
    for group in "abc":
        kept = [row for row, name in enumerate("aabbccaab") if name != group]
        others = fit([ROWS[row] for row in kept], TARGET[kept], **plain).effects
        for row in set(range(9)) - set(kept):
            told = sum(others.get(key, 0.0) * value for key, value, _ in ROWS[row])
            assert missed[row] == pytest.approx(TARGET[row] - told, abs=1e-6)


def test_sums_at_their_bound_stay_there_while_a_group_is_left_out():
    rows = [[*row, (("count",), float(number % 3 == 1), 1.0)] for number, row in enumerate(ROWS)]
    held = fit(rows, TARGET, 0.1, 1e12, [[(("count",), 1.0, 1.0)]])
    without = fit(ROWS, TARGET, 0.1, 1e12)
    assert held.left_out("aabbccaab") == pytest.approx(without.left_out("aabbccaab"), abs=1e-4)


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
