"""From whom a request comes that proxies passed on: what each of them appends to X-Forwarded-For is its own visitor's address."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address, ip_network

from api.web.serving.request import Asgi, Receive, Scope, Send

SCHEMES = ("http", "https")


class Proxies:
    """ASGI middleware that believes proxies: those with these addresses or in these networks, or as many as are counted.

    A count holds whatever address a client has, where nobody but the last proxy reaches the server; addresses hold where clients
    have others. Raises ValueError for what is neither.
    """

    def __init__(self, app: Asgi, trusted: Sequence[str]) -> None:
        self._app = app
        self._count = int(trusted[0]) if len(trusted) == 1 and trusted[0].isdecimal() else 0
        self._networks = () if self._count else tuple(map(ip_network, trusted))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            peer, forwarded = (scope.get("client") or ("",))[0], _listed(scope, b"x-forwarded-for")
            if len(forwarded) >= self._count if self._count else self._is_trusted(peer):
                scope["client"] = (self._visitor(forwarded) or peer, 0)
                schemes = [each for each in _listed(scope, b"x-forwarded-proto") if each in SCHEMES]
                scope["scheme"] = schemes[-1] if schemes else scope["scheme"]
        await self._app(scope, receive, send)

    def _visitor(self, forwarded: Sequence[str]) -> str | None:
        """Whom the outermost proxy that is believed saw."""
        if self._count:
            return forwarded[-self._count]
        return next((host for host in reversed(forwarded) if not self._is_trusted(host)), None)

    def _is_trusted(self, host: str) -> bool:
        try:
            address = ip_address(host)
        except ValueError:  # through a Unix socket, or no address at all
            return False
        return any(address in network for network in self._networks)


def _listed(scope: Scope, name: bytes) -> list[str]:
    """The values of a header that may stand there several times, in their order."""
    texts = (value.decode("latin-1") for key, value in scope["headers"] if key == name)
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]
