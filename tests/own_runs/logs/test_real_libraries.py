"""Logs that libraries wrote while they trained a tiny network, and what they told of it: at night they train anew."""

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.sampled import WHOLE

from api.bootstrap import build_once
from api.cli.failing import settings_of_environment
from api.cli.main import main
from api.web.app import create_app
from own_runs.adding import Facts, read_run
from own_runs.logs.reading import read_log

ROOT = Path(__file__).parents[3]
LIBRARIES = ROOT / "build/training_libraries/bin/python"
WRITTEN = Path(__file__).with_name("written")
SAMPLES, BATCH = 48, 16
BY_EPOCH, BY_STEP = ([1, 2, 3], None), (None, [3, 6, 9])


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """For each library its log, and what it told of each epoch."""
    folder = tmp_path_factory.mktemp("trained") if WHOLE else WRITTEN
    told = json.loads(trained_into(folder) if WHOLE else (WRITTEN / "told.json").read_text())
    return {library: {**each, "log": folder / each["log"]} for library, each in told.items()}


def trained_into(folder):
    """What the libraries told when they trained and wrote their logs into this folder."""
    if not LIBRARIES.exists():
        pytest.skip(f"{LIBRARIES} is not there: run `TESTS=whole make test`")
    ran = subprocess.run(
        [LIBRARIES, ROOT / "tests/support/train_with_libraries.py", folder],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=300,
    )
    return ran.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("library", "writer", "places"),
    [
        ("keras", "Keras", BY_EPOCH),
        ("lightning", "Lightning", ([1, 2, 3], [2, 5, 8])),
        ("transformers", "transformers", ([1, 2, 3], [3, 6, 9])),
        ("timm", "timm", BY_EPOCH),
        ("tensorboard", "TensorBoard", ([1, 2, 3], [3, 6, 9])),
        ("mlflow", "MLflow", BY_STEP),
        ("mlflow_model", "MLflow", BY_STEP),
    ],
)
def test_what_is_read_is_what_the_library_told(trained, library, writer, places):
    log = read_log(trained[library]["log"])
    assert log.written_by == writer
    for metric, told in trained[library]["told"].items():
        points = [point for point in log.points if metric in point.values]
        assert [point.values[metric] for point in points] == pytest.approx(told, rel=1e-6)
        for expected, read in zip(places, zip(*[(p.epochs, p.steps) for p in points], strict=True), strict=True):
            assert list(read) == (expected or [None] * 3)


def test_lightning_logs_tell_the_samples_though_steps_stand_between_evaluations(trained):
    log = trained["lightning"]["log"]
    facts = Facts("own", dataset="own", metric="val_loss", accelerator="T4", batch_size=BATCH, hours=1.0)
    run = read_run(log, facts, datetime(2026, 11, 20, tzinfo=UTC))
    assert (run.samples_per_epoch, run.epochs, run.lower_is_better) == (SAMPLES, 3, True)


def test_a_log_of_transformers_is_added_and_answers_cost(trained, filled_url, monkeypatch):
    monkeypatch.setenv("COSTCALC_DATABASE_URL", filled_url)
    facts = ("--name", "my-own", "--dataset", "own", "--metric", "eval_accuracy", "--accelerator", "1xT4")
    added = CliRunner().invoke(main, ["recipes", "add", str(trained["transformers"]["log"]), *facts])
    assert added.exit_code == 0, added.output
    settings = settings_of_environment()
    client = create_app(build_once(settings), settings).test_client()
    reached = max(trained["transformers"]["told"]["eval_accuracy"])
    answer = client.get(f"/cost?model=my-own&target={reached}&accelerator=T4&accelerators=1&limit=1").json
    [estimate] = answer["estimates"]
    assert (estimate["recipe"], estimate["evidence"]["throughput"]) == ("my-own", "measured")
    assert 1 <= estimate["epochs"] <= 3
