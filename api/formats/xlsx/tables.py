"""Workbooks of one table of values behind a summary."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from math import ceil
from typing import Any

from api.formats import csv_export
from api.formats.xlsx.book import AMOUNTS, NUMBERS, Book, Column, Formula, Sheet, joined

WIDE_LINE, WIDE_HEADLINE = 115, 85  # characters of a line
LINE = 16  # points
RATES = frozenset((
    "hourly_rate", "previous_hourly_rate", "upfront", "recurring_hourly", "monthly", "worth_up_to_hourly",
    "on_demand_hourly_rate",
))  # fmt: skip
MONEY = frozenset(("cost", "total", "due", "paid", "saving"))
"""Words in the names of columns of amounts; what on demand costs is one too."""
SHARES = frozenset(("change", "spread", "probability", "success_probability"))
TIMES = {"hours", "minutes", "months"}
LARGE = 1000
WIDE, LONGEST = 40, 300  # characters; what is longer is folded away
MIDNIGHTS = (time(), time(23, 59, 59))


@dataclass(frozen=True, slots=True)
class Total:
    """Sums of columns of the table, each amount with its formula, by what it is called: of all rows, or of those with this text
    in one of the user's own columns."""

    name: str
    rows: int
    sums: Mapping[str, tuple[Decimal | float, str]]


@dataclass(frozen=True, slots=True)
class Front:
    """The title, lines in words, of which the first is the headline, and the address that asks again.

    `as_of` is the moment of the prices, and `currency` that of all amounts, empty where rows have one each.
    """

    title: str
    lines: Sequence[str]
    address: str = ""
    as_of: datetime | None = None
    currency: str = ""
    totals: Sequence[Total] = ()


def write_front(sheet: Sheet, front: Front) -> int:
    """Writes the sheet. Returns the first row with room for a chart."""
    sheet.plain.set_column(0, 0, 30)
    sheet.plain.set_column(1, 3, 16)
    sheet.put(0, 0, front.title, "title")
    row = 1
    for number, line in enumerate(front.lines):
        sheet.plain.merge_range(row, 0, row, 7, "")
        sheet.put(row, 0, line, "wrapped" if number else "wrapped_headline")
        sheet.plain.set_row(row, LINE * ceil(len(line) / (WIDE_LINE if number else WIDE_HEADLINE)))
        row += 1
    for cells in _facts(front):
        row += 1
        for column, (value, form) in enumerate(cells):
            sheet.put(row, column, value, form)
    if front.address:
        sheet.put(row + 2, 0, "to ask again")
        sheet.put_address(row + 2, 1, front.address)
    return row + 4


def _facts(front: Front) -> Iterator[list[tuple[Any, str | None]]]:
    for total in front.totals[:1]:
        headings = (name if name in TIMES else f"{name} ({front.currency})" for name in total.sums)
        yield [("total", "heading_of_rows"), *((name, "heading_of_numbers") for name in ("rows", *headings))]
    for total in front.totals:
        sums = (
            (Formula(formula, amount), "hours" if name in TIMES else "money")
            for name, (amount, formula) in total.sums.items()
        )
        yield [(total.name, None), (total.rows, None), *sums]
    if front.as_of:
        yield [("prices of (UTC)", None), (front.as_of, None)]


def workbook(
    name: str,
    front: Front,
    columns: Sequence[csv_export.Column],
    rows: Sequence[Any],
    folded: Container[str] | None = None,
) -> bytes:
    """A summary, and the table, whose `folded` columns are hidden until someone unfolds them; where it is None, those of sources,
    of endless texts, and without any value.

    Moments are in UTC, money is in the currency of its row where that of the front is empty.
    """
    book = Book(f"costcalc {name.lower()}", front.as_of, front.currency)
    write_front(book.sheet("Summary"), front)
    cells = [[read(row) for _, read in columns] for row in rows]
    by_column = zip(*cells, strict=True) if cells else ((),) * len(columns)
    looks = [_column(heading, values, folded) for (heading, _), values in zip(columns, by_column, strict=True)]
    book.sheet(name).table(
        looks, ([_short(value, look) for value, look in zip(row, looks, strict=True)] for row in cells)
    )
    return book.finish()


def _column(name: str, values: Sequence[Any], folded: Container[str] | None) -> Column:
    filled = [value for value in values if value not in (None, "", ())]
    texts = [joined(value) for value in filled if not isinstance(value, NUMBERS | date)]
    longest = max(map(len, texts), default=0)
    is_detail = name.endswith("source") or longest > LONGEST if folded is None else name in folded
    is_detail = is_detail or (folded != () and not filled)
    if filled and isinstance(filled[0], datetime):
        is_day = name == "date" or all(value.time() in MIDNIGHTS for value in filled)
        return Column(name, "day" if is_day else "moment", 12 if is_day else 17, "UTC", is_detail)
    parts = name.split("_")
    narrow = max(9.0, max(map(len, parts)) + 2, len(name) / 3 + 2)  # its heading in three lines
    if name in RATES or MONEY & {*parts} or name in ("on_demand_per_month", "on_demand_so_far"):
        return Column(name, "rate" if name in RATES else "money", max(narrow, 11), "", is_detail)
    if filled and not texts:
        return Column(name, _form(name, filled), narrow, "", is_detail)
    form = "long_text" if longest > WIDE and not is_detail else "text"
    return Column(name, form, min(max(longest + 2, narrow), WIDE), "", is_detail)


def _form(name: str, values: Sequence[Any]) -> str | None:
    """The format of measured or estimated numbers; None for counts, and for small ones that need all digits."""
    if name in SHARES:
        return "percent"
    if not any(isinstance(value, float) for value in values):
        return None
    if TIMES & set(name.split("_")):
        return "hours"
    return "large" if max(values) >= LARGE else None


def _short(value: Any, look: Column) -> Any:
    """Six significant digits of what was measured or estimated, as CSV has them."""
    is_rounded = type(value) is float and look.form not in AMOUNTS and abs(value) < csv_export.WHOLE
    return float(f"{value:.6g}") if is_rounded else value
