"""CSV for spreadsheets and scripts: RFC 4180, raw numbers, ISO dates, and no text that a sheet would run as a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from typing import Any

from api.questions.schemas import Layout

# OWASP's list of leading characters, the full-width forms that some sheets take for them, and NUL; a formula sign behind
# a sign that another locale splits at would lead there
FORMULA = re.compile("\\A(?=[-=+@\t\r\n\0＝＋－＠])|(?<=[,;|\t\r\n])(?=[-=+@＝＋－＠])")
BYTE_ORDER_MARK = "\ufeff"
ROWS_AT_ONCE = 256

Column = tuple[str, Callable[[Any], Any]]


def attribute(name: str) -> Column:
    """The column of one attribute."""
    return name, lambda row: getattr(row, name)


def columns_of(row_type: type) -> tuple[Column, ...]:
    """Name and value of each column of a flat row type."""
    names: Iterable[str] = row_type.__dataclass_fields__  # type: ignore[attr-defined]
    return tuple(map(attribute, names))


def chunks(columns: Sequence[Column], rows: Iterable[Any], layout: Layout) -> Iterator[bytes]:
    """The sheet in UTF-8, header first, piece by piece: never more than a few hundred rows are in memory."""
    readers, cells = [read for _, read in columns], cell_writer(layout.decimal)
    texts = ([cells(read(row)) for read in readers] for row in rows)
    return written([name for name, _ in columns], texts, layout)


def document(columns: Sequence[Column], rows: Iterable[Any], layout: Layout) -> bytes:
    """The whole sheet in UTF-8."""
    return b"".join(chunks(columns, rows, layout))


def written(names: Sequence[str], cells: Iterable[Sequence[str | None]], layout: Layout) -> Iterator[bytes]:
    """The same of rows that are text already."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=layout.sep, lineterminator="\r\n")
    buffer.write(BYTE_ORDER_MARK if layout.excel else "")
    writer.writerow(names)
    rows = iter(cells)
    while text := _taken(buffer):
        yield text.encode()
        writer.writerows(islice(rows, ROWS_AT_ONCE))


def _taken(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text


def cell(value: Any, decimal: str = ".") -> str | None:
    """A value as a cell: numbers bare, dates ISO, yes and no as true and false, lists joined, formulas defused."""
    return cell_writer(decimal)(value)


@lru_cache(maxsize=4)
def cell_writer(decimal: str) -> Callable[[Any], str | None]:
    """Writes cells with this decimal sign."""
    writers = _Writers(decimal)
    return lambda value: writers[type(value)](value)


class _Writers(dict[type, Callable[[Any], str | None]]):
    """What writes the values of a type; found once per type."""

    def __init__(self, decimal: str) -> None:
        super().__init__()
        self.decimal = decimal

    def __missing__(self, kind: type) -> Callable[[Any], str | None]:
        found = next((write for known, write in _WRITERS if issubclass(kind, known)), _joined)
        if issubclass(kind, (Decimal, float)) and self.decimal != ".":
            self[kind] = lambda value: number(value).replace(".", self.decimal)
        else:
            self[kind] = found
        return self[kind]


@lru_cache(maxsize=4096)
def text(value: str) -> str:
    """Text that no sheet takes for a formula."""
    return FORMULA.sub("'", value)


def number(value: Decimal | float) -> str:
    """A number in plain digits, without an exponent."""
    text = str(value)
    return f"{Decimal(text):f}" if "e" in text or "E" in text else text


def moment(value: datetime) -> str:
    """ISO 8601; UTC as Z."""
    return value.isoformat().replace("+00:00", "Z")


def _joined(values: Iterable[Any]) -> str | None:
    return text(";".join(map(str, values))) or None


_WRITERS: tuple[tuple[type | tuple[type, ...], Callable[[Any], str | None]], ...] = (
    (type(None), lambda _: None),
    (str, lambda value: text(str(value)) or None),
    (bool, lambda value: "true" if value else "false"),
    (int, str),
    ((Decimal, float), number),
    (datetime, moment),
    (date, date.isoformat),
)
