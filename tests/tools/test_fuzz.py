"""Generated requests, the same for the same seed, are all answered as they should; what is not is said."""

import pytest

from tools.fuzz.__main__ import Findings, complaints, main, send, tenths
from tools.fuzz.grammar import Request, every_kind
from tools.fuzz.server import Answer, encoded

DOCUMENT = {"openapi": "3.1.0", "info": {"title": "x", "version": "1"}, "paths": {
    "/plan": {"get": {"parameters": [{"name": "model", "in": "query", "schema": {"type": "string"}}], "responses": {}}},
    "/cost.csv": {"get": {"parameters": [], "responses": {}}}}}  # fmt: skip
CSV = {"Content-Type": "text/csv; charset=utf-8"}


class Listener:
    """Answers everything, and remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def ask(self, request):
        self.asked.append(encoded(request))
        return Answer(200, {}, b"", 1.0)


def drawn(kind, seed):
    server = Listener()
    send(server, every_kind(DOCUMENT)[kind], Findings(), seed)
    return server.asked


@pytest.mark.parametrize("kind", ["document", "query", "sheet", "plan", "payload"])  # Slack's have the time in them
def test_the_same_seed_sends_the_same(kind):
    assert drawn(kind, 1) == drawn(kind, 1)
    assert drawn(kind, 1) != drawn(kind, 2)


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        (Answer(200, {"Content-Type": "application/json"}, b"{}", 5), []),
        (Answer(400, CSV, b'"Error 400: =1+1"', 5), []),
        (Answer(0, {}, b"", 5), []),
        (Answer(500, {}, b"", 5), ["answered 500"]),
        (Answer(200, {}, b"", 1001), ["more than 1000 ms of processor"]),
        (Answer(400, {}, b"Traceback (most recent call last)", 5), ["shows the inside of the program"]),
        (Answer(200, {"Content-Type": "application/json"}, b"{", 5), ["JSON that cannot be read"]),
        (Answer(200, CSV, b"a,b\r\n1,=1+1\r\n", 5), ["a cell that starts like a formula"]),
        (Answer(200, CSV, b"a\tb\r\n1\t@SUM(A1)\r\n", 5), ["a cell that starts like a formula"]),
    ],
)
def test_it_says_what_is_wrong_with_an_answer(answer, wrong):
    assert list(complaints(answer)) == wrong


def test_a_finding_is_told_with_its_request():
    findings = Findings()
    findings.add(Request("query", "GET", "/cost?x=1"), Answer(500, {}, b"", 7))
    assert "  WRONG 1 x answered 500" in findings.told("query")
    assert any("GET /cost?x=1" in line for line in findings.told("query"))


def test_memory_is_told_in_ten_parts():
    assert tenths(list(range(100))) == [9, 19, 29, 39, 49, 59, 69, 79, 89, 99]
    assert tenths([5.0]) == [5.0]


def test_nothing_is_wrong_with_what_a_server_answers(capsys):
    status = main(["--seed", "1", "--count", "120"])
    told = capsys.readouterr().out
    assert status == 0, told
    assert all(f"{kind}: 20 requests" in told for kind in ("document", "query", "sheet", "slack", "plan", "payload"))
