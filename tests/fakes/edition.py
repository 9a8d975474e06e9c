"""A published edition behind a local server, with an entity tag."""

from dataclasses import dataclass
from datetime import datetime

from pytest_httpserver import HTTPServer
from support.prices import NOW
from werkzeug import Request, Response

from costcalc.offer import Offer
from pricing import editions

KEY = "5f" * 32
TAG = '"one"'


@dataclass
class FakeEdition:
    """What is published, and how often it was sent whole."""

    content: bytes
    sent: int = 0

    def serve(self, server: HTTPServer) -> str:
        """Returns its address."""
        server.expect_request("/latest").respond_with_handler(self._answer)
        return server.url_for("/latest")

    def _answer(self, request: Request) -> Response:
        if request.headers.get("If-None-Match") == TAG:
            return Response(status=304, headers={"ETag": TAG})
        self.sent += 1
        return Response(self.content, headers={"ETag": TAG})


def edition(*offers: Offer, key: str | None = KEY, made_at: datetime = NOW) -> FakeEdition:
    """An edition of these rates."""
    return FakeEdition(editions.make(offers, made_at, key))
