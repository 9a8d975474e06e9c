"""The files that the packaged tables cite, read from clones: as lines that each name what their figures are of."""

from __future__ import annotations

import ast
import gzip
import json
import re
import subprocess
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

SOURCE = re.compile(r"(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)@(?P<commit>[0-9a-f]{7,40})[ :](?P<path>[^\s;,]+)")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
PACKED, END_OF_PACKED = '[]byte("\\x1f\\x8b', '")'  # a file inside a Go program, gzipped
LITERAL = re.compile(r"^\s*var _prices = (\{.*\});?\s*$", re.MULTILINE)  # a price list inside a page
NAMED_BY = ("instance_type", "name", "slug", "id")


def cited_lines(source: str, mirrors: Path | None) -> tuple[str, ...] | None:
    """The lines of the file that a source cites, None where it cites none or no clone has it."""
    cited = SOURCE.match(source)
    if mirrors is None or cited is None:
        return None
    return _lines(mirrors / f"{cited['owner']}+{cited['name']}", cited["commit"], cited["path"])


def lines_about(lines: Sequence[str], names: Sequence[str], region: str) -> Iterator[tuple[int, str]]:
    """The numbered lines that may state a rate of a machine in a region: those that name both.

    Where none does: those that name the region, if nothing names the machine; else those from the one on that names the machine
    and, behind that, the region, and those that name the machine behind the one that names the region.
    """
    every = tuple(enumerate(lines, 1))
    of_region = [(number, line) for number, line in every if region in line]
    known = [name for name in names if any(name in line for _, line in every)]
    of_both = [(number, line) for number, line in of_region if any(name in line for name in known)]
    if of_both or (of_region and not known):
        yield from of_both or of_region
        return
    yield from _from(_from(every, known[:1]), [region])
    yield from ((number, line) for number, line in _from(every, [region]) if any(name in line for name in known))


def numbers(line: str) -> list[Decimal]:
    """All numbers of a line."""
    return [Decimal(each) for each in NUMBER.findall(line)]


def _from(numbered: Sequence[tuple[int, str]], names: Sequence[str]) -> Sequence[tuple[int, str]]:
    """The lines from the first one on that has one of these names; all of them where none has."""
    places = (place for place, (_, line) in enumerate(numbered) if any(name in line for name in names))
    return numbered[next(places, 0) :]


@lru_cache(maxsize=8)
def _lines(clone: Path, commit: str, path: str) -> tuple[str, ...] | None:
    folder = clone / "repo" if (clone / "repo").is_dir() else clone
    if not folder.is_dir():
        return None
    shown = subprocess.run(["git", "-C", str(folder), "show", f"{commit}:{path}"], capture_output=True, check=False)
    return None if shown.returncode else tuple(_as_lines(shown.stdout.decode(errors="replace")))


def _as_lines(text: str) -> list[str]:
    """A list in JSON, in a page or packed into a program as one line for each figure; other texts as they are."""
    _, packed, rest = text.partition(PACKED)
    if packed:
        digits = (packed + rest.partition(END_OF_PACKED)[0]).partition('"')[2].replace("\\x", "")
        text = gzip.decompress(bytes.fromhex(digits)).decode()
    literal = LITERAL.search(text)
    try:
        document = ast.literal_eval(literal[1]) if literal else json.loads(text)
    except ValueError:
        return text.splitlines()
    return list(_figures_of(document, ()))


def _figures_of(value: Any, path: tuple[str, ...]) -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _figures_of(each, (*path, str(name)))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            named = (
                next((each[name] for name in NAMED_BY if name in each), number) if isinstance(each, dict) else number
            )
            yield from _figures_of(each, (*path, str(named)))
    elif NUMBER.fullmatch(str(value).lstrip("$")):
        yield f"{' / '.join(path)}: {value}"
