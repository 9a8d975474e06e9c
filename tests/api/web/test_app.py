"""The application as a whole: where it is served, how it starts, and what its parts import."""

import os
import re
import subprocess
import sys
from datetime import timedelta

import pytest
from support.services import packaged_service

from api.settings import Settings
from api.stored import FixedPrices, WatchedPrices
from api.web import health
from api.web.app import create_app
from costcalc.catalogue.catalogue import Catalogue
from costcalc.offer import Gap
from pricing.store.worker_catalogue import WorkerCatalogue, WorkerState

ASKED = "/cost?model=resnet50&target=0.757"
WITHOUT_FLASK = """
import sys
import api.forms.cost, api.cli.answers, api.cli.prices, api.formats.charts.cost_and_time, api.formats.sheet
import api.slack.command
print(sorted({"flask", "werkzeug", "jinja2"} & set(sys.modules)))
"""


@pytest.fixture
def below(service):
    """A client of an application that people reach at https://example.org/tools/costcalc."""
    return create_app(service, Settings(public_url="https://example.org/tools/costcalc/")).test_client()


@pytest.mark.parametrize("prefix", ["", "/tools/costcalc"])  # whether or not a proxy takes it off
def test_below_a_path_every_link_of_the_pages_stays_below_it(below, prefix):
    question = "?model=resnet50&target=0.757"
    paths = (
        "/",
        "/docs",
        f"/estimate{question}",
        f"/commitments{question}",
        "/compare",
        "/offers",
        "/models/resnet5",
        "/plan",
        "/recipes",
        "/accuracy?model=resnet50",
        "/offers/history?instance_type=p3.8xlarge",
        "/fit",
        "/models",
        "/nowhere",
    )
    for page in paths:
        told = below.get(prefix + page, headers={"Accept": "text/html"}).get_data(as_text=True)
        links = re.findall(r' (?:href|action|src|formaction|data-\w+)="([^"#][^"]*/[^"]*)"', told)
        assert len(links) > 5
        ours = [link for link in links if not link.startswith("https:")]
        assert {link for link in ours if re.match("/tools/costcalc/(?!tools/)", link) is None} == set(), page
    assert below.get(prefix + ASKED).json["count"] > 3
    assert below.get(f"{prefix}/openapi.json").json["servers"] == [{"url": "/tools/costcalc"}]


def test_a_path_that_only_starts_alike_is_not_below_it(below):
    assert below.get("/tools/costcalculus").status_code == 404


def test_flask_finds_the_application_without_being_told_how_to_build_it(filled_url):
    environment = {**os.environ, "COSTCALC_DATABASE_URL": filled_url}
    command = [sys.executable, "-m", "flask", "--app", "api.web.app", "routes"]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=True).stdout
    assert re.search(r"questions.cost +GET +/cost\s", told)


def test_terminal_slack_reports_and_formats_work_without_flask():
    told = subprocess.run(
        [sys.executable, "-c", WITHOUT_FLASK], capture_output=True, text=True, timeout=240, check=True
    )
    assert told.stdout.strip() == "[]"


def test_metrics_count_the_rates_in_quarantine_by_source():
    class Odd(FixedPrices):
        def quarantined(self):
            return ("aws", "aws")

    known = packaged_service()
    service = known.changed(prices=Odd(known.catalogue()))
    lines = create_app(service).test_client().get("/metrics").text.splitlines()
    assert 'costcalc_prices_quarantined{source="aws"} 2.0' in lines
    assert 'costcalc_prices_quarantined{source="gcp"} 0.0' in lines


def test_metrics_tell_gaps_failures_and_whether_the_store_is_there():
    class Troubled(FixedPrices):
        def catalogue(self):
            return Catalogue.from_offers((), "none", (Gap("aws", "half"), Gap("aws", "late")))

        def failing(self):
            return ("gcp",)

        def trouble(self):
            return "away"

    known = packaged_service()
    service = known.changed(prices=Troubled(known.catalogue()))
    lines = create_app(service).test_client().get("/metrics").text.splitlines()
    assert {'costcalc_prices_gaps{source="aws"} 2.0', 'costcalc_prices_gaps{source="gcp"} 0.0'} <= set(lines)
    assert {'costcalc_prices_failing{source="aws"} 0.0', 'costcalc_prices_failing{source="gcp"} 1.0'} <= set(lines)
    assert "costcalc_store_reachable 0.0" in lines


def test_metrics_count_estimates_and_processor_and_the_log_names_what_is_dear(monkeypatch, caplog):
    monkeypatch.setattr(health, "DEAR_SECONDS", 0)
    client = create_app(packaged_service()).test_client()

    def metric(name):
        lines = client.get("/metrics").text.splitlines()
        return next((float(line.split()[1]) for line in lines if line.startswith(name)), 0.0)

    estimates, seconds = (
        metric("costcalc_estimates_total"),
        metric('costcalc_http_processor_seconds_total{path="/cost"}'),
    )
    count = client.get("/cost?model=resnet50&target=0.7571&limit=2", headers={"X-Request-ID": "r1"}).json["count"]
    assert metric("costcalc_estimates_total") - estimates == count
    assert metric("costcalc_memory_bytes") > 0
    assert metric('costcalc_http_processor_seconds_total{path="/cost"}') > seconds
    assert any(
        re.fullmatch(r"request r1 took \d\.\d\d s of processor time: GET /cost", told) for told in caplog.messages
    )


def test_a_look_at_the_store_that_hangs_is_told():
    moments = [packaged_service().clock()]
    worker = WorkerCatalogue(lambda: None, lambda: moments[0])
    worker._state = WorkerState("s", True, moments[0])
    prices = WatchedPrices(worker)
    assert prices.trouble() is None
    moments[0] += timedelta(seconds=90)
    assert prices.trouble() == "it has not answered for 90 s"


def test_without_arguments_it_is_the_application_that_the_environment_describes(monkeypatch, filled_url):
    monkeypatch.setenv("COSTCALC_DATABASE_URL", filled_url)
    monkeypatch.setenv("COSTCALC_API_TOKENS", "sesame")
    client = create_app().test_client()
    assert client.get(ASKED).status_code == 401
    assert client.get(f"{ASKED}&token=sesame").json["count"] > 0


def test_metrics_tell_a_slow_answer_from_one_that_takes_half_a_minute(client):
    client.get(ASKED)
    lines = client.get("/metrics").text.splitlines()
    bounds = [line.split('"')[1] for line in lines if line.startswith("costcalc_http_request_seconds_bucket")]
    assert {"3.0", "10.0", "30.0"} <= set(bounds)


def test_a_browser_that_asks_for_a_cost_is_sent_to_its_page(client):
    asked = "/cost?model=resnet50&target=0.757&_note=a%26b"
    sent = client.get(asked, headers={"Accept": "text/html,*/*;q=0.8"})
    assert (sent.status_code, sent.headers["Location"]) == (303, asked.replace("/cost", "/"))
    assert sent.headers["Cache-Control"] == "no-store"
    assert "Accept" in sent.headers["Vary"]
    for other in ({"Accept": "*/*"}, {"Accept": "application/json"}, {}):
        assert client.get(asked, headers=other).status_code == 200
    assert client.get(f"{asked}&format=json", headers={"Accept": "text/html"}).status_code == 200
