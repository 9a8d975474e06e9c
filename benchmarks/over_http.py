"""A repeated question over HTTP beside a bare Flask route that returns the same bytes under the same server."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.timing import median, report

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
    with TemporaryDirectory() as folder:
        ours = [str(Path(sys.executable).with_name("costcalc")), "serve", "--workers", "1", "--bind"]
        with serving(ours, folder) as costcalc:
            body, tag = _ask(costcalc)
            file = Path(folder) / "body.json"
            file.write_bytes(body)
            with serving([sys.executable, "-c", BARE], folder, str(file)) as bare:
                return _compare(costcalc, bare, tag)


def _compare(costcalc: int, bare: int, tag: str) -> bool:
    rates: dict[str, list[float]] = {"bare": [], "repeated": [], "unchanged": []}
    for _ in range(ROUNDS):
        rates["bare"].append(requests_per_second(bare, {}))
        rates["repeated"].append(requests_per_second(costcalc, {}))
        rates["unchanged"].append(requests_per_second(costcalc, {"If-None-Match": tag}))
    repeated = median(rates["repeated"]) / median(rates["bare"])
    unchanged = median(rates["unchanged"]) / median(rates["bare"])
    fine = report(
        "repeated question over HTTP, of a bare route's requests/s", f"{repeated:.0%}", "at least 50 %", repeated >= 0.5
    )
    return report("the same with If-None-Match", f"{unchanged:.0%}", "at least 80 %", unchanged >= 0.8) and fine


@contextmanager
def serving(command: list[str], folder: str, *arguments: str) -> Iterator[int]:
    """The port of a server that runs meanwhile."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {"COSTCALC_DATABASE_URL": f"sqlite:///{folder}/prices.db", "COSTCALC_REFRESH": "off"}
    environment = {**os.environ, "HOME": folder, **settings}
    process = subprocess.Popen([*command, f"127.0.0.1:{port}", *arguments], env=environment)
    try:
        _wait(port)
        yield port
    finally:
        process.terminate()
        process.wait()


def _wait(port: int) -> None:
    for _ in range(300):
        try:
            if _ask(port)[0]:
                return
        except (OSError, http.client.HTTPException, ValueError):
            pass
        time.sleep(0.2)
    raise RuntimeError(f"nothing answers on port {port}")


def _ask(port: int) -> tuple[bytes, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", PATH)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    if response.status != 200:
        raise ValueError(response.status)
    return body, response.getheader("ETag", "")


def requests_per_second(port: int, headers: dict[str, str]) -> float:
    """Over one connection, one after another."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    started = time.perf_counter()
    for _ in range(REQUESTS):
        connection.request("GET", PATH, headers=headers)
        connection.getresponse().read()
    taken = time.perf_counter() - started
    connection.close()
    return REQUESTS / taken
