"""One line of JSON for each request, in the order in which they end; tokens never stand in it."""

from __future__ import annotations

import logging
import re
from datetime import UTC, datetime
from time import perf_counter

import msgspec

from api.web.serving.request import Request

access = logging.getLogger("costcalc.access")
_TOKEN = re.compile(r"(?<![^&;])(token=)[^&;]*")


class Access(msgspec.Struct, frozen=True):
    """A line: `milliseconds` until the last byte was handed over, `bytes` of the body."""

    time: datetime
    request_id: str
    client: str
    method: str
    path: str
    query: str
    status: int
    bytes: int
    milliseconds: float
    agent: str


def log_to_stderr(lines: logging.Logger) -> None:
    """Has the lines of a logger written to the standard error stream."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    lines.addHandler(handler)
    lines.setLevel(logging.INFO)
    lines.propagate = False


def log_access(request: Request) -> None:
    """Writes the line of an answered request, where lines are wanted."""
    if not access.isEnabledFor(logging.INFO):
        return
    line = Access(
        time=datetime.now(UTC),
        request_id=request.id,
        client=request.client,
        method=request.scope["method"],
        path=request.scope["path"],
        query=_TOKEN.sub(r"\1********", request.scope["query_string"].decode("latin-1")),
        status=request.status,
        bytes=request.sent_bytes,
        milliseconds=round((perf_counter() - request.started) * 1000, 2),
        agent=request.header(b"user-agent")[:200],
    )
    access.info(msgspec.json.encode(line).decode())
