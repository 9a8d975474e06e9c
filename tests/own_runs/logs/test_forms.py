"""Logs in the forms of many programs: what each is read as, or what is asked about it; nothing in them is guessed.

The forms are those that the programs print, as read in November 2026; the figures are made up. `truth.json` has the epochs and
seconds of each, or the fact that is asked for.
"""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from own_runs.adding import Facts, RunRefused, read_run

FORMS = Path(__file__).parent / "forms"
TRUTH = json.loads((FORMS / "truth.json").read_text())
NOW = datetime(2026, 11, 28, tzinfo=UTC)
FACTS = Facts("mine", dataset="mine", accelerator="V100", batch_size=32, samples_per_epoch=32_000)


@pytest.mark.parametrize("name", TRUTH)
def test_a_form_is_read_or_asked_about(name: str) -> None:
    truth = TRUTH[name]
    if "asked" in truth:
        with pytest.raises(RunRefused) as refused:
            read_run(FORMS / name, FACTS, NOW)
        assert truth["asked"] in refused.value.errors
        return
    run = read_run(FORMS / name, FACTS, NOW)
    assert (run.epochs, run.hours * 3600) == (
        pytest.approx(truth["epochs"], 0.01),
        pytest.approx(truth["seconds"], 0.01),
    )
