"""A repeated question over HTTP beside a bare Flask route that returns the same bytes under the same server."""

from __future__ import annotations

import http.client
import sys
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from benchmarks.serving import listening, server
from benchmarks.timing import report
from tools.cluster.program import Program

PATH = "/cost?model=resnet50&target=0.757"
REQUESTS, ROUNDS = 500, 7
BARE = """
import flask, sys
from granian.constants import HTTPModes, Interfaces
from granian.server import Server
body = open(sys.argv[2], "rb").read()
app = flask.Flask("bare")
@app.get("/cost")
def cost():
    return flask.Response(body, mimetype="application/json")
host, port = sys.argv[1].split(":")
same = dict(interface=Interfaces.WSGI, http=HTTPModes.http1, workers=1, blocking_threads=4, websockets=False)
Server("bare", address=host, port=int(port), log_enabled=False, **same).serve(
    target_loader=lambda: app, wrap_loader=False
)
"""


def run() -> bool:
    with TemporaryDirectory() as folder, ExitStack() as stack:
        port, program = server(Path(folder), "--workers", "1")
        costcalc = stack.enter_context(program.running())
        body, tag = _asked(port)
        (file := Path(folder) / "body.json").write_bytes(body)
        bare_port, program = listening(Path(folder) / "bare", [sys.executable, "-c", BARE], [str(file)])
        bare = stack.enter_context(program.running())
        kinds = ((bare, bare_port, {}), (costcalc, port, {}), (costcalc, port, {"If-None-Match": tag}))
        rounds = [[_seconds(*kind) for kind in kinds] for _ in range(ROUNDS)]
    route, repeated, unchanged = map(sum, zip(*rounds, strict=True))
    what = "processor of a repeated question over HTTP, of a bare route's"
    fine = report(what, f"{repeated / route:.2f} times", "at most 2 times", repeated <= 2 * route)
    figure = f"{unchanged / route:.2f} times"
    return report("the same with If-None-Match", figure, "at most 1.25 times", unchanged <= 1.25 * route) and fine


def _asked(port: int) -> tuple[bytes, str]:
    """An answer and its tag."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("GET", PATH)
        response = connection.getresponse()
        return response.read(), response.getheader("ETag", "")


def _seconds(program: Program, port: int, headers: dict[str, str]) -> float:
    """The processor that a server takes for requests over one connection, one after another."""
    before = processor_seconds(program)
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        for _ in range(REQUESTS):
            connection.request("GET", PATH, headers=headers)
            connection.getresponse().read()
    return processor_seconds(program) - before


def processor_seconds(program: Program) -> float:
    """Of its process and all below it so far."""
    assert program.process is not None
    parent = psutil.Process(program.process.pid)
    times = [each.cpu_times() for each in (parent, *parent.children(recursive=True))]
    return sum(each.user + each.system for each in times)
