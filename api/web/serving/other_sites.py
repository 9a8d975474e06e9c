"""Scripts of other sites' pages (CORS): they read answers only where a setting names their site, and never with a cookie."""

from __future__ import annotations

from collections.abc import Iterator

from api.web.serving.request import Asgi, Message, Receive, Scope, Send

EVERY_SITE = "*"
READABLE = b"ETag, Link, Retry-After, X-Message, X-Request-ID, X-Total-Count"
MAY_DO = (
    (b"access-control-allow-methods", b"GET, HEAD, POST"),
    (b"access-control-allow-headers", b"Authorization, Content-Type, If-None-Match, X-Request-ID"),
    (b"access-control-max-age", b"3600"),
)

Headers = Iterator[tuple[bytes, bytes]]


class OtherSites:
    """ASGI middleware that lets scripts of these sites ask. Sites are origins such as https://intranet.example.org, or `*`."""

    def __init__(self, app: Asgi, sites: tuple[str, ...]) -> None:
        self._app = app
        self._sites = frozenset(site.encode() for site in sites)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request. A browser asks by OPTIONS what it may do before it does it."""
        headers = dict(scope["headers"])
        own = list(self._headers(headers.get(b"origin", b"")))

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *own]
            await send(message)

        if scope["method"] == "OPTIONS" and b"access-control-request-method" in headers:
            await tell({"type": "http.response.start", "status": 204, "headers": MAY_DO})
            await send({"type": "http.response.body", "body": b""})
        else:
            await self._app(scope, receive, tell)

    def _headers(self, origin: bytes) -> Headers:
        every = EVERY_SITE.encode() in self._sites
        if not every:
            yield b"vary", b"Origin"
        if every or origin in self._sites:
            yield b"access-control-allow-origin", EVERY_SITE.encode() if every else origin
            yield b"access-control-expose-headers", READABLE
