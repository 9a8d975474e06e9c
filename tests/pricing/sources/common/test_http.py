"""What a cloud that is down may cost: bounded attempts and waits, over real HTTP."""

import time
from collections.abc import Iterator

import pytest
from fakes.local import Fault
from fakes.server import FakeServer

import pricing.sources.common.http
from pricing.sources.common.http import Http, HttpError


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(lambda asked: {"prices": [1]}).running() as running:
        yield running


@pytest.fixture
def http() -> Iterator[Http]:
    session = Http(retries=3, backoff_seconds=0)
    yield session
    session.close()


@pytest.mark.parametrize("fault", [Fault.TRUNCATED, Fault.HALF_JSON])
def test_an_answer_that_breaks_off_is_asked_for_once_more(server: FakeServer, http: Http, fault: Fault) -> None:
    server.fail(fault, times=1)
    assert http.get_json(server.url) == {"prices": [1]}
    server.fail(fault, times=2)
    with pytest.raises(HttpError, match=r"broke off its answer|not JSON"):
        http.get_json(server.url)
    assert len(server.asked) == 4


@pytest.mark.parametrize("fault", [Fault.THROTTLED, Fault.BROKEN])
def test_a_refusal_is_met_with_four_attempts_and_no_more(server: FakeServer, http: Http, fault: Fault) -> None:
    server.fail(fault, times=3)
    assert http.get_json(server.url) == {"prices": [1]}
    server.fail(fault)
    with pytest.raises(HttpError, match=f"answered {fault.value}"):
        http.get_json(server.url)
    assert len(server.asked) == 8


def test_a_server_that_stalls_is_asked_twice(server: FakeServer, http: Http, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pricing.sources.common.http, "TIMEOUT_SECONDS", (1, 0.2))
    server.answer = lambda asked: time.sleep(0.6)
    with pytest.raises(HttpError, match="stopped answering"):
        http.get_json(server.url)
    assert len(server.asked) == 2


def test_nobody_there_is_said_so(http: Http) -> None:
    with pytest.raises(HttpError, match=r"http://127\.0\.0\.1:9/skus cannot be reached$"):
        http.get_json("http://127.0.0.1:9/skus", {"key": "hunter2"})


@pytest.mark.parametrize(("asked", "longest", "waits"), [("1", 20, 1), ("3600", 0.5, 0.5)])
def test_retry_after_is_honoured_up_to_a_limit(
    server: FakeServer, http: Http, monkeypatch: pytest.MonkeyPatch, asked: str, longest: float, waits: float
) -> None:
    monkeypatch.setattr(pricing.sources.common.http, "LONGEST_RETRY_AFTER_SECONDS", longest)
    monkeypatch.setattr("fakes.server.RETRY_AFTER", asked)
    server.fail(Fault.THROTTLED, times=1)
    started = time.monotonic()
    assert http.get_json(server.url) == {"prices": [1]}
    assert waits <= time.monotonic() - started < waits + 2
