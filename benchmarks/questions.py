"""The mix that clients ask: JSON, CSV, the page, Slack, plans, workbooks and pictures; one in five was never asked before."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, cycle
from random import Random
from urllib.parse import urlencode

from api.slack.verification import sign

SECRET = "benchmark"
NEVER_ASKED = 0.2
KNOWN = 40  # repeated questions of each kind
WEIGHTS = {
    "/cost": 46,
    "/cost.csv": 14,
    "/": 12,
    "/slack/cost": 12,
    "/offers": 6,
    "/plan": 4,
    "/cost.xlsx": 3,
    "/cost.svg": 2,
    "/cost.png": 1,
}
MODELS = (("resnet50", 0.70, 0.76), ("vgg16", 0.66, 0.70), ("resnet18", 0.64, 0.69), ("resnet101", 0.72, 0.775))
PROVIDERS = ("aws", "gcp", "azure", "lambda", "oci")
PURCHASES = ("on_demand", "spot", "reserved", "committed_use")
EVERYTHING = "model=resnet50&regions=all&recipes=all&max_price_age=36500&confidence=0.01"
USUAL = "Host: 127.0.0.1\r\nAccept: */*\r\nAccept-Encoding: gzip\r\n"
SHEET = "Content-Type: text/csv\r\n"
FORM = "Content-Type: application/x-www-form-urlencoded\r\n"
DEAREST = ("/cost.png", "/cost.xlsx", "/cost.svg", "/", "/plan", "/cost.csv", "/commitments.xlsx")


@dataclass(frozen=True, slots=True)
class Question:
    """One request; `kind` is its path. One with a body is a POST."""

    kind: str
    is_new: bool
    address: str
    body: bytes = b""
    headers: str = ""

    @property
    def wire(self) -> bytes:
        """As it goes over the wire."""
        line = f"{'POST' if self.body else 'GET'} {self.address} HTTP/1.1\r\n"
        length = f"Content-Length: {len(self.body)}\r\n" if self.body else ""
        return f"{line}{USUAL}{self.headers}{length}\r\n".encode() + self.body


def questions(seed: int) -> Iterator[Question]:
    """An endless stream; equal seeds give equal streams, but for the moments in Slack's signatures."""
    chance = Random(seed)
    kinds, weights = list(WEIGHTS), list(WEIGHTS.values())
    known = Random(0)  # the repeated questions are the same in every phase
    repeated = {kind: [parameters(known) for _ in range(KNOWN)] for kind in kinds}
    while True:
        [kind] = chance.choices(kinds, weights)
        is_new = chance.random() < NEVER_ASKED
        asked = parameters(chance) if is_new else chance.choice(repeated[kind])
        yield question(kind, is_new, asked, chance)


def dearest(seed: int) -> Iterator[Question]:
    """An endless stream of the questions that take most memory, none of them twice."""
    for kind, number in zip(cycle(DEAREST), count(seed * 1000), strict=False):
        asked = f"{EVERYTHING}&target=0.7{number:07}"
        if kind == "/plan":
            rows = "".join(f"resnet50,0.7{number:05}{row:04}\n" for row in range(1000))
            yield Question(kind, True, kind, f"model,target\n{rows}".encode(), SHEET)
        else:
            yield Question(kind, True, f"{kind}?{asked}" + ("&limit=1000" if kind.startswith("/cost.") else ""))


def parameters(chance: Random) -> dict[str, str]:
    """What a question filters by, drawn at random."""
    model, least, most = chance.choice(MODELS)
    asked = {"model": model, "target": f"{chance.uniform(least, most):.5f}"}
    if chance.random() < 0.5:
        asked["provider"] = ",".join(sorted(chance.sample(PROVIDERS, chance.randint(1, 3))))
    if chance.random() < 0.3:
        asked["purchase"] = chance.choice(PURCHASES)
    if chance.random() < 0.3:
        asked["max_cost"] = str(chance.randint(20, 5000))
    if chance.random() < 0.3:
        asked["limit"] = str(chance.randint(1, 50))
    return asked


def question(kind: str, is_new: bool, asked: dict[str, str], chance: Random) -> Question:
    if kind == "/slack/cost":
        return slash_command(is_new, asked, chance)
    if kind == "/plan":
        rows = "".join(f"{asked['model']},{asked['target']},{count}\n" for count in range(1, 6))
        return Question(kind, is_new, kind, f"model,target,nodes\n{rows}".encode(), SHEET)
    if kind == "/offers":
        asked = {name: value for name, value in asked.items() if name in ("provider", "purchase", "limit")}
    return Question(kind, is_new, f"{kind}?{urlencode(asked)}")


def slash_command(is_new: bool, asked: dict[str, str], chance: Random) -> Question:
    """A command as Slack signs it; no two are alike."""
    text, number = f"{asked['model']} {asked['target']}", chance.getrandbits(64)
    body = urlencode({"command": "/cost", "text": text, "trigger_id": number}).encode()
    stamp = str(int(time.time()))
    signed = f"X-Slack-Request-Timestamp: {stamp}\r\nX-Slack-Signature: {sign(SECRET, stamp, body)}\r\n"
    return Question("/slack/cost", is_new, "/slack/cost", body, FORM + signed)


MIXES = {"mixed": questions, "dearest": dearest}
