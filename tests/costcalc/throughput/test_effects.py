import pytest

from costcalc.throughput.effects import total

EFFECTS = {("count",): 0.5, ("count", "a"): -2.0}


def test_effects_times_their_values_are_added_up():
    assert total(EFFECTS, [(("count",), 3.0, 0.1), (("count", "a"), 0.25, 0.1)]) == pytest.approx(1.0)


def test_an_effect_that_was_never_fitted_counts_as_nothing():
    assert total(EFFECTS, [(("count",), 3.0, 0.1), (("count", "b"), 100.0, 0.1)]) == pytest.approx(1.5)
    assert total({}, [(("count",), 3.0, 0.1)]) == 0
