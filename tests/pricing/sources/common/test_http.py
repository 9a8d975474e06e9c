"""What a cloud that is down may cost: bounded attempts and waits, over real HTTP."""

import gzip
import time
from collections.abc import Iterator

import pytest
from fakes.local import Fault
from fakes.server import FakeServer
from pytest_httpserver import HTTPServer
from urllib3.util.retry import RequestHistory

import pricing.sources.common.http as http_module
from pricing.sources.common.http import MIB, Http, HttpError, post_once
from tools.cluster.cluster import wait_for


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(lambda asked: {"prices": [1]}).running() as running:
        yield running


@pytest.fixture
def http() -> Iterator[Http]:
    session = Http(retries=3, backoff_seconds=0, most_mib=3)
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
    monkeypatch.setattr(http_module, "TIMEOUT_SECONDS", (1, 0.2))
    server.answer = lambda asked: time.sleep(0.6)
    with pytest.raises(HttpError, match="stopped answering"):
        http.get_json(server.url)
    wait_for(lambda: len(server.asked) == 2)


def test_nobody_there_is_said_so(http: Http) -> None:
    with pytest.raises(HttpError, match=r"http://127\.0\.0\.1:9/skus cannot be reached$"):
        http.get_json("http://127.0.0.1:9/skus", {"key": "hunter2"})


@pytest.mark.parametrize(("asked", "longest", "waits"), [("1", 20, 1), ("3600", 0.5, 0.5)])
def test_retry_after_is_honoured_up_to_a_limit(
    server: FakeServer, http: Http, monkeypatch: pytest.MonkeyPatch, asked: str, longest: float, waits: float
) -> None:
    monkeypatch.setattr(http_module, "LONGEST_RETRY_AFTER_SECONDS", longest)
    monkeypatch.setattr("fakes.server.RETRY_AFTER", asked)
    server.fail(Fault.THROTTLED, times=1)
    started = time.monotonic()
    assert http.get_json(server.url) == {"prices": [1]}
    assert waits <= time.monotonic() - started


def test_who_throttles_without_saying_for_how_long_is_left_alone_for_a_minute() -> None:
    tried = [RequestHistory("GET", "/", None, status, None) for status in (429, 429, 503)]
    retry = http_module._BoundedRetry(backoff_factor=0.5)
    waits = [retry.new(history=tuple(tried[:count])).get_backoff_time() for count in (1, 2, 3)]
    assert waits == [0, 20, 2]
    assert retry.new(history=(tried[0],) * 3).get_backoff_time() == 40


def zipped(megabytes: int) -> bytes:
    return gzip.compress(b" " * (megabytes * MIB))


READ = {"json": Http.get_json, "text": Http.get_text, "bytes": Http.get_bytes}


@pytest.mark.parametrize("read", READ)
def test_an_answer_is_bounded_after_it_is_unpacked(http: Http, read: str) -> None:
    with HTTPServer() as bomb:
        bomb.expect_request("/").respond_with_data(zipped(50), headers={"Content-Encoding": "gzip"})
        with pytest.raises(HttpError, match=r"answered more than 3 MiB") as refused:
            READ[read](http, bomb.url_for("/"))
    assert refused.value.status is None


def test_an_answer_to_a_post_is_bounded() -> None:
    with HTTPServer() as bomb:
        bomb.expect_request("/").respond_with_data(zipped(2), headers={"Content-Encoding": "gzip"})
        with pytest.raises(HttpError, match="more than 1 MiB"):
            post_once(bomb.url_for("/"), {}, (5, 5))


def test_half_a_character_becomes_a_question_mark(http: Http) -> None:
    with HTTPServer() as odd:
        odd.expect_request("/").respond_with_data(r'{"n\\ud83d": ["\\ud83d", "\\ud83d\\ude00"]}'.replace("\\\\", "\\"))
        assert http.get_json(odd.url_for("/")) == {"n?": ["?", "\U0001f600"]}


def test_nesting_without_end_is_no_json(http: Http) -> None:
    with HTTPServer() as odd:
        odd.expect_request("/").respond_with_data("[" * 100_000)
        with pytest.raises(HttpError, match="not JSON"):
            http.get_json(odd.url_for("/"))


def test_a_password_in_an_address_is_not_said(server: FakeServer, http: Http) -> None:
    server.status = 500
    with pytest.raises(HttpError) as refused:
        http.get_json(server.url.replace("//", "//user:hunter2@") + "/prices?key=hunter3")
    assert str(refused.value) == f"{server.url}/prices answered 500"
