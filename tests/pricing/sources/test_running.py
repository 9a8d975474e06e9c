"""Sources in processes of their own: a hostile one costs itself alone, and nothing of it is left behind."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes import aws as fake_aws
from fakes.gcp import COMPUTE, FakeGcp
from fakes.hostile import hostile
from fakes.server import FakeServer
from msgspec.structs import replace
from pytest_httpserver import HTTPServer
from support.prices import NOW
from support.recorded_sources import RECORDED, RECORDINGS

from pricing.refresh import LIMIT_VARIABLE, refresh, try_source
from pricing.sources import SOURCES, running
from pricing.sources.running import Outcome, ask, ask_all
from pricing.sources.source import Bounds
from pricing.store.store import Store
from tools.cluster.cluster import wait_for

TOO_MUCH_MEMORY = "its answers take more than 64 MiB of memory"


@pytest.fixture
def bad() -> Iterator[str]:
    """An address below which everybody means harm."""
    with hostile() as url:
        yield url


@pytest.fixture
def good(httpserver: HTTPServer) -> str:
    """An address at which every source finds its recorded answers."""
    for source in RECORDED.values():
        source.serve(httpserver)
    return httpserver.url_for("").rstrip("/")


def addressed(url: str, *names: str) -> dict[str, str]:
    """The settings by which these sources ask there."""
    return {name: text for each in names for name, text in RECORDED[each].environment(url).items()}


def asked(names: list[str], environment: dict[str, str], limit_seconds: float) -> list[Outcome]:
    """What came of them, in the order in which it came."""
    return list(ask_all([SOURCES[name] for name in names], environment, NOW, limit_seconds))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts what a process allocates")
def test_a_hostile_source_costs_itself_alone(
    tmp_path: Path, bad: str, good: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "MEMORY_MIB", 1024)  # nobody waits
    harm = {
        "oci": "endless",
        "vultr": "bomb",
        "skypilot": "bomb",
        "hetzner": "wide",
    }
    honest = ("lambda", "verda", "digitalocean", "scaleway")
    environment = {LIMIT_VARIABLE: "240", **addressed(good, *honest)}
    for name, kind in harm.items():
        environment |= addressed(f"{bad}/{kind}", name)
    store = Store(f"sqlite:///{tmp_path / 'prices.sqlite3'}")
    report = refresh([*harm, *honest], store, environment, NOW)
    errors = {result.name: result.error or "" for result in report.results if result.error}
    assert errors.keys() == harm.keys()
    assert {state.name for state in store.status() if state.offers} == set(honest)
    too_long = {"oci": 8, "vultr": 8, "skypilot": 16}
    assert {name for name, mib in too_long.items() if f"more than {mib} MiB" in errors[name]} == too_long.keys()
    assert errors["hetzner"] == TOO_MUCH_MEMORY


def test_what_a_process_hands_over_is_what_the_source_said(good: str) -> None:
    environment = {**os.environ, **addressed(good, *RECORDED)}
    outcomes = {outcome.name: outcome for outcome in asked(list(RECORDED), environment, 240)}
    for name, spec in ((name, SOURCES[name]) for name in RECORDED):
        assert outcomes[name].collected == ask(spec, environment, NOW).collected, name


def test_the_clouds_own_libraries_work_in_a_process_of_their_own(no_account: None) -> None:
    amazon = fake_aws.FakeAws(elements=[fake_aws.element(fake_aws.product("p3.8xlarge"), "12.24", {})])
    google = FakeGcp({COMPUTE: json.loads((RECORDINGS / "gcp" / "skus_compute_engine.json").read_text())["skus"]})
    with amazon.running() as aws, google.server().running() as gcp:
        environment = {
            **os.environ, "AWS_ENDPOINT_URL": aws.url, "COSTCALC_AWS_REGIONS": "us-east-1",
            **{f"COSTCALC_GCP_{api}_URL": gcp.url for api in ("BILLING", "COMPUTE", "TPU")},
        }  # fmt: skip
        outcomes = asked(["aws", "gcp"], environment, 240)
    assert sorted((each.name, each.error) for each in outcomes) == [("aws", None), ("gcp", None)]


def test_sources_are_asked_side_by_side() -> None:
    together = threading.Barrier(2, timeout=60)
    with FakeServer(lambda _: {"met": together.wait()}).running() as server:
        outcomes = asked(["verda", "oci"], addressed(server.url, "verda", "oci"), 120)
    assert all("holds no list" in (outcome.error or "") or "is empty" in (outcome.error or "") for outcome in outcomes)


def test_who_takes_long_while_others_wait_gives_way(bad: str, good: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "MEMORY_MIB", 64)
    environment = {**addressed(f"{bad}/slow", "oci"), **addressed(good, "verda")}
    late, answered = asked(["oci", "verda"], environment, 30)
    assert (late.name, late.late) == ("oci", True)
    assert late.error.startswith("took longer than ")
    assert (answered.name, answered.error) == ("verda", None)


def test_what_is_left_when_the_time_is_up_is_said(bad: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "MEMORY_MIB", 64)
    outcomes = asked(["oci", "verda"], addressed(f"{bad}/slow", "oci", "verda"), 0)
    assert [(each.name, each.late) for each in outcomes] == [("oci", True), ("verda", True)]
    assert outcomes[1].error == "its turn did not come in time"


def test_a_source_that_takes_more_memory_than_there_is_is_asked_alone(
    good: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "MEMORY_MIB", 63)
    outcomes = asked(["oci", "verda"], addressed(good, "oci", "verda"), 240)
    assert [(each.name, each.error) for each in outcomes] == [("oci", None), ("verda", None)]


def test_a_source_may_list_so_many_offers_and_no_more(good: str) -> None:
    spec = replace(SOURCES["oci"], bounds=Bounds(offers=2))
    [outcome] = ask_all([spec], addressed(good, "oci"), NOW, 240)
    assert (outcome.collected, outcome.error) == (None, "lists more than 2 offers")


def test_a_process_that_breaks_down_is_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "import os\nfrom pricing.sources.source import SourceSpec\n"
    source += "SPEC = SourceSpec('broken', 'Broken', lambda environment, http: os.abort())\n"
    (tmp_path / "broken_source.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(SOURCES.modules, "broken", "broken_source")
    assert try_source("broken", {}, NOW).error == "its process ended with status -6, perhaps for want of memory"


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no /proc to look for processes in")
def test_no_process_outlives_the_one_that_asks(bad: str) -> None:
    ask_oci = (
        "import os; from datetime import UTC, datetime; from pricing.sources import SOURCES\n"
        "from pricing.sources.running import ask_all; list(ask_all([SOURCES['oci']], os.environ, datetime.now(UTC), 60))"
    )
    settings = addressed(f"{bad}/slow", "oci")
    refreshing = subprocess.Popen([sys.executable, "-c", ask_oci], env={**os.environ, **settings})
    wait_for(lambda: len(processes_with(bad)) > 2)
    refreshing.kill()
    refreshing.wait()
    wait_for(lambda: not processes_with(bad))


def processes_with(setting: str) -> list[Path]:
    """The processes in whose environment this stands."""

    def holds(process: Path) -> bool:
        try:
            return setting.encode() in (process / "environ").read_bytes()
        except OSError:
            return False

    return [process for process in Path("/proc").glob("[0-9]*") if holds(process)]
