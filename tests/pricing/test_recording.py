"""What a provider answered is kept as a recording that the tests can serve, without secrets."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from pytest_httpserver import HTTPServer
from support.recorded_sources import NOW, RECORDED, SECRET, RecordedSource, _answer

from api.cli.main import main
from pricing.recording import Recording


def served_again(source: str, folder: Path) -> RecordedSource:
    """The kept recording as the tests take it."""
    document = json.loads((folder / "answers.json").read_text())
    return RecordedSource(source, tuple(_answer(source, **entry) for entry in document["answers"]), {})


@pytest.mark.parametrize("name", ["lambda", "oci", "runpod", "verda", "vultr", "cirrascale"])
def test_a_kept_recording_gives_the_same_offers(
    name: str, httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    RECORDED[name].serve(httpserver)
    before = RECORDED[name].collect(httpserver.url_for(""))
    for variable, value in RECORDED[name].environment(httpserver.url_for("").rstrip("/")).items():
        monkeypatch.setenv(variable, value)
    done = CliRunner().invoke(main, ["prices", "try", name, "--save", str(tmp_path / name)])
    assert done.exit_code == 0, done.output
    assert " kept in" in done.output
    assert SECRET not in (tmp_path / name / "answers.json").read_text()
    httpserver.clear()
    kept = served_again(name, tmp_path / name)
    kept.serve(httpserver)
    assert kept.collect(httpserver.url_for("")).offers == before.offers
    assert before.offers[0].observed_at == NOW


def test_secrets_are_cut_out_of_addresses_and_answers(tmp_path: Path) -> None:
    recording = Recording(["s3cret", "", "s3cret-longer"])
    recording.keep("GET", "https://host/v1/list?key=s3cret-longer&page=2", b'{"echo": "for s3cret"}')
    recording.keep("GET", "https://host", b"plain s3cret")
    written = json.loads(recording.save(tmp_path / "new" / "folder", "a test").read_text())
    assert written == {
        "origin": ["a test"],
        "answers": [
            {
                "method": "GET",
                "path": "/v1/list",
                "query": {"key": "cut-out", "page": "2"},
                "body": {"echo": "for cut-out"},
            },
            {"method": "GET", "path": "/", "text": "plain cut-out"},
        ],
    }


def test_a_source_that_reads_a_file_has_nothing_to_keep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sheet = tmp_path / "rates.csv"
    sheet.write_text("provider,instance_type,accelerator,accelerators,hourly_rate\nacme,box,V100,1,1.5\n")
    monkeypatch.setenv("COSTCALC_SHEET", str(sheet))
    done = CliRunner().invoke(main, ["prices", "try", "sheet", "--save", str(tmp_path / "kept")])
    assert "nothing to keep" in done.output
    assert not (tmp_path / "kept").exists()
