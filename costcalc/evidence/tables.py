"""Reading packaged tables: text in, typed rows out, and errors that name the file and the line."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from io import StringIO
from typing import TypeVar

import msgspec

T = TypeVar("T")
Cell = str | bool | None
BOOLEANS: Mapping[str, Cell] = {"": None, "yes": True, "no": False}
NOT_FINITE = re.compile(r"(?im)(?:^|,)[+-]?(?:nan|inf|infinity)(?=,|$)")
FIRST_LINE = 2  # below the header
FOLDER = files("costcalc.evidence") / "data"


class TableError(ValueError):
    """A packaged table is corrupt; the message names the file and the line."""


def cells(name: str, text: str) -> list[dict[str, Cell]]:
    """The lines of a CSV text by column: a blank cell is None, yes and no are booleans, anything else is text.

    Raises TableError naming the table and the line of the first fault.
    """
    if wrong := NOT_FINITE.search(text):
        number = text.count("\n", 0, wrong.end()) + 1
        raise TableError(f"{name}, line {number}: a number must be finite, not {wrong[0].lstrip(',')}")
    if not text.strip():
        raise TableError(f"{name}: there is no line of column names")
    header, *lines = csv.reader(StringIO(text))
    for number, line in enumerate(lines, FIRST_LINE):
        if len(line) != len(header):
            raise TableError(f"{name}, line {number}: expected {len(header)} cells, not {len(line)}")
    return [dict(zip(header, [BOOLEANS.get(cell, cell) for cell in line], strict=False)) for line in lines]


def text_of(name: str) -> str:
    """The text of a packaged file of evidence."""
    return FOLDER.joinpath(name).read_text("utf-8")


def packaged(name: str, of: type[T]) -> list[T]:
    """The rows of a packaged table. Raises TableError."""
    return typed(name, cells(name, text_of(name)), of)


def typed(name: str, lines: Sequence[Mapping[str, object]], of: type[T]) -> list[T]:
    """Lines as objects of a dataclass, its field types saying how cells are read; columns that are no field are left out.

    Raises TableError naming the table and the line of the first fault.
    """
    try:
        return msgspec.convert(lines, list[of], strict=False)  # type: ignore[valid-type]
    except msgspec.ValidationError:
        for number, line in enumerate(lines, FIRST_LINE):
            try:
                msgspec.convert(line, of, strict=False)
            except msgspec.ValidationError as error:
                raise TableError(f"{name}, line {number}: {error}") from error
        raise
