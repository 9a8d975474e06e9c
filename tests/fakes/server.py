"""A fake cloud that answers GET and POST with JSON documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from fakes.local import Fault, Faults, Handler, served

RETRY_AFTER = "0"


@dataclass(frozen=True)
class Asked:
    path: str
    query: dict[str, str]
    headers: dict[str, str]


@dataclass
class FakeServer:
    """`answer` gives the JSON document for a request, or None for 404. Faults are served first, by path, in order.

    `throttles` gives the status and document by which this cloud refuses a request that came too soon.
    """

    answer: Callable[[Asked], Any]
    asked: list[Asked] = field(default_factory=list)
    url: str = ""
    status: int = 200
    throttles: Callable[[Asked], tuple[int, Any]] | None = None
    _faults: Faults = field(default_factory=Faults)

    def fail(self, fault: Fault, times: int = 100, path: str = "") -> None:
        """The next `times` requests whose path holds `path` meet this fault."""
        self._faults.plan(path, fault, times)

    def next_fault(self, path: str) -> Fault | None:
        return self._faults.next(path)

    @contextmanager
    def running(self) -> Iterator[FakeServer]:
        with served(self, _Handler) as self.url:
            yield self


class _Handler(Handler):
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
            self.fail(asked, fault, json.dumps(document).encode())
        elif document is None:
            self.give(404, b'{"error": {"code": 404, "message": "not found"}}')
        else:
            self.give(self.fake.status, json.dumps(document).encode())

    def fail(self, asked: Asked, fault: Fault, body: bytes) -> None:
        if fault is Fault.THROTTLED and self.fake.throttles:
            status, error = self.fake.throttles(asked)
            self.give(status, json.dumps(error).encode())
        elif isinstance(fault.value, int):
            error = json.dumps({"error": {"code": fault.value, "message": "no"}}).encode()
            self.give(fault.value, error, {"Retry-After": RETRY_AFTER} if fault is Fault.THROTTLED else {})
        else:
            self.spoil(fault, body)

    def content_type(self, body: bytes) -> str:
        return "application/json"
