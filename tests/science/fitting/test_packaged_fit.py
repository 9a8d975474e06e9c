"""The packaged effects are what the fit makes of the packaged rows; the intervals are held in tests/science/validation."""

import pytest

from science.fitting.reference_model import fit_reference_model, observations
from science.fitting.transfer import fit_transfer, ratios

STALE = "what is learned changed since the fit: run `make fit`"


def test_both_models_come_back(packaged_evidence):
    parts, models = packaged_evidence.accelerators, packaged_evidence.models
    reference = fit_reference_model(observations(packaged_evidence.throughputs, parts), parts)
    packaged = packaged_evidence.fitted.reference
    assert reference.effects == pytest.approx(packaged.effects, abs=2e-5), STALE
    assert reference.default_intercept == pytest.approx(packaged.default_intercept), STALE
    assert reference.data_sheets.tflop_per_image == pytest.approx(packaged.data_sheets.tflop_per_image), STALE
    assert reference.data_sheets.gb_per_image == pytest.approx(packaged.data_sheets.gb_per_image), STALE
    assert reference.data_sheets.images_per_joule == packaged.data_sheets.images_per_joule, STALE
    assert (reference.years, reference.networked) == (packaged.years, packaged.networked), STALE
    for name, use in packaged.typical.items():
        assert reference.typical[name] == pytest.approx(use, abs=2e-5), STALE
    transfer = fit_transfer(ratios(packaged_evidence.throughputs, reference, models), models, parts)
    assert transfer.effects == pytest.approx(packaged_evidence.fitted.transfer.effects, abs=2e-5), STALE
