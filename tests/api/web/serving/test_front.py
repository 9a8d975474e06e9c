"""The front reads within bounds, answers from memory, lets so many work at once, and gives each request a number."""

import asyncio
import json
import logging
import threading
import time
from dataclasses import replace

import pytest
from support.asgi import ask, run
from support.services import packaged_service

from api.settings import Settings
from api.tokens import Tokens
from api.web.asker import Access, KeptSignIns
from api.web.replay import Replay
from api.web.serving import front as fronts
from api.web.serving import request as requests
from api.web.serving.access_log import access
from api.web.serving.front import Front, create_front
from api.web.serving.rate_limit import RateLimit


def echo(environ, start_response):
    """Answers with what it was sent."""
    told = {name: environ.get(name) for name in ("CONTENT_LENGTH", "HTTP_X_REQUEST_ID", "QUERY_STRING")}
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps({**told, "body": environ["wsgi.input"].read().decode()}).encode()]


def front(app=echo, threads=1, wait_seconds=0.5, limit=None, tokens=()):
    access = Access(Tokens.of(tokens), KeptSignIns(), packaged_service().clock)
    return Front(app, Replay(app, lambda _: "v", 10), threads, wait_seconds, RateLimit(limit, access))


CHUNKED = ((b"transfer-encoding", b"chunked"),)


def test_a_body_of_any_framing_arrives_whole():
    got = run(ask(front(), method="POST", headers=CHUNKED, pieces=(b"mod", b"el", b"")))
    assert json.loads(got["body"])["body"] == "model"
    assert json.loads(got["body"])["CONTENT_LENGTH"] == "5"


def test_a_body_of_any_framing_is_refused_when_it_is_too_large(monkeypatch):
    monkeypatch.setattr(fronts, "MOST_BODY_BYTES", 8)
    got = run(ask(front(), method="POST", headers=CHUNKED, pieces=(b"12345", b"6789", None)))
    assert (got["status"], got["headers"][b"connection"]) == (413, b"close")
    assert "larger than 8 bytes" in json.loads(got["body"])["detail"]
    assert run(ask(front(), method="POST", headers=CHUNKED, pieces=(b"12345678",)))["status"] == 200


def test_a_body_that_does_not_arrive_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(fronts, "BODY_SECONDS", 0.05)
    got = run(ask(front(), method="POST", headers=CHUNKED, pieces=(b"mod", None)))
    assert (got["status"], got["headers"][b"content-type"]) == (408, b"application/problem+json")


def test_who_does_not_read_an_answer_holds_up_nobody(monkeypatch):
    monkeypatch.setattr(requests, "SEND_SECONDS", 0.2)

    def long(environ, start_response):
        start_response("200 OK", [])
        return (b"0123456789" for _ in range(100))

    async def both():
        app = front(long, wait_seconds=5)
        stopped = asyncio.create_task(ask(app, most=50))
        await asyncio.sleep(0.05)
        return await asyncio.wait_for(ask(app), 60), await stopped

    other, stopped = run(both())
    assert (len(other["body"]), len(stopped["body"])) == (1000, 60)


def test_only_so_many_work_at_once_and_probes_are_not_among_them():
    go_on = threading.Event()

    def slow(environ, start_response):
        if environ["PATH_INFO"] == "/cost":
            go_on.wait(60)
        return echo(environ, start_response)

    async def crowd():
        app = front(slow)
        first = asyncio.create_task(ask(app))
        await asyncio.sleep(0.05)
        refused, probe, plan = await asyncio.gather(ask(app), ask(app, "/healthz"), ask(app, "/cost.png"))
        waiting = asyncio.create_task(ask(app))
        go_on.set()
        return await first, refused, probe, plan, await waiting

    first, refused, *others = run(crowd())
    assert first["status"] == 200
    assert (refused["status"], refused["headers"][b"retry-after"]) == (503, b"1")
    assert [other["status"] for other in others] == [200, 200, 200]


def test_whose_turn_would_come_too_late_is_refused_at_once():
    def slow(environ, start_response):
        time.sleep(0.1)
        return echo(environ, start_response)

    answered = []

    async def told(app):
        answered.append((await ask(app))["status"])

    async def crowd():
        app = front(slow, wait_seconds=2)
        for _ in range(20):
            await ask(app)  # by now it knows how long one takes
        await asyncio.gather(*(told(app) for _ in range(60)))

    run(crowd())
    refused = answered.count(503)
    assert 30 <= refused < 60, "2 s is time for some 20 of them"
    assert 503 not in answered[refused + 2 :], "all are told before a second one is answered"


def test_who_waits_is_answered_even_where_the_turn_comes_a_little_late():
    taken = iter([0.01] * 20)

    def ever_slower(environ, start_response):
        time.sleep(next(taken, 0.8))
        return echo(environ, start_response)

    async def crowd():
        app = front(ever_slower, wait_seconds=1)
        for _ in range(20):
            await ask(app)
        return await asyncio.gather(*(ask(app) for _ in range(3)))

    assert [got["status"] for got in run(crowd())] == [200] * 3


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("/cost.png", "/cost.xlsx"),
        ("/cost.xlsx", "/cost.svg"),
        ("/cost.xlsx", "/plan"),
        ("/plan", "/cost"),
        ("/cost", "/plan"),
        ("/recipes", "/cost"),
    ],
)
def test_pictures_workbooks_plans_logs_and_questions_do_not_wait_for_each_other(first, second):
    go_on = threading.Event()

    def held(environ, start_response):
        if environ["PATH_INFO"] == first:
            assert go_on.wait(60)
        return echo(environ, start_response)

    async def both():
        app = front(held)
        waits = asyncio.create_task(ask(app, first, method="POST" if first == "/recipes" else "GET"))
        await asyncio.sleep(0.05)
        got = await asyncio.wait_for(ask(app, second), 50)
        go_on.set()
        return got, await waits

    assert [got["status"] for got in run(both())] == [200, 200]


def bearer(token):
    return [(b"authorization", b"Bearer " + token)]


def test_a_visitor_has_a_limit_and_another_has_their_own():
    async def visits():
        app = front(limit="2/minute", tokens=("hers", "his"))
        return [
            *[await ask(app) for _ in range(3)],
            await ask(app, client="10.0.0.2"),
            await ask(app, headers=bearer(b"hers")),
            await ask(app, query=b"token=hers"),
            await ask(app, headers=bearer(b"hers"), client="10.0.0.3"),
            await ask(app, headers=bearer(b"his")),
            await ask(app, "/healthz"),
        ]

    statuses = [got["status"] for got in run(visits())]
    assert statuses == [200, 200, 429, 200, 200, 200, 429, 200, 200]


@pytest.mark.parametrize("tokens", [(), ("hers",)])
def test_a_made_up_token_is_no_visitor_of_its_own(tokens):
    async def visits():
        app = front(limit="5/minute", tokens=tokens)
        wrong = [{"headers": bearer(b"%d" % number)} for number in range(10)]
        wrong += [{"query": b"token=%d" % number} for number in range(10)]
        wrong += [{"headers": [(b"cookie", b"costcalc=%d" % number)]} for number in range(10)]
        return [(await ask(app, **each))["status"] for each in wrong]

    assert run(visits()).count(200) == 5


def test_who_signed_in_is_the_visitor_of_their_token():
    access = Access(Tokens.of(("hers",)), KeptSignIns(), packaged_service().clock)
    cookie = [(b"cookie", f"costcalc={access.sign_in(access.tokens.all[0])}".encode())]

    async def visits():
        app = Front(echo, Replay(echo, lambda _: "v", 10), 1, 0.2, RateLimit("1/minute", access))
        asked = ({"headers": cookie}, {"headers": cookie, "client": "10.0.0.2"}, {"headers": bearer(b"hers")}, {})
        return [(await ask(app, **each))["status"] for each in asked]

    assert run(visits()) == [200, 429, 429, 200]


@pytest.mark.parametrize(
    ("clients", "answered"),
    [
        (("2001:db8::1", "2001:db8::2"), 1),
        (("2001:db8::1", "2001:db8:0:1::1"), 2),
        (("::ffff:192.0.2.1", "::ffff:192.0.2.2"), 2),
        (("", ""), 1),
    ],
)
def test_of_ipv6_a_network_is_one_visitor(clients, answered):
    async def visits():
        app = front(limit="1/minute")
        return [(await ask(app, client=each))["status"] for each in clients]

    assert run(visits()).count(200) == answered


@pytest.mark.parametrize(
    ("sent", "kept"), [(b"abc-1.2:3_x", True), (b"", False), (b"a b", False), (b"x" * 65, False), (b"a\xe9", False)]
)
def test_every_answer_has_a_number(sent, kept):
    got = run(ask(front(), headers=[(b"x-request-id", sent)]))
    number = got["headers"][b"x-request-id"]
    assert (number == sent) is kept
    assert json.loads(got["body"])["HTTP_X_REQUEST_ID"] == number.decode()


def test_an_address_that_is_not_ascii_is_refused():
    got = run(ask(front(), query="model=résnet".encode()))
    assert got["status"] == 400
    assert "percent-encode" in json.loads(got["body"])["detail"]


def test_a_repeated_question_is_answered_from_memory_without_a_thread():
    async def twice():
        app = create_front(packaged_service(), Settings())
        asked = {"path": "/cost", "query": b"model=resnet50&target=0.757&limit=1&as_of=2026-07-01"}
        first = await ask(app, **asked)
        again = await ask(app, **asked)
        tag = first["headers"][b"etag"]
        return first, again, await ask(app, **asked, headers=[(b"if-none-match", tag)])

    first, again, unchanged = run(twice())
    assert (first["status"], again["body"]) == (200, first["body"])
    assert (unchanged["status"], unchanged["body"]) == (304, b"")
    assert {**first["headers"], b"x-request-id": b""} == {**again["headers"], b"x-request-id": b""}


@pytest.mark.parametrize(
    ("proxies", "invented", "peer"),
    [
        (("1",), b"198.51.100.%d, 10.1.2.3", "10.0.0.1"),
        (("2",), b"198.51.100.%d, 10.1.2.3, 10.0.0.7", "10.0.0.1"),
        (("10.0.0.1",), b"198.51.100.%d, 10.1.2.3", "10.0.0.1"),
        (("10.0.0.0/28",), b"198.51.100.%d, 10.1.2.3, 10.0.0.7", "10.0.0.1"),
        (("1",), b"", "10.0.0.1"),
        (("2",), b"198.51.100.%d", "10.0.0.1"),
        (("10.0.0.0/28",), b"10.0.0.%d", "10.0.0.1"),
        (("192.0.2.9",), b"198.51.100.%d", "10.0.0.1"),
    ],
)
def test_what_a_visitor_invents_evades_no_limit(proxies, invented, peer):
    """A visitor with an address like those of the proxies, too: each invents another origin for every request."""

    async def visits():
        app = create_front(packaged_service(), replace(Settings(), rate_limit="2/minute", trusted_proxies=proxies))
        sent = [invented % number if b"%" in invented else invented for number in range(1, 8)]
        return [(await ask(app, "/", headers=[(b"x-forwarded-for", each)]))["status"] for each in sent]

    assert run(visits()) == [200, 200, *[429] * 5]


def test_trusted_proxies_say_who_asks():
    async def visits(proxies):
        settings = replace(Settings(), rate_limit="1/minute", trusted_proxies=proxies)
        app = create_front(packaged_service(), settings)
        clients = (b"192.0.2.1", b"192.0.2.2")
        statuses = [(await ask(app, "/", headers=[(b"x-forwarded-for", each)]))["status"] for each in clients]
        forged = [(b"x-forwarded-for", b"198.51.100.%d, 192.0.2.3" % number) for number in range(2)]
        made_up = [[each, *bearer(b"%d" % number)] for number, each in enumerate(forged)]
        return [*statuses, *[(await ask(app, "/", headers=headers))["status"] for headers in made_up]]

    assert run(visits(("10.0.0.1",))) == [200, 200, 200, 429]
    assert run(visits(("10.9.9.9",))) == [200, 429, 429, 429]


def test_the_log_has_a_line_without_the_token(caplog):
    caplog.set_level(logging.INFO, access.name)
    run(ask(front(), query=b"model=resnet50&token=secret", headers=[(b"user-agent", b"curl/8")]))
    line = json.loads(caplog.records[-1].message)
    assert line["query"] == "model=resnet50&token=********"
    assert (line["status"], line["path"], line["client"], line["agent"]) == (200, "/cost", "10.0.0.1", "curl/8")
    assert line["bytes"] > 0
    assert "secret" not in caplog.text


INTRANET = b"https://intranet.example.org"
ASKS_FIRST = (b"access-control-request-method", b"GET")


@pytest.mark.parametrize(
    ("sites", "origin", "told"),
    [
        ((), INTRANET, None),
        ((INTRANET.decode(),), INTRANET, INTRANET),
        ((INTRANET.decode(),), b"https://evil.example", None),
        ((INTRANET.decode(),), b"", None),
        (("*",), b"https://evil.example", b"*"),
    ],
)
def test_scripts_of_other_sites_read_answers_only_where_they_are_named(sites, origin, told):
    async def asked_by_a_page():
        app = create_front(packaged_service(), Settings(cors_origins=sites))
        headers = [(b"origin", origin)]
        question = b"model=resnet50&target=0.757&limit=1&as_of=2026-07-02"
        first = [
            await ask(app, query=question, headers=headers) for _ in range(2)
        ]  # the second is answered from memory
        return [*first, await ask(app, method="OPTIONS", headers=[*headers, ASKS_FIRST])]

    answers = run(asked_by_a_page())
    assert [got["headers"].get(b"access-control-allow-origin") for got in answers] == [told] * 3
    assert (b"access-control-allow-headers" in answers[2]["headers"]) == bool(sites)
    assert not any(b"access-control-allow-credentials" in got["headers"] for got in answers)


@pytest.mark.parametrize(
    "asked",
    [
        {"query": b"format=XLSX"},
        {"query": b"model=resnet50&recipes=all"},
        {"headers": [(b"accept", b"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")]},
    ],
)
def test_what_is_large_takes_no_thread_of_questions(asked):
    go_on = threading.Event()

    def slow(environ, start_response):
        if environ["QUERY_STRING"] or "spreadsheetml" in environ.get("HTTP_ACCEPT", ""):
            go_on.wait(60)
        return echo(environ, start_response)

    async def crowd():
        app = front(slow)
        workbook = asyncio.create_task(ask(app, **asked))
        await asyncio.sleep(0.05)
        question = await ask(app)
        go_on.set()
        return question["status"], (await workbook)["status"]

    assert run(crowd()) == (200, 200)
