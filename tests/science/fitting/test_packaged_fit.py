"""The packaged effects are what the fit makes of the packaged rows; the intervals are held in tests/science/validation."""

import pytest

from costcalc.evidence.parsing import evidence_to_fit, hub_networks
from costcalc.tasks.tables import PARTWAY, text_of
from science.fitting import partway
from science.fitting.reference_model import fit_reference_model, observations
from science.fitting.transfer import fit_transfer, ratios

STALE = "what is learned changed since the fit: run `make fit`"


def test_both_models_come_back():
    evidence = evidence_to_fit()
    parts, models = evidence.accelerators, evidence.models
    reference = fit_reference_model(observations(evidence.throughputs, parts), parts)
    packaged = evidence.fitted.reference
    assert reference.effects == pytest.approx(packaged.effects, abs=2e-5), STALE
    assert reference.default_intercept == pytest.approx(packaged.default_intercept), STALE
    assert reference.data_sheets.tflop_per_image == pytest.approx(packaged.data_sheets.tflop_per_image), STALE
    assert reference.data_sheets.gb_per_image == pytest.approx(packaged.data_sheets.gb_per_image), STALE
    assert reference.data_sheets.images_per_joule == packaged.data_sheets.images_per_joule, STALE
    assert (reference.years, reference.networked) == (packaged.years, packaged.networked), STALE
    for name, use in packaged.typical.items():
        assert reference.typical[name] == pytest.approx(use, abs=2e-5), STALE
    transfer = fit_transfer(ratios(evidence.throughputs, reference, models), models, parts)
    of_hubs = {("model", one.model) for one in hub_networks()}
    learned = {key: value for key, value in evidence.fitted.transfer.effects.items() if key not in of_hubs}
    assert transfer.effects == pytest.approx(learned, abs=2e-5), STALE


def test_easier_targets_come_back():
    assert partway.table() == text_of(f"{PARTWAY}.csv"), STALE
