import json

import numpy as np
import pytest
from msgspec.structs import replace
from support.speeds import MODELS, PARTS, REFERENCE, SHEETS, TRANSFER

from costcalc.throughput.fitted_parameters import (
    KINDS,
    OF_TRANSFORMERS,
    ORDERS,
    ElapsedTime,
    FittedParameters,
    HalfWidth,
    calibrated,
    from_json,
    to_json,
    unfitted,
    widening,
)
from costcalc.throughput.reference_model import TypicalUse
from science.fitting.elapsed_time import fit_elapsed_time
from science.validation.published import fingerprint

WIDTHS = {"kind": HalfWidth(0.05, by_rule=False), "rare": HalfWidth(0.3, by_rule=True)}


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


def test_less_evidence_is_never_surer(packaged_evidence):
    widths = packaged_evidence.fitted.widths
    for usual in (True, False):
        for order in ORDERS:
            sure = [widths[calibrated(kind, usual)].ln for kind in order]
            assert sure == sorted(sure)
    assert {kind for order in ORDERS for kind in order} == set(KINDS)
    assert widths["network"].ln < widths["stack"].ln
    assert widths["network"].ln < widths["transformer"].ln <= widths["transformer, accelerator"].ln


def test_every_packaged_width_is_read_by_the_engine_and_was_measured(packaged_evidence):
    names = {calibrated(kind, undated) for kind in KINDS for undated in (True, False)}
    widths = packaged_evidence.fitted.widths
    assert set(widths) == names | {"own", "length", "curve", *OF_TRANSFORMERS.values()}
    assert not any(width.by_rule for width in widths.values())


def test_nothing_learned_still_has_widths():
    nothing = unfitted({}).widths
    assert {width.by_rule for width in nothing.values()} == {True}
    assert {"own", "length", "curve", *KINDS} <= set(nothing)


def test_the_law_of_elapsed_time_is_found_again():
    train = np.array([30.0, 300, 3000, 30000])
    law = fit_elapsed_time(train, train + 0.3 * train**0.6)
    assert [law.seconds(seconds) for seconds in train] == pytest.approx(list(train + 0.3 * train**0.6), rel=0.01)


def test_calm_rates_promise_narrow_intervals_for_one_machine_only():
    kinds = np.arange(len(KINDS), dtype=np.int8)
    one, many = np.zeros(len(KINDS), bool), np.ones(len(KINDS), bool)
    assert widening(kinds, one, 0.5).tolist() == [0.5, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert widening(kinds, many, 0.5).tolist() == [1.0] * 7
    assert widening(kinds, many, 2.0).tolist() == [2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0]


def test_only_kinds_that_know_the_year_are_wider_without_it():
    assert [calibrated(kind, True) == kind for kind in KINDS] == [False] * 4 + [True] * 3
    assert [calibrated(kind, False) for kind in KINDS] == list(KINDS)


def test_evaluation_and_warm_up_grow_slower_than_training():
    assert ElapsedTime(0.5, 0.5).seconds(10_000) == pytest.approx(10_000 + 0.5 * 100)


def test_effects_too_small_to_matter_keep_their_names():
    effects = {("mean",): 0.1234567, ("batch", "new"): 4e-6, ("count",): -0.5}
    fitted = FittedParameters(
        "digest",
        replace(REFERENCE, effects=effects, networked=frozenset({"new", "old"})),
        replace(TRANSFER, effects={("chip", "a"): 1.0}),
        WIDTHS,
        ElapsedTime(0.3, 0.6),
    )
    written = json.loads(to_json(fitted))
    assert written["reference"] == {"mean": 0.12346, "batch|new": 0.0, "count": -0.5}
    assert written["networked"] == ["new", "old"]
    assert written["typical"] == {"new": [0.07, 200.0, 0.8]}
    uneven = replace(fitted, reference=replace(REFERENCE, typical={"new": TypicalUse(0.0712345678, 200.0, 0.8)}))
    assert json.loads(to_json(uneven))["typical"]["new"][0] == 0.07123
    again = from_json(to_json(fitted), PARTS, MODELS)
    assert again.reference.data_sheets == SHEETS
    assert (again.reference.years, again.reference.typical) == (REFERENCE.years, REFERENCE.typical)
    assert again.reference.default_intercept == 7.0
    assert (again.transfer.effects, again.transfer.models) == ({("chip", "a"): 1.0}, MODELS)
    assert (again.tables, again.widths, again.elapsed_time) == ("digest", WIDTHS, ElapsedTime(0.3, 0.6))


def test_images_per_joule_are_read_in_the_order_of_years():
    raw = json.loads(to_json(FittedParameters("", REFERENCE, TRANSFER, WIDTHS)))
    raw["images_per_joule"] = {"2022": 10, "2018": 1}
    assert from_json(json.dumps(raw), PARTS, MODELS).reference.data_sheets.images_per_joule == (
        (2018, 1.0),
        (2022, 10.0),
    )


def test_nothing_learned_promises_a_tenth_either_way():
    nothing = unfitted(MODELS)
    assert {width.ln for width in nothing.widths.values()} == {0.1}
    assert not nothing.reference.knows("new")
    assert not nothing.transfer.knows("resnet50")
