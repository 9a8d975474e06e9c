"""Workbooks of one table of values behind a summary."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from api.formats import csv_export
from api.formats.xlsx.book import Book, Column
from api.formats.xlsx.front import Front, write_front

WIDTHS = {"source": 40, "price_source": 40, "instance_type": 24, "recipe": 24, "region": 16, "error": 60}
RATES = frozenset(("hourly_rate", "upfront", "recurring_hourly", "monthly"))


def workbook(
    name: str, front: Front, columns: Sequence[csv_export.Column], rows: Sequence[Any], folded: Container[str] = ()
) -> bytes:
    """A summary, and the table, whose `folded` columns are hidden until someone unfolds them.

    Moments are in UTC, money is in the currency of its row where that of the front is empty.
    """
    book = Book(f"costcalc {name.lower()}", front.as_of, front.currency)
    write_front(book.sheet("Summary"), front)
    values = ([read(row) for _, read in columns] for row in rows)
    book.sheet(name).table([_column(heading, heading in folded) for heading, _ in columns], values)
    return book.finish()


def _column(name: str, is_detail: bool) -> Column:
    form = "rate" if name in RATES else "money" if "_cost" in name else None
    is_moment = name.endswith(("_at", "_from"))
    return Column(name, form, WIDTHS.get(name, 16 if is_moment else 12), "UTC" if is_moment else "", is_detail)
