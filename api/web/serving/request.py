"""One request as the front sees it: who asks for what, its number, and what was sent back so far."""

from __future__ import annotations

import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import Any

WORKBOOK = re.compile(rb"(?:^|&)format=xlsx", re.IGNORECASE)
REQUEST_ID = re.compile(rb"[\w.:-]{1,64}")

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = Iterable[tuple[str, str]]


@dataclass
class Request:
    """One request: who asks for what, its number, and what was sent back so far."""

    scope: Scope
    _send: Send
    started: float = field(default_factory=perf_counter)
    status: int = 0
    sent_bytes: int = 0

    @cached_property
    def headers(self) -> dict[bytes, bytes]:
        """Its headers by their names in lower case; of equal names the last."""
        return dict(self.scope["headers"])

    @cached_property
    def id(self) -> str:
        """The client's X-Request-ID where that is one, else a number of our own."""
        given = self.headers.get(b"x-request-id", b"")
        return given.decode() if REQUEST_ID.fullmatch(given) else secrets.token_hex(8)

    @property
    def client(self) -> str:
        """The address from which it came; empty through a Unix socket."""
        return str((self.scope.get("client") or ("",))[0])

    @property
    def has_body(self) -> bool:
        """Whether a body follows, of whatever framing."""
        return b"content-length" in self.headers or b"transfer-encoding" in self.headers

    @property
    def wants_a_workbook(self) -> bool:
        """Whether the address or Accept says so; paths that end in .xlsx are told by their names."""
        return WORKBOOK.search(self.scope["query_string"]) is not None or "spreadsheetml" in self.header(b"accept")

    def header(self, name: bytes) -> str:
        """The value of a header; empty where it is missing."""
        return self.headers.get(name, b"").decode("latin-1")

    async def send(self, message: Message) -> None:
        """Passes a part of the answer on, with the request's number among the headers."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message["headers"], (b"x-request-id", self.id.encode())]
        else:
            self.sent_bytes += len(message.get("body", b""))
        await self._send(message)

    async def answer(self, status: int, headers: Headers, body: bytes) -> None:
        """Sends a whole answer; to HEAD only its headers."""
        encoded = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        await self.send({"type": "http.response.start", "status": status, "headers": encoded})
        await self.send({"type": "http.response.body", "body": body if self.scope["method"] != "HEAD" else b""})
