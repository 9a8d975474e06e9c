"""A local web server for fake clouds: real HTTP, and the faults that real clouds show."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

RETRY_AFTER = "0"


class Fault(Enum):
    THROTTLED = 429
    BROKEN = 503
    UNAUTHORIZED = 401
    FORBIDDEN = 403
    MISSING = 404
    STALLED = "answers half a body and then nothing"
    TRUNCATED = "closes in the middle of the body"
    HALF_JSON = "a whole body of half a document"
    WEB_PAGE = "a sign-in page"


@dataclass(frozen=True)
class Asked:
    path: str
    query: dict[str, str]
    headers: dict[str, str]


@dataclass
class FakeServer:
    """`answer` gives the JSON document for a request, or None for 404. Faults are served first, by path, in order."""

    answer: Callable[[Asked], Any]
    asked: list[Asked] = field(default_factory=list)
    url: str = ""
    status: int = 200
    _faults: list[tuple[str, Fault]] = field(default_factory=list)
    _closing: threading.Event = field(default_factory=threading.Event)

    def fail(self, fault: Fault, times: int = 100, path: str = "") -> None:
        """The next `times` requests whose path holds `path` meet this fault."""
        self._faults += [(path, fault)] * times

    def next_fault(self, path: str) -> Fault | None:
        for index, (part, fault) in enumerate(self._faults):
            if part in path:
                del self._faults[index]
                return fault
        return None

    @contextmanager
    def running(self) -> Iterator[FakeServer]:
        server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"fake": self}))
        server.daemon_threads = True
        self.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield self
        finally:
            self._closing.set()
            server.shutdown()
            server.server_close()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    fake: FakeServer

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.do_GET()

    def do_GET(self) -> None:
        split = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(split.query).items()}
        asked = Asked(split.path, query, dict(self.headers.items()))
        self.fake.asked.append(asked)
        fault = self.fake.next_fault(asked.path)
        document = self.fake.answer(asked)
        if fault is not None:
            self.fail(fault, json.dumps(document).encode())
        elif document is None:
            self.give(404, b'{"error": {"code": 404, "message": "not found"}}')
        else:
            self.give(self.fake.status, json.dumps(document).encode())

    def fail(self, fault: Fault, body: bytes) -> None:
        if isinstance(fault.value, int):
            error = json.dumps({"error": {"code": fault.value, "message": "no"}}).encode()
            self.give(fault.value, error, {"Retry-After": RETRY_AFTER} if fault is Fault.THROTTLED else {})
        elif fault is Fault.WEB_PAGE:
            self.give(200, b"<!doctype html><title>Sign in</title>")
        elif fault is Fault.HALF_JSON:
            self.give(200, body[: len(body) // 2])
        else:
            self.give(200, body[: len(body) // 2], {"Content-Length": str(len(body))})
            if fault is Fault.STALLED:
                self.fake._closing.wait(10)
            self.close_connection = True

    def give(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        return
