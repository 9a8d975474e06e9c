"""Signed slash commands over real HTTP: their slowest under a steady load, and what they add to GET /cost."""

from __future__ import annotations

import http.client
import itertools
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

from api.slack.verification import sign
from benchmarks.over_http import serving
from benchmarks.timing import median, milliseconds, p99, report

SECRET = "a secret of this benchmark"
RATE, SECONDS, CONNECTIONS = 50, 20, 8
PAIRS = 400
QUESTIONS = [
    f"resnet50 {0.70 + step / 1000:.3f} {where}" for step in range(0, 50, 5) for where in ("", "on aws", "spot")
]
_unlike = itertools.count()


def run() -> bool:
    """Measures and reports."""
    with TemporaryDirectory() as folder:
        command = ["env", f"COSTCALC_SLACK_SIGNING_SECRET={SECRET}", str(Path(sys.executable).with_name("costcalc"))]
        with serving([*command, "serve", "--workers", "2", "--bind"], folder) as port:
            under_load = _load(port)
            added, first = _overhead(port), _new_questions(port)
    slowest = p99(under_load)
    fine = report(f"p99 of signed commands at {RATE}/s over HTTP", f"{slowest:.1f} ms", "under 100 ms", slowest < 100)
    report("a command never asked before, p50", f"{first:.1f} ms", "for information", True)
    return report("added to GET /cost for the same question, p50", f"{added:.2f} ms", "under 1 ms", added < 1) and fine


def _load(port: int) -> list[float]:
    """Each request has its moment, kept whether or not earlier ones are answered; waiting counts."""
    questions = itertools.islice(itertools.cycle(QUESTIONS), RATE * SECONDS)
    start = time.perf_counter() + 0.5
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        jobs = [pool.submit(_at, start + number / RATE, port, text) for number, text in enumerate(questions)]
        return [job.result() for job in jobs]


def _at(moment: float, port: int, text: str) -> float:
    time.sleep(max(0.0, moment - time.perf_counter()))
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    _ask(connection, text)
    connection.close()
    return (time.perf_counter() - moment) * 1000


def _overhead(port: int) -> float:
    """The same question by GET and by command, in turn, each over a connection that stays open."""
    get, post = (http.client.HTTPConnection("127.0.0.1", port, timeout=10) for _ in range(2))
    pairs = [(lambda: _get(get, "/cost?model=resnet50&target=0.757")), (lambda: _ask(post, "resnet50 0.757"))]
    milliseconds(pairs * 20)
    taken = milliseconds(pairs * PAIRS)
    return median(taken[1::2]) - median(taken[::2])


def _new_questions(port: int) -> float:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    return median(milliseconds([lambda n=n: _ask(connection, f"resnet50 0.7{n:03d}") for n in range(60)]))


def _get(connection: http.client.HTTPConnection, path: str) -> None:
    connection.request("GET", path)
    response = connection.getresponse()
    assert response.status == 200, response.read()
    response.read()


def _ask(connection: http.client.HTTPConnection, text: str) -> None:
    body = urlencode({"command": "/cost", "text": text, "trigger_id": next(_unlike)}).encode()
    stamp = str(int(time.time()))
    proof = {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": sign(SECRET, stamp, body)}
    connection.request("POST", "/slack/cost", body, {"Content-Type": "application/x-www-form-urlencoded", **proof})
    response = connection.getresponse()
    told = response.read()
    assert response.status == 200, told[:300]
    assert b'"table"' in told, told[:300]
