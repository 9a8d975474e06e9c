"""A server keeps its prices fresh by itself, from local servers that speak the recorded formats of the sources."""

import re
import socket
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.live_server import start_server
from support.recorded_sources import RECORDED

from pricing.sources import SOURCES
from tools.cluster.cluster import wait_for

OPEN = [name for name, spec in SOURCES.items() if spec.is_open]
ADDRESSES = {each.variable for spec in SOURCES.values() for each in spec.settings if "_URL" in each.variable}
PAGES = {"coreweave", "hyperbolic", "hyperstack", "nebius", "together", "voltage-park"}
ANY_PATH = re.compile(".*")
COST = "/cost?model=resnet50&target=0.757&limit=1"


@pytest.fixture
def servers(tmp_path):
    """Starts servers, which end with the test."""
    started = []

    def start(name, source_url, **variables):
        home = tmp_path / name
        home.mkdir()
        quick = {
            "COSTCALC_WORKERS": "1",
            "COSTCALC_REFRESH": "1h",
            "COSTCALC_REFRESH_SECONDS": "240",
            "COSTCALC_POLL_SECONDS": "0.2",
        }
        addresses = {**dict.fromkeys(ADDRESSES, source_url), "AWS_EC2_METADATA_DISABLED": "true"}
        started.append(start_server(home, **{**quick, **addresses, **variables}))
        return started[-1]

    yield start
    for each in started:
        assert each.process.poll() is not None or each.stop() == 0


def wait_for_line(server, words):
    wait_for(lambda: words in server.log.read_text(), 270)


def refreshers(server):
    """The processes of refreshes that a server has under way."""
    files = Path(f"/proc/{server.process.pid}/task").glob("*/children")  # those that each thread started
    children = " ".join(file.read_text() for file in files).split()
    return [child for child in children if "pricing.refresher" in command(child)]


def command(process):
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_text()
    return ""


def fresh(server):
    """The providers whose rates were seen just now."""
    return {name for name, days in server.get(COST).json()["freshness"]["by_provider"].items() if days < 0.1}


@pytest.mark.timeout(600)
def test_it_answers_from_rates_of_that_minute_and_nobody_typed_a_refresh(servers, httpserver):
    url, addresses = httpserver.url_for("").rstrip("/"), {}
    for name in filter(RECORDED.get, OPEN):
        RECORDED[name].serve(httpserver, f"/{name}")
        addresses |= RECORDED[name].environment(f"{url}/{name}")
    httpserver.expect_request(ANY_PATH).respond_with_data(status=404)
    server, started = servers("one", url, **addresses), datetime.now(UTC)
    wait_for_line(server, "prices refreshed from")
    wait_for(lambda: fresh(server) >= PAGES)  # until its worker looks
    answer = server.get(COST).json()
    assert started - timedelta(seconds=60) < datetime.fromisoformat(answer["prices"]["newest_observed_at"])
    assert started - timedelta(seconds=60) < datetime.fromisoformat(answer["freshness"]["refreshed_at"])
    assert server.log.read_text().count("\n") == 2  # where it answers, and what came of the refresh


def test_without_internet_it_answers_as_packaged_and_says_one_sentence(servers):
    server = servers("offline", "http://127.0.0.1:9", COSTCALC_REFRESH_SECONDS="5")
    before = server.get(COST).json()
    wait_for_line(server, "prices not refreshed")
    wait_for(lambda: server.get(COST).json()["prices"]["gaps"])
    after = server.get(COST).json()
    assert after["estimates"] == before["estimates"]
    assert [(gap["source"], gap["reason"]) for gap in after["prices"]["gaps"]] == [
        ("any source", "none of them answered")
    ]
    assert server.log.read_text().count("\n") == 2


@pytest.mark.timeout(600)
def test_of_two_servers_with_several_workers_one_refreshes_and_if_it_is_killed_the_other(
    servers, httpserver, postgres_url
):
    RECORDED["vultr"].serve(httpserver)
    httpserver.expect_request(ANY_PATH).respond_with_data(status=404)
    shared = {"COSTCALC_DATABASE_URL": postgres_url}
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(270)
        one = servers("one", f"http://127.0.0.1:{silent.getsockname()[1]}", **shared, COSTCALC_WORKERS="2")
        with silent.accept()[0]:  # it asks, and waits for an answer
            [refresher] = refreshers(one)
            other = servers("other", httpserver.url_for("").rstrip("/"), **shared)
            wait_for(lambda: refreshers(other), 270)
            wait_for(lambda: not refreshers(other), 270)
            assert "refreshed" not in other.log.read_text()
            one.process.kill()
            one.process.wait()
            wait_for(lambda: not command(refresher))  # it ends with its server
            wait_for_line(other, "prices refreshed from 1 of")
