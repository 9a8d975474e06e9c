"""Slack, played over real HTTP: it signs commands as Slack does and takes what is posted to its response_urls."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen
from xml.etree import ElementTree

from fakes.local import Handler, served
from slack_sdk.signature import SignatureVerifier

ATOM = "{http://www.w3.org/2005/Atom}"
SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
FORM = "application/x-www-form-urlencoded"


def signed(body: bytes, stamp: float | None = None, secret: str = SECRET) -> dict[str, str]:
    """The headers with which Slack proves a body."""
    moment = str(int(time.time() if stamp is None else stamp))
    signature = SignatureVerifier(secret).generate_signature(timestamp=moment, body=body)
    return {"X-Slack-Request-Timestamp": moment, "X-Slack-Signature": signature, "Content-Type": FORM}


def form(text: str, response_url: str = "", **more: str) -> bytes:
    """What Slack sends when somebody types `/cost` and this text."""
    fields = {"token": "gone", "team_id": "T1", "user_id": "U1", "command": "/cost", "text": text}
    return urlencode({**fields, "response_url": response_url, "trigger_id": "1.2", **more}).encode()


@dataclass
class FeedInChannel:
    """What `/feed subscribe` starts in a channel: Slack reads the feed, and posts the title and the link of entries that it has
    not seen; those that stand there at first it keeps for itself.

    https://slack.com/help/articles/218688467-Add-RSS-feeds-to-Slack
    """

    address: str
    seen: set[str] = field(default_factory=set)

    def subscribe(self) -> None:
        """Raises ElementTree.ParseError for what is no feed."""
        self.read()

    def read(self) -> list[tuple[str, str]]:
        """Reads it again, and returns what is posted."""
        asked = Request(
            self.address, headers={"User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)", "Accept": "*/*"}
        )
        with urlopen(asked, timeout=30) as response:
            feed = ElementTree.fromstring(response.read())
        if feed.tag != f"{ATOM}feed" or not feed.findtext(f"{ATOM}title"):
            raise ElementTree.ParseError("no feed")
        found = {entry.findtext(f"{ATOM}id"): entry for entry in feed.findall(f"{ATOM}entry")}
        new = [entry for identity, entry in found.items() if identity not in self.seen]
        self.seen |= found.keys()
        return [(entry.findtext(f"{ATOM}title"), entry.find(f"{ATOM}link").get("href")) for entry in new]


@dataclass
class FakeSlack:
    """Answers each post with the next of `script`, then with "ok". An entry: status, headers, body, seconds to think."""

    script: list[tuple[int, dict[str, str], str, float]] = field(default_factory=list)
    posts: list[dict[str, Any]] = field(default_factory=list)
    moments: list[float] = field(default_factory=list)
    url: str = ""
    _arrived: threading.Condition = field(default_factory=threading.Condition)

    def will(self, status: int, body: str = "", seconds: float = 0.0, **headers: str) -> None:
        """How a later post is answered."""
        self.script.append((status, {name.replace("_", "-"): value for name, value in headers.items()}, body, seconds))

    @property
    def response_url(self) -> str:
        return f"{self.url}/commands/T1/2/secret"

    def take(self, payload: dict[str, Any]) -> tuple[int, dict[str, str], str, float]:
        with self._arrived:
            self.posts.append(payload)
            self.moments.append(time.monotonic())
            self._arrived.notify_all()
            return self.script.pop(0) if self.script else (200, {}, "ok", 0.0)

    def wait_for(self, count: int, seconds: float = 60) -> list[dict[str, Any]]:
        """The posts so far, once there are as many."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.posts) >= count, seconds), self.posts
            return list(self.posts)

    @contextmanager
    def running(self) -> Iterator[FakeSlack]:
        with served(self, _Handler) as self.url:
            yield self


class _Handler(Handler):
    fake: FakeSlack

    def do_POST(self) -> None:
        payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, headers, body, seconds = self.fake.take(payload)
        self.closing.wait(seconds)
        try:
            self.give(status, body.encode(), headers)
        except OSError:
            self.close_connection = True  # whoever asked has hung up
