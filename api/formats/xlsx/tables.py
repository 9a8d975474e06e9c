"""Workbooks of one table of values behind a summary."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from datetime import date, datetime, time
from itertools import islice
from math import ceil
from typing import Any

from msgspec.structs import replace

from api.formats import csv_export
from api.formats.sheet import Sheet as Table
from api.formats.xlsx import estimates
from api.formats.xlsx.book import AMOUNTS, NUMBERS, Book, Column, Formula, Sheet, joined
from api.questions.schemas.layout import Layout

MOST_ROWS = 10_000  # takes a second to write
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


def _write_front(sheet: Sheet, table: Table, address: str) -> None:
    """The title, lines in words, of which the first is the headline, sums, and the address that asks again."""
    sheet.plain.set_column(0, 0, 30)
    sheet.plain.set_column(1, 3, 16)
    sheet.put(0, 0, table.title, "title")
    row = 1
    for number, line in enumerate(table.lines):
        sheet.plain.merge_range(row, 0, row, 7, "")
        sheet.put(row, 0, line, "wrapped" if number else "wrapped_headline")
        sheet.plain.set_row(row, LINE * ceil(len(line) / (WIDE_LINE if number else WIDE_HEADLINE)))
        row += 1
    for cells in _facts(table):
        row += 1
        for column, (value, form) in enumerate(cells):
            sheet.put(row, column, value, form)
    if address:
        sheet.put(row + 2, 0, "to ask again")
        sheet.put_address(row + 2, 1, address)


def _facts(table: Table) -> Iterator[list[tuple[Any, str | None]]]:
    totals = [*table.totals([name for name, _ in table.columns])]
    for total in totals[:1]:
        headings = (name if name in TIMES else f"{name} ({table.currency})" for name in total.sums)
        yield [("total", "heading_of_rows"), *((name, "heading_of_numbers") for name in ("rows", *headings))]
    for total in totals:
        sums = (
            (Formula(formula, amount), "hours" if name in TIMES else "money")
            for name, (amount, formula) in total.sums.items()
        )
        yield [(total.name, None), (total.rows, None), *sums]
    if table.as_of:
        yield [("prices of (UTC)", None), (table.as_of, None)]


def workbook(table: Table, layout: Layout) -> bytes:
    """A summary, and the table with at most `MOST_ROWS` rows; the summary counts the others.

    Moments are in UTC, money is in the currency of its row where the table has none.
    """
    rows = iter(table.rows)
    shown = list(islice(rows, MOST_ROWS))
    left = table.rest.total - len(shown) if table.rest else sum(1 for _ in rows)
    note = f"{left:,} rows are not in this workbook: filter them, or take all as CSV."
    lines, currency = [*table.lines, *([note] if left else [])], table.currency or _currency(shown)
    folded, columns = (
        estimates.folded(table.columns, table.kept, layout),
        csv_export.chosen_columns(table.columns, layout),
    )
    table = replace(table, lines=lines, currency=currency, columns=columns)
    book = Book(f"costcalc {table.name.lower()}", table.as_of, currency)
    _write_front(book.sheet("Summary"), table, layout.address)
    cells = [[read(row) for _, read in columns] for row in shown]
    by_column = zip(*cells, strict=True) if cells else ((),) * len(columns)
    looks = [_column(heading, values, folded) for (heading, _), values in zip(columns, by_column, strict=True)]
    book.sheet(table.name).table(
        looks, ([_short(value, look) for value, look in zip(row, looks, strict=True)] for row in cells)
    )
    return book.finish()


def _currency(rows: Sequence[Any]) -> str:
    """The currency of rows that all have the same."""
    quoted = {getattr(row[-1] if isinstance(row, tuple) else row, "currency", "") for row in rows}
    return quoted.pop() if len(quoted) == 1 else ""


def _column(name: str, values: Sequence[Any], folded: Container[str] | None) -> Column:
    """Hidden where it is `folded`; where that is None, one of sources, of endless texts, or without any value."""
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
