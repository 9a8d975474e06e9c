"""The application as a whole: where it is served, how it starts, and what its parts import."""

import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from support.services import packaged_service

from api.bootstrap import FixedPrices
from api.settings import Settings
from api.web.app import create_app

ASKED = "/cost?model=resnet50&target=0.757"
WITHOUT_FLASK = """
import sys
import api.cli.cost, api.cli.plan, api.cli.prices, api.formats.charts.cost_and_time, api.formats.sheets
import api.slack.command, api.slack.price_alert
print(sorted({"flask", "werkzeug", "jinja2"} & set(sys.modules)))
"""


@pytest.fixture
def below(service):
    """A client of an application that people reach at https://example.org/tools/costcalc."""
    return create_app(service, Settings(public_url="https://example.org/tools/costcalc/")).test_client()


@pytest.mark.parametrize("prefix", ["", "/tools/costcalc"])  # whether or not a proxy takes it off
def test_below_a_path_every_link_of_the_pages_stays_below_it(below, prefix):
    for page in ("/", "/docs"):
        links = re.findall(r' (?:href|action|src)="([^"#][^"]*)"', below.get(prefix + page).get_data(as_text=True))
        assert len(links) > 5
        assert {link for link in links if not link.startswith("/tools/costcalc/")} == set()
    assert below.get(prefix + ASKED).json["count"] > 3
    assert below.get(f"{prefix}/openapi.json").json["servers"] == [{"url": "/tools/costcalc"}]


def test_a_path_that_only_starts_alike_is_not_below_it(below):
    assert below.get("/tools/costcalculus").status_code == 404


def test_flask_finds_the_application_without_being_told_how_to_build_it(tmp_path):
    environment = {**os.environ, "COSTCALC_DATABASE_URL": f"sqlite:///{tmp_path / 'prices.sqlite3'}"}
    command = [sys.executable, "-m", "flask", "--app", "api.web.app", "routes"]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True).stdout
    assert re.search(r"costs.cost +GET +/cost\s", told)


def test_terminal_slack_reports_and_formats_work_without_flask():
    told = subprocess.run(
        [sys.executable, "-c", WITHOUT_FLASK], capture_output=True, text=True, timeout=120, check=True
    )
    assert told.stdout.strip() == "[]"


def test_metrics_count_the_rates_in_quarantine_by_source():
    class Odd(FixedPrices):
        def quarantined(self):
            return ("aws", "aws")

    known = packaged_service()
    service = replace(known, prices=Odd(known.catalogue()))
    lines = create_app(service).test_client().get("/metrics").text.splitlines()
    assert 'costcalc_prices_quarantined{source="aws"} 2.0' in lines
    assert 'costcalc_prices_quarantined{source="gcp"} 0.0' in lines
