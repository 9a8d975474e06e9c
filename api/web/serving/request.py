"""One request as the front sees it: who asks for what, its number, and what was sent back so far."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import Any

from werkzeug.datastructures import Headers
from werkzeug.sansio.request import Request as ParsedRequest

WORKBOOK = re.compile(rb"(?:^|&)format=xlsx", re.IGNORECASE)
ALL_RECIPES = re.compile(rb"(?:^|&)recipes=all", re.IGNORECASE)
HOST = re.compile(rb"(\[[0-9A-Fa-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(:\d*)?")  # RFC 3986, 3.2.2
SEND_SECONDS = 30  # in which a client takes a part of an answer, of some 100 kB
REQUEST_ID = re.compile(rb"[\w.:-]{1,64}")

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]
HeaderLines = Iterable[tuple[str, str]]


@dataclass
class Request:
    """One request: who asks for what, its number, and what was sent back so far."""

    scope: Scope
    _send: Send
    started: float = field(default_factory=perf_counter)
    status: int = 0
    sent_bytes: int = 0
    is_read: bool = True

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
        return str((self.scope.get("client") or ("",))[0])

    def parsed(self) -> ParsedRequest:
        scope = self.scope
        headers = Headers((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"])
        scheme, path, query = scope.get("scheme", "http"), scope["path"], scope["query_string"]
        return ParsedRequest(scope["method"], scheme, None, "", path, query, headers, self.client)

    @property
    def names_one_host(self) -> bool:
        """Whether it says once under which name it asks, as HTTP/1.1 has it (RFC 9112, 3.2). Clients of HTTP/1.0 need not;
        granian calls that version 1, and gives them an empty host."""
        hosts = [value for name, value in self.scope["headers"] if name == b"host" and value]
        is_old = self.scope["http_version"] in ("1", "1.0")
        return all(map(HOST.fullmatch, hosts)) and (len(hosts) == 1 or (is_old and not hosts))

    @property
    def has_body(self) -> bool:
        return b"content-length" in self.headers or b"transfer-encoding" in self.headers

    @property
    def wants_a_workbook(self) -> bool:
        """Whether the address or Accept says so; paths that end in .xlsx are told by their names."""
        return WORKBOOK.search(self.scope["query_string"]) is not None or "spreadsheetml" in self.header(b"accept")

    @property
    def wants_all_recipes(self) -> bool:
        """Whether the address asks for every recipe on every machine: up to a million estimates, of some 300 MiB."""
        return ALL_RECIPES.search(self.scope["query_string"]) is not None

    def header(self, name: bytes) -> str:
        return self.headers.get(name, b"").decode("latin-1")

    async def send(self, message: Message) -> None:
        """Passes a part of the answer on, with the request's number among the headers. A client that does not take a part in time
        gets none of the others, so that its answer, which then ends too soon, holds no thread."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message["headers"], (b"x-request-id", self.id.encode())]
            await self._send(message)  # granian keeps it until the body comes
            return
        self.sent_bytes += len(message.get("body", b""))
        if self.is_read:
            try:
                async with asyncio.timeout(SEND_SECONDS):
                    await self._send(message)
            except TimeoutError:
                self.is_read = False

    async def answer(self, status: int, headers: HeaderLines, body: bytes) -> None:
        """Sends a whole answer; to HEAD only its headers."""
        encoded = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        await self.send({"type": "http.response.start", "status": status, "headers": encoded})
        await self.send({"type": "http.response.body", "body": body if self.scope["method"] != "HEAD" else b""})
