"""How many tokens a file of examples has, counted where it lies."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

BYTES_PER_TOKEN = 4.2
"""Of English text in UTF-8 with vocabularies of 32,000 to 150,000 words; code and other languages have fewer bytes."""
KINDS = (".jsonl", ".json", ".csv", ".txt", ".md")
Count = Callable[[str], int]


class WrongFile(ValueError):
    """The file is no list of examples; the message says what to give instead."""


class Counted(Struct, frozen=True):
    """Examples of a file and their tokens; `by_bytes` where no tokenizer counted them."""

    examples: int
    tokens: int
    longest: int
    by_bytes: bool

    @property
    def mean(self) -> float:
        return self.tokens / self.examples


def counted(path: Path, tokenizer: Path | None = None) -> Counted:
    """The count, by a tokenizer.json or by bytes. Raises WrongFile, and ImportError where `tokenizers` is not installed."""
    count = _by_tokenizer(tokenizer) if tokenizer else lambda text: max(round(len(text.encode()) / BYTES_PER_TOKEN), 1)
    lengths = [count(text) for text in _examples(path)]
    if not lengths:
        raise WrongFile(f"{path} has no examples")
    return Counted(len(lengths), sum(lengths), max(lengths), tokenizer is None)


def _by_tokenizer(path: Path) -> Count:
    from tokenizers import Tokenizer  # type: ignore[import-not-found]  # installed by those who have a tokenizer.json

    try:
        made = Tokenizer.from_file(str(path))
    except Exception as error:  # noqa: BLE001  # the library raises nothing narrower
        raise WrongFile(f"{path} is no tokenizer.json of Hugging Face: {error}") from None
    return lambda text: len(made.encode(text).ids)


def _examples(path: Path) -> Iterator[str]:
    kind = path.suffix.casefold()
    if kind not in KINDS:
        raise WrongFile(f"{path.name} is none of {', '.join(KINDS)}: write it as JSON lines")
    try:
        with path.open(encoding="utf-8", newline="") as file:
            if kind == ".csv":
                rows = csv.reader(file)
                next(rows, None)
                yield from ("\n".join(row) for row in rows if any(row))
            elif kind == ".json":
                entries = _read(file.read(), "the file")
                yield from map(_text, entries if isinstance(entries, list) else [entries])
            else:
                for number, line in enumerate(file, 1):
                    if line.strip():
                        yield _text(_read(line, f"line {number}")) if kind == ".jsonl" else line
    except UnicodeDecodeError:
        raise WrongFile(f"{path.name} is not in UTF-8") from None


def _read(text: str, where: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        raise WrongFile(f"{where} is no JSON: {error}") from None


def _text(value: object) -> str:
    """All texts in a value, whatever its fields are called."""
    if isinstance(value, str):
        return value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return "\n".join(filter(None, map(_text, parts)))
