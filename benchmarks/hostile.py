"""10,000 connections that send nothing, half a request, or never read: how long /healthz takes meanwhile."""

from __future__ import annotations

import resource
import socket
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

from benchmarks.serving import server
from benchmarks.timing import report

CONNECTIONS, PROBES, MOST_SECONDS = 10_000, 20, 1
SENT = (
    b"",
    b"GET /cost?model=resnet50&target=0.757 HTTP/1.1\r\nHost: x\r\nX-A: ",
    b"POST /plan HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\nmodel",
    b"POST /plan HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nmodel\r\n",
    b"GET /offers HTTP/1.1\r\nHost: localhost\r\n\r\n",
)


def main(_: Sequence[str] = ()) -> bool:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with TemporaryDirectory() as folder, ExitStack() as open_connections:
        port, program = server(Path(folder))
        open_connections.enter_context(program.running())
        for number in range(CONNECTIONS):
            open_connections.enter_context(hostile(port, SENT[number % len(SENT)]))
        slowest = max(probe(port) for _ in range(PROBES))
    what = "/healthz beside 10,000 hostile connections"
    return report(what, f"{slowest:.2f} s", f"under {MOST_SECONDS} s", slowest < MOST_SECONDS)


def hostile(port: int, sent: bytes) -> socket.socket:
    """A connection that goes no further; one that reads nothing has a small buffer."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", port))
    with suppress(OSError):
        connection.sendall(sent)
    return connection


def probe(port: int) -> float:
    """Seconds until /healthz answered 200. Raises what a client would see instead."""
    time.sleep(0.2)
    started = time.perf_counter()
    with urlopen(f"http://127.0.0.1:{port}/healthz", timeout=10):
        return time.perf_counter() - started
