import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costcalc.fitting.elapsed_time import fit_elapsed_time
from costcalc.throughput.fitted_parameters import (
    KINDS,
    LEVELS,
    ORDERS,
    Widths,
    calibrated,
    from_json,
    to_json,
    unfitted,
    widening,
)
from costcalc.validation.published import fingerprint

WIDTHS = Widths({"kind": (0.02, 0.03, 0.04, 0.05, 0.09, 0.12)})
levels = st.floats(0.01, 0.999)


def test_the_packaged_fit_is_of_the_packaged_tables(packaged_evidence):
    assert packaged_evidence.fitted.tables == fingerprint(), "the tables changed since the fit: run `make fit`"


def test_what_is_written_is_read(packaged_evidence):
    fitted = packaged_evidence.fitted
    again = from_json(to_json(fitted), packaged_evidence.accelerators, packaged_evidence.models)
    assert again.reference.effects == fitted.reference.effects
    assert again.widths == fitted.widths
    assert to_json(again) == to_json(fitted)


def test_a_broken_file_says_what_to_type():
    with pytest.raises(ValueError, match="make fit"):
        from_json('{"reference": {}}', {}, {})


def test_stored_levels_come_back():
    assert [WIDTHS.at("kind", level) for level in LEVELS] == pytest.approx(WIDTHS.table["kind"])


@given(levels, levels)
def test_a_wider_interval_contains_a_narrower_level(first, second):
    narrow, wide = sorted((first, second))
    assert 0 < WIDTHS.at("kind", narrow) <= WIDTHS.at("kind", wide)


@pytest.mark.parametrize("level", [0, 1, -0.1, 1.5])
def test_a_level_is_between_nothing_and_certainty(level):
    with pytest.raises(ValueError, match="between 0 and 1"):
        WIDTHS.at("kind", level)


def test_less_evidence_is_never_surer(packaged_evidence):
    widths = packaged_evidence.fitted.widths
    for usual in (True, False):
        for order in ORDERS:
            sure = [widths.at(calibrated(kind, usual), 0.8) for kind in order]
            assert sure == sorted(sure)
    assert {kind for order in ORDERS for kind in order} == set(KINDS)
    assert widths.at("network", 0.8) < widths.at("stack", 0.8)


def test_nothing_learned_still_has_widths():
    assert unfitted({}).widths.at("transferred", 0.8) > 0


def test_the_law_of_elapsed_time_is_found_again():
    train = np.array([30.0, 300, 3000, 30000])
    law = fit_elapsed_time(train, train + 0.3 * train**0.6)
    assert [law.seconds(seconds) for seconds in train] == pytest.approx(list(train + 0.3 * train**0.6), rel=0.01)


def test_calm_rates_promise_narrow_intervals_for_one_machine_only():
    kinds = np.arange(len(KINDS), dtype=np.int8)
    one, many = np.zeros(len(KINDS), bool), np.ones(len(KINDS), bool)
    assert widening(kinds, one, 0.5).tolist() == [0.5, 0.5, 1.0, 1.0, 1.0, 1.0]
    assert widening(kinds, many, 0.5).tolist() == [1.0] * 6
    assert widening(kinds, many, 2.0).tolist() == [2.0, 2.0, 2.0, 1.0, 1.0, 1.0]
