"""Asked when every packaged rate is too old, each surface says what to do."""

from datetime import UTC, datetime

import pytest
from click.testing import CliRunner
from support.services import packaged_service
from support.slack import answered

from api.cli import answers as terminal
from api.cli.main import main
from api.web.app import create_app

IN_2028 = datetime(2028, 7, 1, tzinfo=UTC)
OF = {"model": "resnet50", "target": "0.757"}
ADVICE = ("costcalc prices refresh", "max_price_age=", "as_of=")


@pytest.fixture(scope="module")
def service():
    return packaged_service().changed(clock=lambda: IN_2028)


@pytest.fixture(scope="module")
def client(service):
    return create_app(service).test_client()


@pytest.mark.parametrize(
    ("path", "parameters"),
    [
        ("/", OF),
        ("/launch", OF | {"to": "skypilot"}),
        ("/compare", OF | {"a": "aws:p3.16xlarge", "b": "aws:p3.2xlarge"}),
        ("/accuracy", {"model": "resnet50", "budget": "100"}),
        ("/accuracy.csv", {"model": "resnet50", "budget": "100"}),
        ("/commitments", OF),
        ("/plan", OF),
        ("/plan.csv", OF),
    ],
)
def test_it_says_what_to_do(client, path, parameters):
    said = client.get(path, query_string=parameters).get_data(as_text=True)
    assert all(each in said for each in ADVICE), said


@pytest.mark.parametrize("path", ["/cost", "/cost.csv"])
def test_what_is_for_programs_and_sheets_has_the_hints(client, path):
    said = client.get(path, query_string=OF | {"excel": "1"} if "csv" in path else OF).get_data(as_text=True)
    assert "estimates with max_price_age=700." in said
    assert "estimates with as_of=2026-11-09." in said


def test_slack_says_it(service, slack_settings):
    said = answered(create_app(service, slack_settings).test_client(), "resnet50 0.757")["text"]
    assert all(each in said for each in ADVICE)


def test_the_terminal_says_it_in_options(service, monkeypatch):
    monkeypatch.setattr(terminal, "build_once", lambda settings: service)
    said = " ".join(CliRunner().invoke(main, ["cost", "resnet50", "0.757"]).output.split())
    assert (
        "fetch newer rates with costcalc prices refresh, allow these with --max-price-age=, or ask with --as-of="
        in said
    )
    for option in ("--as-of=2026-11-09", "--max-price-age=700"):
        assert f"estimates with {option}." in said
        again = CliRunner().invoke(main, ["cost", "resnet50", "0.757", option, "--format", "json"])
        assert '"picks":[{' in again.output


def test_an_offer_that_another_filter_left_out_is_not_called_old(client):
    said = client.get("/plan", query_string=OF | {"max_price_age": "700", "max_cost": "0.01"}).get_data(as_text=True)
    assert "costcalc prices refresh" not in said
