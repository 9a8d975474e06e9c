"""The sheet in front of a table: what it is about in words, its totals, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from math import ceil
from typing import Any

from api.formats.xlsx.book import Formula, Sheet

WIDE, WIDE_HEADLINE = 115, 85  # characters of a line
LINE = 16  # points


@dataclass(frozen=True, slots=True)
class Total:
    """A sum of a column of the table: of all rows, or of those that have this text in a column of the asker's own."""

    name: str
    rows: int
    amount: Decimal
    formula: str


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
    """Writes the whole sheet. Returns the row from which on there is room for a chart."""
    sheet.plain.set_column(0, 0, 30)
    sheet.plain.set_column(1, 3, 16)
    sheet.put(0, 0, front.title, "title")
    row = 1
    for number, line in enumerate(front.lines):
        sheet.plain.merge_range(row, 0, row, 7, "")
        sheet.put(row, 0, line, "wrapped" if number else "wrapped_headline")
        sheet.plain.set_row(row, LINE * ceil(len(line) / (WIDE if number else WIDE_HEADLINE)))
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
    if front.totals:
        amount = f"to pay ({front.currency})"
        yield [("total", "heading_of_rows"), ("rows", "heading_of_numbers"), (amount, "heading_of_numbers")]
    for total in front.totals:
        yield [(total.name, None), (total.rows, None), (Formula(total.formula, total.amount), "money")]
    if front.as_of:
        yield [("prices of (UTC)", None), (front.as_of, None)]
