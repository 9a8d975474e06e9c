"""A checkout that answers: its own server over HTTP, its own command in a terminal, on a new store."""

from __future__ import annotations

import hmac
import re
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from os import environ
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode
from uuid import uuid4

import requests

TERMINAL, SLACK = "TERMINAL", "SLACK"
SECRET = "a secret of the record's own"
PUBLIC_URL = "https://cost.example.org"
HEADERS = ("Content-Type", "Content-Disposition", "Cache-Control", "Location", "Allow", "WWW-Authenticate", "Retry-After",
           "Vary", "X-Content-Type-Options", "Referrer-Policy", "Content-Security-Policy")  # fmt: skip
SNAPSHOT = re.compile(rb"20\d{6}T\d{6}Z(?=-[0-9a-f]{8})")  # when the store was filled
ESTIMATE_ID = re.compile(rb"(?<![.\w])[0-9a-f]{16}(?![.\w])")  # a digest that the snapshot's name goes into
TOO_LONG = b"This took too long"
FORM = "application/x-www-form-urlencoded"
PATIENCE = 300


class Question(NamedTuple):
    """An HTTP request, with the media type that it accepts or sends. In a terminal `place` are the words after `costcalc`,
    and the body is standard input; in Slack `place` is what a person typed after /cost."""

    method: str
    place: str
    type: str = ""
    body: str = ""

    @property
    def headers(self) -> dict[str, str]:
        return {"Content-Type" if self.body else "Accept": self.type} if self.type else {}


@dataclass(frozen=True)
class Answer:
    """The HTTP status or the exit status, the headers that stay the same, and the bytes."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def content_type(self) -> str:
        """As the server told it; empty in a terminal."""
        return self.headers.get("Content-Type", "")

    def with_body(self, body: bytes) -> Answer:
        return replace(self, body=body)

    def recorded(self, question: Question) -> bytes:
        """The question, the status and the headers, one a line; a blank line; the body."""
        headers = [f"{name}: {value}" for name, value in self.headers.items()]
        head = "\n".join([f"{question.method} {question.place}", str(self.status), *headers])
        return head.encode() + b"\n\n" + steady(self.body)


def steady(body: bytes) -> bytes:
    """A body without what depends on when the store was filled; ids are numbered as they first come."""
    numbers: dict[bytes, int] = {}
    body = SNAPSHOT.sub(b"SNAPSHOT", body)
    return ESTIMATE_ID.sub(lambda found: b"ID %d" % numbers.setdefault(found[0], len(numbers) + 1), body)


@dataclass(frozen=True)
class Command:
    """The `costcalc` command of a checkout."""

    checkout: Path
    home: Path

    @property
    def words(self) -> list[str]:
        """What starts it; the checkout's own packages come before any that are installed."""
        project = tomllib.loads((self.checkout / "pyproject.toml").read_text())["project"]
        module, _, function = project["scripts"]["costcalc"].partition(":")
        code = f"import sys; sys.argv[0] = 'costcalc'; from {module} import {function}; {function}()"
        return [sys.executable, "-c", code]

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the user's but the path."""
        return {
            "PATH": environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "COLUMNS": "300",  # sentences stay on one line
            "NO_COLOR": "1",
            "PYTHONPATH": str(self.checkout),
            "PYTHONPYCACHEPREFIX": str(self.home / "pycache"),
            "COSTCALC_DATABASE_URL": f"sqlite:///{self.home / 'prices.sqlite3'}",
            "COSTCALC_REFRESH": "off",
            "COSTCALC_SLACK_SIGNING_SECRET": SECRET,
            "COSTCALC_PUBLIC_URL": PUBLIC_URL,
        }

    def run(self, question: Question) -> Answer:
        """Its exit status and what it printed, on standard output and then on standard error."""
        done = subprocess.run(
            [*self.words, *shlex.split(question.place)],
            cwd=self.checkout,
            env=self.environment,
            input=question.body.encode(),
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        return Answer(done.returncode, {}, done.stdout + b"\nstandard error:\n" + done.stderr)


@dataclass(frozen=True)
class Running:
    """A checkout whose server answers at `url`."""

    command: Command
    url: str

    def ask(self, question: Question) -> Answer:
        """The answer, over HTTP or in a terminal."""
        if question.method == TERMINAL:
            return self.command.run(question)
        return self._slack(question) if question.method == SLACK else self._http(question)

    def _http(self, question: Question, signed: dict[str, str] | None = None) -> Answer:
        told = requests.request(
            question.method,
            self.url + question.place,
            headers=question.headers | (signed or {}),
            data=question.body.encode(),
            timeout=PATIENCE,
            allow_redirects=False,
        )
        kept = {name: told.headers[name] for name in HEADERS if name in told.headers}
        if "Allow" in kept:
            kept["Allow"] = ", ".join(sorted(kept["Allow"].split(", ")))  # in no order of their own
        if "ETag" in told.headers:
            kept["ETag"] = "there is one"
        return Answer(told.status_code, kept, told.content)

    def _slack(self, question: Question) -> Answer:
        """The command as Slack sends it, again where a busy machine took too long."""
        while True:
            body = urlencode({"command": "/cost", "text": question.place, "trigger_id": uuid4()})
            answer = self._http(Question("POST", "/slack/cost", FORM, body), _signed(body))
            if TOO_LONG not in answer.body:
                return answer
            time.sleep(1)


def _signed(body: str) -> dict[str, str]:
    now = str(int(time.time()))
    proof = hmac.new(SECRET.encode(), f"v0:{now}:{body}".encode(), sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": now, "X-Slack-Signature": f"v0={proof}"}


@contextmanager
def started(checkout: Path, home: Path) -> Iterator[Running]:
    """The checkout's server on a free port, ready to answer, until the end of the block."""
    command, log = Command(checkout, home), home / "server.log"
    words = [*command.words, "serve", "--bind", "127.0.0.1:0", "--workers", "1"]
    with log.open("w") as output:
        server = subprocess.Popen(words, cwd=checkout, env=command.environment, stdout=output, stderr=output)
    try:
        yield Running(command, _address(server, log))
    finally:
        server.terminate()
        server.wait(30)


def _address(server: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        found = re.search(r"http://127\.0\.0\.1:\d+", log.read_text())
        if found and requests.get(f"{found[0]}/readyz", timeout=PATIENCE).ok:
            return found[0]
        time.sleep(0.2)
    raise RuntimeError(f"the server did not start: {log.read_text()}")
