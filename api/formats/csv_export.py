"""CSV for spreadsheets and scripts: RFC 4180, raw numbers, and no text that a sheet would run as a formula.

Moments are ISO 8601 for scripts, and for Excel in the form that spreadsheets take for a date. A number that need not be whole
always has a decimal point, so that readers who judge a column by its first rows judge rightly.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Context, Decimal
from functools import lru_cache, partial
from itertools import islice
from operator import attrgetter
from typing import Any

from api.questions.errors import BadParameters
from api.questions.schemas.layout import Layout
from api.questions.suggestions import Guesses
from costcalc.fields import names_of

# OWASP's list of leading characters, the full-width forms that some sheets take for them, and NUL; a formula sign behind
# a sign that another locale splits at would lead there
FORMULA = re.compile("\\A(?=[-=+@\t\r\n\0＝＋－＠])|(?<=[,;|\t\r\n])(?=[-=+@＝＋－＠])")
WHERE_COLUMNS = "the first line of the whole sheet names them"
AMOUNT = Context(prec=15)
WHOLE = 1e6  # a number from here on has more than six digits before its point
BYTE_ORDER_MARK = "\ufeff"
ROWS_AT_ONCE = 256

Column = tuple[str, Callable[[Any], Any]]
Writer = tuple[type | tuple[type, ...], Callable[[Any], str | None]]


def attribute(name: str) -> Column:
    """The column of one attribute."""
    return name, attrgetter(name)


def columns_of(row_type: type) -> tuple[Column, ...]:
    """Name and value of each column of a flat row type."""
    return tuple(map(attribute, names_of(row_type)))


def chosen(names: Sequence[str], layout: Layout) -> list[str]:
    """The names of the columns that a layout wants, in its order. Raises BadParameters for one that the sheet has not."""
    if not layout.columns:
        return list(names)
    guesses = Guesses()
    unknown = [guesses.unknown("column", name, names, WHERE_COLUMNS) for name in layout.columns if name not in names]
    if unknown:
        raise BadParameters({"columns": unknown})
    return list(dict.fromkeys(layout.columns))


def chosen_columns(columns: Sequence[Column], layout: Layout) -> list[Column]:
    """The chosen columns."""
    by_name = dict(columns)
    return [(name, by_name[name]) for name in chosen(list(by_name), layout)]


def chunks(columns: Sequence[Column], rows: Iterable[Any], layout: Layout) -> Iterator[bytes]:
    """The sheet in UTF-8, header first, piece by piece: never more than a few hundred rows are in memory.

    Raises BadParameters for a column that it has not.
    """
    return _written(chosen_columns(columns, layout), iter(rows), layout)


def _written(columns: Sequence[Column], rows: Iterator[Any], layout: Layout) -> Iterator[bytes]:
    """The pieces, made column by column of a few hundred rows."""
    cells = Cells(layout)
    yield _lines([[text(name) for name, _ in columns]], layout, BYTE_ORDER_MARK if layout.excel else "")
    while some := list(islice(rows, ROWS_AT_ONCE)):
        texts = ([cells[type(value)](value) for value in map(read, some)] for _, read in columns)
        yield _lines(zip(*texts, strict=True), layout)


def _lines(rows: Iterable[Iterable[Any]], layout: Layout, before: str = "") -> bytes:
    buffer = io.StringIO(before)
    buffer.seek(0, io.SEEK_END)
    csv.writer(buffer, delimiter=layout.sep, lineterminator="\r\n").writerows(rows)
    return buffer.getvalue().encode()


def document(columns: Sequence[Column], rows: Iterable[Any], layout: Layout) -> bytes:
    """The whole sheet in UTF-8."""
    return b"".join(chunks(columns, rows, layout))


def with_last_line(pieces: Iterable[bytes], rest: object | None, layout: Layout) -> Iterator[bytes]:
    """The sheet, with what it leaves out said in words behind its rows where people read it in Excel."""
    yield from pieces
    if layout.excel and rest:
        yield _lines([[rest]], layout)


def has_rows(sheet: bytes) -> bool:
    """Whether a sheet has more than its headings."""
    return sheet.count(b"\n") > 1


class Cells(dict[type, Callable[[Any], str | None]]):
    """What writes values of each type as cells: numbers bare, yes and no as true and false, lists joined, formulas defused."""

    def __init__(self, layout: Layout) -> None:
        super().__init__()
        self._known: tuple[Writer, ...] = (
            *_WRITERS,
            ((Decimal, float), partial(exact if layout.profile == "focus" else number, decimal=layout.decimal)),
            (datetime, spreadsheet_moment if layout.excel else moment),
            (date, date.isoformat),
        )

    def __missing__(self, kind: type) -> Callable[[Any], str | None]:
        self[kind] = next((write for kinds, write in self._known if issubclass(kind, kinds)), _joined)
        return self[kind]

    def text(self, value: Any) -> str | None:
        """The cell of a value; None for an empty one."""
        return self[type(value)](value)


@lru_cache(maxsize=4096)
def text(value: str) -> str:
    """Text that no sheet takes for a formula."""
    return FORMULA.sub("'", value)


def exact(value: Decimal | float, decimal: str = ".") -> str:
    """A number in plain digits with a decimal sign, without an exponent."""
    return _plain(str(value), decimal)


def number(value: Decimal | float, decimal: str = ".") -> str:
    """A number in six significant digits if it was measured or estimated, fifteen if it is an amount; whole digits stay."""
    if isinstance(value, Decimal):
        return _plain(str(AMOUNT.plus(value)), decimal)
    return _plain(f"{value:.6g}" if abs(value) < WHOLE else f"{value:.0f}", decimal)


def _plain(text: str, decimal: str) -> str:
    plain = f"{Decimal(text):f}" if "e" in text or "E" in text else text
    pointed = plain if "." in plain else f"{plain}.0"
    return pointed if decimal == "." else pointed.replace(".", decimal)


def moment(value: datetime) -> str:
    """ISO 8601; UTC as Z."""
    return value.isoformat().replace("+00:00", "Z")


def spreadsheet_moment(value: datetime) -> str:
    """Day and time in UTC, to the second."""
    return f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def _joined(values: Iterable[Any]) -> str | None:
    return text(";".join(map(str, values))) or None


_WRITERS: tuple[Writer, ...] = (
    (type(None), lambda _: None),
    (str, lambda value: text(str(value)) or None),
    (bool, lambda value: "true" if value else "false"),
    (int, str),
)
