"""Sends generated requests to a server and says which of them it does not answer as it should.

    python -m tools.fuzz --seed 1 --count 100000 [--kind plan]

No answer may be 5xx, cost more than a second of processor, show the inside of the program, or hold a text that a spreadsheet
runs as a formula; the worker must live, and its memory stay flat. The same seed sends the same requests, twenty at a time
of each kind. Exit status 1 when something is found.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from tools.fuzz.grammar import Request, every_kind
from tools.fuzz.server import Answer, Server, started

MOST_MS = 1000
MOST_GROWTH = 1.05
LEAST_FOR_MEMORY = 10_000  # fewer requests do not fill what is remembered
BATCH = 20
FORMULA = ("=", "@", "\t", "\r")
SEPARATORS = ",;|\t"
INSIDE = (b"Traceback (most recent", b'File "/')


@dataclass
class Findings:
    """What was seen of one kind of request."""

    statuses: Counter[int] = field(default_factory=Counter)
    processor_ms: list[tuple[float, Request]] = field(default_factory=list)
    wrong: dict[str, list[Request]] = field(default_factory=lambda: defaultdict(list))

    def add(self, request: Request, answer: Answer) -> None:
        """Notes an answer, and what is wrong with it."""
        self.statuses[answer.status] += 1
        self.processor_ms = sorted([*self.processor_ms, (answer.processor_ms, request)], key=lambda each: -each[0])[:3]
        for complaint in complaints(answer):
            self.wrong[complaint].append(request)

    def told(self, kind: str) -> Iterator[str]:
        """Lines for people."""
        slowest = self.processor_ms[0][0] if self.processor_ms else 0
        counts = ", ".join(f"{count:,} x {status or 'closed'}" for status, count in sorted(self.statuses.items()))
        yield f"{kind}: {self.statuses.total():,} requests ({counts}); the dearest {slowest:.0f} ms of processor"
        for milliseconds, request in self.processor_ms:
            yield f"    {milliseconds:.0f} ms: {request}"
        for complaint, requests in self.wrong.items():
            yield f"  WRONG {len(requests)} x {complaint}"
            yield from (f"    {request}" for request in requests[:3])


def complaints(answer: Answer) -> Iterator[str]:
    """What is wrong with an answer, whatever was asked."""
    if answer.status >= 500:
        yield f"answered {answer.status}"
    if answer.processor_ms > MOST_MS:
        yield f"more than {MOST_MS} ms of processor"
    if any(sign in answer.body for sign in INSIDE):
        yield "shows the inside of the program"
    kind = answer.headers.get("Content-Type", answer.headers.get("content-type", ""))
    packed = "Content-Encoding" in answer.headers or "content-encoding" in answer.headers
    if "json" in kind and answer.body and not packed:
        try:
            json.loads(answer.body)
        except ValueError:
            yield "JSON that cannot be read"
    if kind.startswith("text/csv") and not packed and any(map(_is_formula, _cells(answer.body))):
        yield "a cell that starts like a formula"


def _cells(sheet: bytes) -> Iterator[str]:
    text = sheet.decode("utf-8-sig")
    separator = max(SEPARATORS, key=text.partition("\n")[0].count)
    for line in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
        yield from line


def _is_formula(cell: str) -> bool:
    return cell.startswith(FORMULA)


def fuzz(server: Server, count: int, first_seed: int, kinds: Sequence[str]) -> tuple[dict[str, Findings], list[float]]:
    """Sends so many requests of these kinds, in turns; findings by kind, and the worker's memory after each turn, in MiB."""
    document = json.loads(server.ask(Request("", "GET", "/openapi.json")).body)
    strategies = {kind: strategy for kind, strategy in every_kind(document).items() if not kinds or kind in kinds}
    found = {kind: Findings() for kind in strategies}
    memory = []
    for turn in range(max(1, round(count / BATCH / len(strategies)))):
        for kind, strategy in strategies.items():
            send(server, strategy, found[kind], first_seed * 1_000_000 + turn)
        memory.append(server.memory_mib())
    return found, memory


def send(server: Server, strategy: SearchStrategy[Request], findings: Findings, from_seed: int) -> None:
    """Draws a batch and sends it."""

    @seed(from_seed)
    @settings(
        max_examples=BATCH,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def one(request: Request) -> None:
        findings.add(request, server.ask(request))

    one()


def main(arguments: Sequence[str] | None = None) -> int:
    """Sends, and prints what was found."""
    options = _options(arguments)
    with started() as server:
        found, memory = fuzz(server, options.count, options.seed, options.kind)
        lives = server.is_alive()
    for kind, findings in found.items():
        print(*findings.told(kind), sep="\n")
    print(f"memory of the worker after each tenth: {', '.join(f'{mib:.0f}' for mib in tenths(memory))} MiB")
    early, late = memory[len(memory) // 2], memory[-1]
    grew = late > early * MOST_GROWTH and options.count >= LEAST_FOR_MEMORY
    if grew or not lives:
        print("the worker's memory grows" if lives else "the worker died")
    return 1 if grew or not lives or any(findings.wrong for findings in found.values()) else 0


def tenths(memory: list[float]) -> list[float]:
    """Ten of these values, evenly spread, the last among them."""
    return memory[:: -max(1, len(memory) // 10)][::-1]


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m tools.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1, help="draws the requests (1)")
    parser.add_argument("--count", type=int, default=10_000, help="how many requests are sent (10000)")
    parser.add_argument("--kind", action="append", default=[], help="send only requests of this kind; may be repeated")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
