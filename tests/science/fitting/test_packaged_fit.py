"""The packaged effects are what the fit makes of the packaged rows; the intervals are held in tests/science/validation."""

import json
import subprocess

import pytest

from costcalc.evidence.parsing import evidence_to_fit, hub_networks
from costcalc.tasks.tables import PARTWAY, text_of
from science.fitting import partway
from science.fitting.partway_logs import logged, shares_and_values
from science.fitting.reference_model import fit_reference_model, observations
from science.fitting.transfer import fit_transfer, ratios, with_loops

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
    transfer = with_loops(transfer, ratios(evidence.device_speeds, reference, models))
    of_hubs = {("model", one.model) for one in hub_networks()}
    learned = {key: value for key, value in evidence.fitted.transfer.effects.items() if key not in of_hubs}
    assert transfer.effects == pytest.approx(learned, abs=2e-5), STALE


def test_easier_targets_come_back():
    assert partway.table() == text_of(f"tasks/{PARTWAY}.csv"), STALE


def test_logs_of_easier_targets_are_read_as_they_were_published(tmp_path):
    """DLRM's only pass is number 1, what is worse than before counts for nothing, and the run goes on after its quality."""
    evaluated = [(1.05, 0.77), (1.10, 0.79), (1.15, 0.78), (1.20, 0.785), (1.25, 0.8026), (1.30, 0.81)]
    lines = [_mllog("run_start", None), *(_mllog("eval_accuracy", value, epoch_num=at) for at, value in evaluated)]
    (tmp_path / "result_0.txt").write_text("\n".join(lines), "utf-8")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "results"]):
        subprocess.run([*git, *command], check=True)
    shares, values = shares_and_values("dlrm", logged(tmp_path, "HEAD", "result_0.txt"))
    assert [float(each) for each in shares.split(";")] == pytest.approx([0.2, 0.4, 0.8, 1.0])
    assert values == "0.77;0.79;0.79;0.8026"


def _mllog(key, value, **metadata):
    return ":::MLLOG " + json.dumps({"time_ms": 1593140797303, "key": key, "value": value, "metadata": metadata})
