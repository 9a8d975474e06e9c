"""Three clouds refreshed together over real HTTP: whatever one of them does, the others are published and nothing is lost."""

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from itertools import product
from pathlib import Path

import pytest
from botocore.loaders import create_loader
from botocore.retries.standard import ExponentialBackoff
from fakes import aws as fake_aws
from fakes.azure import FakeAzure
from fakes.gcp import COMPUTE, FakeGcp
from fakes.local import Fault
from fakes.server import FakeServer
from support.asking_here import ask_here
from support.prices import LATER, NOW
from support.sampled import sampled

import pricing.sources.common.http
from pricing import refresh as refreshing
from pricing.refresh import LIMIT_VARIABLE, refresh
from pricing.sources import running as collecting
from pricing.sources.azure import source as azure
from pricing.sources.common.http import Http
from pricing.store.store import Store

RECORDINGS = Path(__file__).parents[1] / "recordings"
SECRETS = {
    "AWS_ACCESS_KEY_ID": "AKIANOTAREALKEY00000",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI-not-a-real-secret",
    "COSTCALC_GCP_API_KEY": "a-key-that-nobody-may-see",
}
FAULTS = (
    Fault.THROTTLED,
    Fault.BROKEN,
    Fault.UNAUTHORIZED,
    Fault.STALLED,
    Fault.TRUNCATED,
    Fault.HALF_JSON,
    Fault.WEB_PAGE,
)
one_loader = cache(create_loader)  # reading EC2's model takes longer than a test


@dataclass
class Clouds:
    """Three servers, how each is made to fail, and the environment that leads to them."""

    break_down: dict[str, Callable[[Fault], None]]
    environment: dict[str, str]


@pytest.fixture
def clouds(monkeypatch: pytest.MonkeyPatch, no_account: None) -> Iterator[Clouds]:
    _hurry(monkeypatch)
    monkeypatch.setattr(azure, "REGIONS", frozenset({"eastus", "westeurope"}))
    with ExitStack() as stack:
        amazon = stack.enter_context(_amazon().running())
        google = stack.enter_context(_google().running())
        microsoft = stack.enter_context(_microsoft().running())
        yield Clouds(
            {"aws": partial(amazon.fail, "GetProducts"), "gcp": google.fail, "azure": microsoft.fail},
            {
                **SECRETS,
                "AWS_ENDPOINT_URL": amazon.url,
                "COSTCALC_AWS_REGIONS": "us-east-1",
                "COSTCALC_AWS_READ_SECONDS": "3",
                "COSTCALC_GCP_BILLING_URL": google.url,
                "COSTCALC_AZURE_PRICES_URL": microsoft.url,
                LIMIT_VARIABLE: "30",
            },
        )


def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few attempts and short waits."""
    monkeypatch.setattr(refreshing, "ask_all", ask_here)
    monkeypatch.setattr(collecting, "Http", partial(Http, retries=1, backoff_seconds=0))
    monkeypatch.setattr(pricing.sources.common.http, "TIMEOUT_SECONDS", (5, 4))
    monkeypatch.setattr("pricing.sources.gcp.source.CALL_SECONDS", 4)
    monkeypatch.setattr("botocore.session.create_loader", one_loader)
    monkeypatch.setattr("pricing.sources.aws.calls.ATTEMPTS", 2)
    monkeypatch.setattr(ExponentialBackoff, "delay_amount", lambda *_: 0)


def _amazon() -> fake_aws.FakeAws:
    return fake_aws.FakeAws(elements=[fake_aws.element(fake_aws.product("p3.8xlarge"), "12.2400000000", {})])


def _google() -> FakeServer:
    skus = json.loads((RECORDINGS / "gcp" / "skus_compute_engine.json").read_text())["skus"]
    return FakeGcp({COMPUTE: skus}).server()


def _microsoft() -> FakeServer:
    return FakeAzure(
        json.loads((RECORDINGS / "azure" / "retail_prices.json").read_text())["Items"], page_size=2
    ).server()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(f"sqlite:///{tmp_path / 'prices.sqlite3'}")


def observed(store: Store) -> dict[str, set[datetime]]:
    """When the current offers of each provider were last observed."""
    catalogue, found = store.load_current(), {}
    for row in catalogue.current_offers(LATER).rows:
        offer = catalogue.offer(row)
        found.setdefault(offer.provider, set()).add(offer.observed_at)
    return found


@pytest.mark.parametrize(("victim", "fault"), sampled(product(("aws", "gcp", "azure"), FAULTS), one_in=2))
def test_a_fault_of_one_cloud_costs_the_others_nothing(
    clouds: Clouds, store: Store, victim: str, fault: Fault, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    names = ("aws", "gcp", "azure")
    healthy = refresh(names, store, clouds.environment, NOW)
    assert [(result.name, result.error) for result in healthy.results if result.error] == []
    assert observed(store) == {name: {NOW} for name in names}
    clouds.break_down[victim](fault)
    report = refresh(names, store, clouds.environment, LATER)
    assert report.exit_code == 1
    assert observed(store) == {name: {NOW if name == victim else LATER} for name in names}
    assert report.published.new == 0
    [gap] = [gap for gap in store.gaps() if gap.since == NOW and gap.reason in {each.error for each in report.results}]
    assert gap.source == victim
    said = repr((report, store.status(), store.gaps())) + caplog.text
    assert [name for name, secret in SECRETS.items() if secret in said] == []
