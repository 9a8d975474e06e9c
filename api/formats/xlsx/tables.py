"""Workbooks of one table of values, without formulas."""

from __future__ import annotations

from collections.abc import Container, Sequence
from datetime import datetime
from typing import Any

from api.formats import csv_export
from api.formats.xlsx.book import Book, Column

WIDTHS = {"source": 40, "price_source": 40, "instance_type": 24, "recipe": 24, "region": 16, "error": 60}
RATES = frozenset(("hourly_rate", "upfront", "recurring_hourly", "monthly"))


def workbook(
    name: str,
    columns: Sequence[csv_export.Column],
    rows: Sequence[Any],
    created: datetime | None,
    note: str | None = None,
    folded: Container[str] = (),
) -> bytes:
    """The table, whose `folded` columns are hidden until someone unfolds them, and the note on a second sheet.

    Moments are in UTC, money is in the currency of its row.
    """
    book = Book(f"costcalc {name.lower()}", created)
    values = ([read(row) for _, read in columns] for row in rows)
    book.sheet(name).table([_column(heading, heading in folded) for heading, _ in columns], values)
    if note:
        book.sheet("Left out").put(0, 0, note)
    return book.finish()


def _column(name: str, is_detail: bool) -> Column:
    form = "rate" if name in RATES else "money" if "_cost" in name else None
    is_moment = name.endswith(("_at", "_from"))
    return Column(name, form, WIDTHS.get(name, 16 if is_moment else 12), "UTC" if is_moment else "", is_detail)
