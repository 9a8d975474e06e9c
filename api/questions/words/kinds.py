"""The kinds of spans that a sentence is made of: `data/spans.csv` lists them in the order in which they are tried.

Of each kind it has a sentence with such a span; the pattern; what reads it; and what is asked back of it, and whether that stops
the answer. A span is read by a function of the modules `of_*`; as the amount of a parameter; as the number that it `count`s; it
`mark`s what the whole sentence says, or is only read `beside` another parameter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial

from api.questions.words import messages, of_counts, of_money, of_time, of_training
from api.questions.words.patterns import Match, compiled, counted
from api.questions.words.scan import Scan, Understand
from api.questions.words.tables import rows_of

STOPS = {"stops": True, "goes on": False, "": None}
READERS: Mapping[str, Understand] = {
    name: reader
    for module in (of_counts, of_money, of_time, of_training)
    for name, reader in vars(module).items()
    if callable(reader) and reader.__module__ == module.__name__ and not name.startswith("_")
}
_MESSAGE = re.compile(r"\{([A-Z_]+)\}")


@dataclass(frozen=True)
class Kind:
    """A kind of spans."""

    example: str
    pattern: re.Pattern[str]
    reads: Understand | None
    asks: str
    stops: bool | None

    def read(self, scan: Scan, match: Match) -> bool:
        """Adds to the reading what a span says; false where it is none of this kind after all."""
        if self.reads and not self.reads(scan, match):
            return False
        return not self.asks or scan.ask(match[0], self.asks.format(**match.groupdict()), self.stops)


@cache
def kinds() -> tuple[Kind, ...]:
    """Every kind, compiled when the first sentence comes: commands that read none do not wait a tenth of a second for it."""
    return tuple(map(_kind, rows_of("spans")))


def _kind(row: Mapping[str, str]) -> Kind:
    asks = _MESSAGE.sub(lambda message: vars(messages)[message[1]], row["asks"])
    return Kind(row["example"], compiled(row["pattern"]), _reader(row["reads"]), asks, STOPS[row["stops"]])


def _reader(text: str) -> Understand | None:
    verb, _, name = text.rpartition(" ")
    return READERS.get(text) or partial(VERBS[verb], name) if text else None


def _count(name: str, scan: Scan, match: Match) -> bool:
    scan.reading.owned |= scan.mine
    return scan.count(name, counted(match["n"]))


def _beside(name: str, scan: Scan, _: Match) -> bool:
    return name in scan.reading.values


def _mark(name: str, scan: Scan, _: Match) -> bool:
    setattr(scan.reading, name, True)
    return True


VERBS = {"": of_training.put, "count": _count, "beside": _beside, "mark": _mark}
