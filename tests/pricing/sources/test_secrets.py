"""No secret in a log, an error, the commands' output, `settings` or the store, though every cloud echoes what it is sent."""

import json
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner
from fakes.server import Asked, FakeServer
from support.asking_here import ask_here

import pricing.sources.common.http
from api.cli.main import main
from api.settings import SETTINGS
from pricing import refresh as refreshing
from pricing.sources import SOURCES
from pricing.sources import running as collecting
from pricing.sources.common.http import Http

WORD = "hunter2"
KEY = "5eed" * 16
ASIDE = {
    "COSTCALC_EDITION_KEY": KEY,
    "COSTCALC_AWS_READ_SECONDS": "5",
    "COSTCALC_REFRESH_SECONDS": "60",
    "AWS_EC2_METADATA_DISABLED": "true",
}


def secret_settings() -> list[str]:
    return sorted(
        {setting.variable for setting in SETTINGS if setting.secret}
        | {variable for name in SOURCES for variable in SOURCES[name].secrets}
    )


def addresses() -> list[str]:
    listed = {setting.variable for spec in SOURCES.values() for setting in spec.settings}
    return sorted(variable for variable in listed if "_URL" in variable)


@pytest.fixture(params=["refused", "broken", "odd"])
def echo(request: pytest.FixtureRequest) -> Iterator[FakeServer]:
    """A server that gives back all it is told: as 401, as 503, or as an answer of no known shape."""

    def answer(asked: Asked) -> object:
        return {"you_sent": [asked.path, asked.query, asked.headers], "message": json.dumps(asked.headers)}

    with FakeServer(answer).running() as server:
        server.status = {"refused": 401, "broken": 503, "odd": 200}[request.param]
        yield server


@pytest.fixture
def environment(echo: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every address leads to the echo, every secret is set, and hidden in the addresses too."""
    monkeypatch.setattr(refreshing, "ask_all", ask_here)
    monkeypatch.setattr(collecting, "Http", partial(Http, retries=1, backoff_seconds=0))
    monkeypatch.setattr(pricing.sources.common.http, "TIMEOUT_SECONDS", (5, 5))
    monkeypatch.setattr("pricing.sources.aws.calls.ATTEMPTS", 1)
    for variable in addresses():
        monkeypatch.setenv(variable, echo.url)
    for variable in secret_settings():
        monkeypatch.setenv(variable, f"{WORD}-{variable}")
    for variable, value in ASIDE.items():
        monkeypatch.setenv(variable, value)
    for variable in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(variable, str(tmp_path / "none"))
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    monkeypatch.setenv("COSTCALC_SHEET", f"{echo.url}/rates.csv?token={WORD}-sheet")
    monkeypatch.setenv("COSTCALC_DATABASE_URL", f"sqlite:///{tmp_path / 'prices.sqlite3'}")


def stored(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        return "\n".join(connection.iterdump())


@pytest.mark.usefixtures("environment")
def test_no_secret_is_told_anywhere(tmp_path: Path, caplog: pytest.LogCaptureFixture, echo: FakeServer) -> None:
    caplog.set_level(logging.DEBUG)
    said = []
    for command in (["prices", "refresh", *SOURCES], ["prices", "status"], ["settings"], ["prices", "try", "gcp"]):
        ended = CliRunner().invoke(main, command)
        said.append(ended.output + repr(ended.exception))
    sent = repr(echo.asked)
    assert all(f"{WORD}-{name}" in sent for name in ("COSTCALC_GCP_API_KEY", "COSTCALC_LAMBDA_API_KEY", "sheet")), (
        "the secrets were really used"
    )
    everywhere = {"output": "\n".join(said), "log": caplog.text, "store": stored(tmp_path / "prices.sqlite3")}
    assert "answered 401" in everywhere["output"] or echo.status != 401
    assert {
        (where, secret): text[max(text.find(secret) - 200, 0) :][:400]
        for where, text in everywhere.items()
        for secret in (WORD, KEY)
        if secret in text
    } == {}
