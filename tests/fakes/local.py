"""What the fakes share: real HTTP on a port of this machine, and the faults that real clouds show."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


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


@dataclass
class Faults:
    """The faults that later requests meet, in order, by what they ask for."""

    planned: list[tuple[str, Fault]] = field(default_factory=list)

    def plan(self, part: str, fault: Fault, times: int) -> None:
        """The next `times` requests for something that holds `part` meet this fault."""
        self.planned += [(part, fault)] * times

    def next(self, asked: str) -> Fault | None:
        for index, (part, fault) in enumerate(self.planned):
            if part in asked:
                del self.planned[index]
                return fault
        return None


class Handler(BaseHTTPRequestHandler):
    """Answers requests to a fake, which each server binds to its own."""

    fake: Any
    closing: threading.Event

    def content_type(self, body: bytes) -> str:
        return "text/plain"

    def give(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        usual = {"Content-Type": self.content_type(body), "Content-Length": str(len(body))}
        for name, value in {**usual, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def spoil(self, fault: Fault, body: bytes) -> None:
        """Gives this body as a fault that is no status spoils it."""
        half = body[: len(body) // 2]
        if fault is Fault.WEB_PAGE:
            self.give(200, b"<!doctype html><title>Sign in</title>")
        elif fault is Fault.HALF_JSON:
            self.give(200, half)
        else:
            self.give(200, half, {"Content-Length": str(len(body))})
            if fault is Fault.STALLED:
                self.closing.wait(10)
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        return


@contextmanager
def served(fake: Any, handler: type[Handler]) -> Iterator[str]:
    """The URL at which `handler` answers for the fake; whoever waits for `closing` is let go at the end."""
    closing = threading.Event()
    bound = type("Bound", (handler,), {"fake": fake, "closing": closing})
    server = ThreadingHTTPServer(("127.0.0.1", 0), bound)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
