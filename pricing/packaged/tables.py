"""Reading the tables that ship with the code: their columns and keys are checked, a bad cell is named by file and line."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TypeVar

from msgspec import Struct

from costcalc.evidence.tables import FIRST_LINE, Cell, TableError, cells
from costcalc.hardware import Machine

T = TypeVar("T")
Key = tuple[str, ...]


class Row(Struct, frozen=True):
    """One line of a table with typed access to its cells; a blank cell is None where that is allowed."""

    line: Mapping[str, Cell]

    def text(self, column: str) -> str:
        """A cell that must not be blank. Raises ValueError."""
        if self.line[column] is None:
            raise ValueError(f"{column} is blank")
        return str(self.line[column])

    def maybe(self, column: str) -> str | None:
        """A cell, or None where it is blank."""
        return optional(self, column, Row.text)

    def number(self, column: str) -> float:
        """A finite number. Raises ValueError."""
        return float(self.text(column))

    def maybe_number(self, column: str) -> float | None:
        """A finite number, or None where the cell is blank."""
        return optional(self, column, Row.number)

    def integer(self, column: str) -> int:
        """A whole number. Raises ValueError."""
        return int(self.text(column))

    def maybe_integer(self, column: str) -> int | None:
        """A whole number, or None where the cell is blank."""
        return optional(self, column, Row.integer)

    def is_blank(self, column: str) -> bool:
        return self.line[column] is None


def packaged_folder() -> Traversable:
    """Where the tables lie in the installed package."""
    return files("pricing.packaged") / "data"


class Table(Struct, frozen=True):
    """One packaged CSV file: its name, the columns that identify a row, and its other columns, separated by spaces."""

    name: str
    key: str
    others: str

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.key.split(), *self.others.split())

    def content(self, folder: Traversable | None = None) -> bytes:
        """The file's bytes. Raises TableError if it is missing."""
        try:
            return ((folder or packaged_folder()) / self.name).read_bytes()
        except OSError as error:
            raise TableError(f"{self._path}: {error.strerror or error}; install the package again") from error

    def read(self, build: Callable[[Row], T], folder: Traversable | None = None) -> dict[Key, T]:
        """What `build` makes of each row, by the row's key. Raises TableError, naming file and line."""
        built: dict[Key, T] = {}
        try:
            lines = cells(self._path, self._text(folder))
        except csv.Error as error:
            raise TableError(str(error)) from error
        for number, line in enumerate(lines, FIRST_LINE):
            key = tuple(str(line[column] or "") for column in self.key.split())
            try:
                if key in built:
                    raise ValueError(f"{' '.join(filter(None, key))} stands here twice")
                built[key] = build(Row(line))
            except ValueError as error:
                raise TableError(f"{self._path}, line {number}: {error}") from error
        return built

    @property
    def _path(self) -> str:
        return f"pricing/packaged/data/{self.name}"

    def _text(self, folder: Traversable | None) -> str:
        content = self.content(folder)
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            line = content[: error.start].count(b"\n") + 1
            raise TableError(f"{self._path}, line {line}: not UTF-8") from error
        missing = set(self.columns) - set(next(csv.reader([text.partition("\n")[0]]), []))
        if missing:
            raise TableError(f"{self._path}, line 1: lacks {', '.join(sorted(missing))}")
        return text


def optional(row: Row, column: str, read: Callable[[Row, str], T]) -> T | None:
    """What `read` makes of a cell, or None where it is blank."""
    return None if row.is_blank(column) else read(row, column)


def amount(row: Row, column: str) -> Decimal:
    """A cell as an amount of money, at least zero. Raises ValueError."""
    return decimal(row.text(column), column)


def decimal(text: str, column: str) -> Decimal:
    """A text as an amount of money, at least zero. Raises ValueError naming the column."""
    try:
        money = Decimal(text)
    except InvalidOperation:
        raise ValueError(f"{column} {text!r} is not a decimal number") from None
    if not money.is_finite() or money < 0:
        raise ValueError(f"{column} {text!r} is not an amount of money")
    return money


def day(row: Row, column: str) -> datetime:
    """Midnight UTC at which an ISO date starts, or an ISO date-time, which needs its time zone. Raises ValueError."""
    text = row.text(column)
    try:
        if len(text) == len("2026-11-20"):
            return datetime.combine(date.fromisoformat(text), time(), UTC)
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ValueError(f"{column} {text!r} is not an ISO date")
    return moment.astimezone(UTC)


def choice(kind: type[T], row: Row, column: str) -> T:
    """A cell as a member of an enumeration. Raises ValueError."""
    try:
        return kind(row.text(column))  # type: ignore[call-arg]
    except ValueError:
        raise ValueError(f"{column} {row.text(column)!r} is unknown") from None


def machine(row: Row) -> Machine:
    """The machine that a row describes. Only a machine without accelerators may leave the accelerator blank."""
    count = row.integer("accelerators")
    return Machine(
        row.text("accelerator") if count else row.maybe("accelerator") or "",
        count,
        row.maybe_number("accelerator_memory_gib"),
        row.maybe_integer("vcpus"),
        row.maybe_number("memory_gib"),
    )
