"""Clients that keep every answer until it is judged: right for the snapshot that it names, or an honest error."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any

from flask.testing import FlaskClient

from api.bootstrap import utc_now
from api.service import Service
from api.settings import Settings
from api.stored import FixedPrices
from api.web.app import create_app
from benchmarks.faulty.sheet import PROVIDER
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence import Evidence, load_evidence
from costcalc.memory import Memory
from pricing.sources import SOURCES

HONEST = {502, 503, 504}  # nginx found no server, or a server said that it cannot answer now
PAUSE_SECONDS = 0.3
ASKERS_KEPT = 8  # each has the prices of its snapshot


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request met; status 0 is a connection that broke."""

    path: str
    status: int
    body: bytes


@dataclass
class Judge:
    """Knows the catalogue of every snapshot that was published, and works the right answer out anew."""

    catalogues: dict[str, Catalogue] = field(default_factory=dict)
    _now: datetime = field(default_factory=utc_now)
    _askers: dict[str, FlaskClient] = field(default_factory=dict)
    _memory: Memory = field(default_factory=Memory)
    _evidence: Evidence = field(default_factory=load_evidence)

    def wrong(self, answer: Answer) -> str | None:
        """Why an answer is neither right nor an honest error; None where it is."""
        if answer.status == 0 or (answer.status in HONEST and b"Traceback" not in answer.body):
            return None
        if answer.status != 200:
            return f"{answer.path}: {answer.status} {answer.body[:300]!r}"
        told = json.loads(answer.body)
        prices = told["prices"]
        if prices["snapshot"] not in self.catalogues:
            return f"{answer.path}: nobody published the snapshot {prices['snapshot']}"
        same = told == self._right(answer.path, prices["snapshot"], prices["as_of"])
        return None if same else f"{answer.path}: not the answer of {prices['snapshot']}"

    def _right(self, path: str, snapshot: str, as_of: str) -> Any:
        self._now = datetime.fromisoformat(as_of)
        if snapshot not in self._askers:
            while len(self._askers) >= ASKERS_KEPT:
                del self._askers[next(iter(self._askers))]
            prices = FixedPrices(self.catalogues[snapshot])
            service = Service(self._evidence, prices, lambda: self._now, tuple(SOURCES), memory=self._memory)
            self._askers[snapshot] = create_app(service, Settings(cache_answers=0)).test_client()
        return self._askers[snapshot].get(path).json


@dataclass
class Clients:
    """Each asks one port again and again; `answers` has what came since it was last emptied."""

    ports: tuple[int, ...]
    seed: int
    answers: list[Answer] = field(default_factory=list)
    _ended: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def asking(self) -> Iterator[Clients]:
        threads = [threading.Thread(target=self._ask, args=(port, Random(self.seed + port))) for port in self.ports]
        for each in threads:
            each.start()
        try:
            yield self
        finally:
            self._ended.set()
            for each in threads:
                each.join()

    def taken(self) -> list[Answer]:
        """The answers so far, which are then forgotten."""
        taken, self.answers = self.answers, []
        return taken

    def _ask(self, port: int, chance: Random) -> None:
        while not self._ended.wait(PAUSE_SECONDS):
            self.answers.append(ask(port, question(chance)))


def question(chance: Random) -> str:
    """One of many; half are about the machines whose rates change."""
    target = chance.randint(700, 759) / 1000
    where = f"&provider={PROVIDER}" if chance.random() < 0.5 else ""
    return f"/cost?model=resnet50&target={target}&limit={chance.randint(1, 5)}{where}"


def ask(port: int, path: str) -> Answer:
    """One request over a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return Answer(path, response.status, response.read())
    except (OSError, http.client.HTTPException):
        return Answer(path, 0, b"")
    finally:
        connection.close()
