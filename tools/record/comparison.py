"""Two records of the same questions: which answers differ, and in which lines, each pair of lines told once."""

from __future__ import annotations

import csv
import difflib
import html
import io
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

LONGEST_LINE = 400
OF_THE_RUN = re.compile(
    rb"(?<=127\.0\.0\.1)(?::|%3A)\d+|(?<=\?v=)[0-9a-f]+"
)  # a server's port, a digest of a script's bytes
JSON_STEP = re.compile(r'("(?:[^"\\]|\\.)*")|([,{}\[\]])')  # a string, whole, or a sign after which a line ends
Change = tuple[str, str]


@dataclass
class Comparison:
    """What was found: `changes` are lines before and after, with the numbers of the answers that hold them."""

    count: int
    differing: dict[str, str] = field(default_factory=dict)
    changes: defaultdict[Change, list[str]] = field(default_factory=lambda: defaultdict(list))
    accepted: set[str] = field(default_factory=set)

    def told(self) -> str:
        """The whole result as text, the most frequent changes first."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for (before, after), numbers in sorted(self.changes.items(), key=lambda each: -len(each[1])):
            answers = list(dict.fromkeys(numbers))
            more = f" and {len(answers) - 5} more" if len(answers) > 5 else ""
            yield f"{len(numbers)} times, in {', '.join(answers[:5])}{more}:"
            yield from (f"  - {before[:LONGEST_LINE]}", f"  + {after[:LONGEST_LINE]}")
        yield from (f"{number} differs: {question}" for number, question in self.differing.items())
        but = f" but for the accepted sentences, {len(self.accepted)} in all" if self.accepted else ""
        yield f"{self.count - len(self.differing)} of {self.count} the same{but}"


def compared(before: Path, after: Path, allowed: Mapping[str, str]) -> Comparison:
    """All answers of one record with those of the other; `allowed` are sentences before and after that are accepted."""
    names = sorted({path.name for folder in (before, after) for path in folder.glob("*.answer")})
    found = Comparison(len(names))
    for name in names:
        answers = (path.read_bytes() if path.exists() else b"no answer" for path in (before / name, after / name))
        old, new = (OF_THE_RUN.sub(b"", answer) for answer in answers)
        if old != new:
            _compare(found, name.removesuffix(".answer"), (old, new), allowed)
    return found


def _compare(found: Comparison, number: str, answers: tuple[bytes, bytes], allowed: Mapping[str, str]) -> None:
    old, new = map(lines_of, answers)
    changes = list(_changes(old, new)) or [("the same lines", "in other bytes")]
    left = [change for change in changes if not _accepted(found, change, allowed)]
    for change in left:
        found.changes[change].append(number)
    if left:
        found.differing[number] = old[0]


def _accepted(found: Comparison, change: Change, allowed: Mapping[str, str]) -> bool:
    """Whether accepted sentences are all that changed in a line."""
    line, after = change
    used = {sentence for sentence in allowed if sentence in line}
    for sentence in used:
        line = line.replace(sentence, allowed[sentence])
    found.accepted |= used if line == after else set()
    return line == after


def _changes(old: list[str], new: list[str]) -> Iterator[Change]:
    """The lines that differ, side by side; as many lines as before are compared one by one."""
    if len(old) == len(new):
        yield from (pair for pair in zip(old, new, strict=True) if pair[0] != pair[1])
        return
    for kind, start, end, first, last in difflib.SequenceMatcher(None, old, new).get_opcodes():
        if kind != "equal":
            yield from zip_longest(old[start:end], new[first:last], fillvalue="")


def lines_of(answer: bytes) -> list[str]:
    """Head and body as lines that hold a sentence each: JSON spread out, a cell of a sheet on each line, help unfolded."""
    head, _, body = answer.partition(b"\n\n")
    text = body.decode("utf-8-sig", "backslashreplace")
    return [line.strip() for line in [*head.decode().splitlines(), *_spread(head, text)]]


def _spread(head: bytes, text: str) -> list[str]:
    if re.search(rb"Content-Type: application/.*json", head):
        return JSON_STEP.sub(lambda found: found[1] or f"{found[2]}\n", text).replace('\\"', '"').splitlines()
    if b"Content-Type: text/csv" in head:
        return list(_cells(text))
    if b"Content-Type: text/html" in head:
        return html.unescape(text).splitlines()
    return re.sub(r"\n {10,}", " ", text).splitlines()


def _cells(text: str) -> Iterator[str]:
    separator = max(",;|\t", key=text.partition("\n")[0].count)
    names, *rows = [*csv.reader(io.StringIO(text, newline=""), delimiter=separator)] or [[]]
    yield from names
    for row in rows:
        yield from (f"{name}: {cell}" for name, cell in zip_longest(names, row, fillvalue=""))


def allowed_in(path: Path) -> dict[str, str]:
    """Accepted sentences: `old => new` on each line."""
    parts = (line.partition(" => ") for line in path.read_text().splitlines() if line.strip())
    return {old.strip(): new.strip() for old, _, new in parts}
