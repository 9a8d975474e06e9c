"""Reading packaged tables: text in, typed rows out, and errors that name the file and the line."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import StringIO
from math import isfinite
from typing import TypeVar

import msgspec

T = TypeVar("T")
Cell = str | bool | None
BOOLEANS: Mapping[str, Cell] = {"": None, "yes": True, "no": False}
NOT_FINITE = re.compile(r"(?im)(?:^|,)[+-]?(?:nan|inf|infinity)(?=,|$)")
FIRST_LINE = 2  # below the header


class TableError(ValueError):
    """A packaged table is corrupt; the message names the file and the line."""


class Row:
    """One line of a table with typed access to its cells; a blank cell is None where that is allowed."""

    def __init__(self, cells: dict[str, str]) -> None:
        self._cells = cells

    def text(self, column: str) -> str:
        """A cell that must not be blank."""
        if not self._cells[column]:
            raise ValueError(f"{column} is blank")
        return self._cells[column]

    def maybe(self, column: str) -> str | None:
        """A cell, or None where it is blank."""
        return self._cells[column] or None

    def number(self, column: str) -> float:
        """A finite number."""
        value = float(self.text(column))
        if not isfinite(value):
            raise ValueError(f"{column} must be a finite number, not {self._cells[column]}")
        return value

    def maybe_number(self, column: str) -> float | None:
        """A finite number, or None where the cell is blank."""
        return self.number(column) if self._cells[column] else None

    def integer(self, column: str) -> int:
        """A whole number."""
        return int(self.text(column))

    def maybe_integer(self, column: str) -> int | None:
        """A whole number, or None where the cell is blank."""
        return int(self._cells[column]) if self._cells[column] else None


def rows(name: str, text: str, build: Callable[[Row], T]) -> Iterator[T]:
    """`build` applied to each line of a CSV text. Raises TableError naming the table and the line of the first fault."""
    reader = csv.reader(StringIO(text))
    header = next(reader, [])
    for cells in filter(None, reader):
        try:
            if len(cells) != len(header):
                raise ValueError(f"expected {len(header)} cells")
            yield build(Row(dict(zip(header, cells, strict=True))))
        except (ValueError, KeyError) as error:
            raise TableError(f"{name}, line {reader.line_num}: {error}") from error


def cells(name: str, text: str) -> list[dict[str, Cell]]:
    """The lines of a CSV text by column: a blank cell is None, yes and no are booleans, anything else is text.

    Raises TableError naming the table and the line of the first fault.
    """
    if wrong := NOT_FINITE.search(text):
        number = text.count("\n", 0, wrong.end()) + 1
        raise TableError(f"{name}, line {number}: a number must be finite, not {wrong[0].lstrip(',')}")
    header, *lines = csv.reader(StringIO(text))
    for number, line in enumerate(lines, FIRST_LINE):
        if len(line) != len(header):
            raise TableError(f"{name}, line {number}: expected {len(header)} cells, not {len(line)}")
    return [dict(zip(header, [BOOLEANS.get(cell, cell) for cell in line], strict=False)) for line in lines]


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
