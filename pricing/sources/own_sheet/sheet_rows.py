"""The rows of a price sheet by their number, with typed cells; a bad cell says what to type instead."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from io import StringIO
from typing import TypeVar

from costcalc.text import line
from pricing.sources.source import SourceError

T = TypeVar("T")

REQUIRED = ("provider", "instance_type", "purchase_option", "currency")
COLUMNS: Mapping[str, str] = {
    "provider": "whose machine it is, as in answers: aws, gcp, ... or a name of your own",
    "region": "the provider's region; empty means any",
    "instance_type": "the provider's name of the machine, or one of your own",
    "accelerator": "such as V100, A100-80GB, H100-SXM or TPU v3; may be empty for a machine that is known here",
    "accelerators": "how many the machine holds; may be empty too",
    "accelerator_memory_gib": "GiB of one accelerator; empty means its data sheet's",
    "vcpus": "virtual processors; may be empty",
    "memory_gib": "GiB of the machine; may be empty",
    "purchase_option": "on_demand, spot, reserved, savings_plan, committed_use, capacity_block, monthly or owned",
    "term": "how long it binds: 1mo, 3mo, 6mo, 1y, 3y, 14d; for an owned machine its life",
    "payment": "no_upfront, partial_upfront or all_upfront; may be empty",
    "hourly_rate": "money for one hour of the whole machine",
    "monthly": "money for one month of the whole machine, instead of hourly_rate",
    "hours_in_month": "hours that a month counts; empty means 730",
    "upfront": "money paid at the start; for an owned machine its price less what it will be worth at the end",
    "recurring_hourly": "money for each hour on top of upfront; for an owned machine its running cost",
    "currency": "three letters, such as USD",
    "observed_at": "the day of the quote, such as 2026-11-20; empty means that it holds today",
    "effective_from": "the day from which it holds; may be empty",
    "billing_increment_seconds": "the steps in which time is billed; empty means 1",
    "minimum_seconds": "the least time that is billed; empty means 0",
    "offering_class": "tells apart offers that are otherwise alike; empty means own",
    "source": "where the rate is written down: a contract, a quote's number; empty means the sheet",
    "flags": "notes for the reader, separated by semicolons; may be empty",
}


class CellFault(ValueError):
    """A cell that can't be taken; the message says what to type."""

    def __init__(self, column: str, advice: str) -> None:
        super().__init__(f"column {column}: {advice}")


def numbered_rows(text: str) -> Iterator[tuple[int, SheetRow]]:
    """Filled rows by the number a spreadsheet shows beside them. Raises SourceError on a header that can't be read."""
    header_line = text.partition("\n")[0]
    delimiter = max(",;\t", key=header_line.count)
    table = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
    header = [name.strip().casefold() for name in next(table, [])]
    _check(header)
    for number, row in enumerate(table, 2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) > len(header) and any(cell.strip() for cell in row[len(header) :]):
            lengths = f"row {number} has {len(row)} cells, the header {len(header)}"
            raise SourceError(f"sheet: {lengths}: quote cells that hold {delimiter!r}")
        yield number, SheetRow({name: line(cell.strip()) for name, cell in zip(header, row, strict=False)})


def _check(header: list[str]) -> None:
    for name in header:
        if name and name not in COLUMNS:
            near = next(iter(get_close_matches(name, COLUMNS, 1)), None)
            advice = f"type {near or 'one of ' + ', '.join(COLUMNS)}"
            raise SourceError(f"sheet: row 1, no column is called {name!r}: {advice}")
        if name and header.count(name) > 1:
            raise SourceError(f"sheet: row 1, column {name} stands there twice: delete one")
    missing = [name for name in REQUIRED if name not in header]
    if missing:
        raise SourceError(f"sheet: row 1 lacks the column {', '.join(missing)}: add it to the header")


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One row with typed access; every method raises CellFault saying what to type."""

    cells: Mapping[str, str]

    def maybe(self, column: str) -> str | None:
        """A cell's text, None where it is empty."""
        return self.cells.get(column) or None

    def text(self, column: str) -> str:
        """A cell that must not be empty."""
        cell = self.maybe(column)
        if cell is None:
            raise CellFault(column, f"is empty: type {COLUMNS[column]}")
        return cell

    def money(self, column: str) -> Decimal | None:
        """An amount of zero or more."""
        cell = self.maybe(column)
        if cell is None:
            return None
        try:
            amount = Decimal(cell)
        except InvalidOperation:
            amount = Decimal("nan")
        if not amount.is_finite() or amount < 0:
            advice = "type digits with a point, such as 1234.50, without a currency sign"
            raise CellFault(column, f"{cell!r} is no amount: {advice}")
        return amount

    def whole(self, column: str) -> int | None:
        """A whole number of zero or more."""
        cell = self.maybe(column)
        if cell is not None and not (cell.isascii() and cell.isdigit()):
            raise CellFault(column, f"{cell!r} is no whole number: type digits only, such as 8")
        return None if cell is None else int(cell)

    def number(self, column: str) -> float | None:
        """A number of zero or more."""
        cell = self.money(column)
        return None if cell is None else float(cell)

    def day(self, column: str) -> datetime | None:
        """Midnight UTC at which a day starts."""
        cell = self.maybe(column)
        try:
            return datetime.combine(date.fromisoformat(cell), time(), UTC) if cell else None
        except ValueError:
            raise CellFault(column, f"{cell!r} is no date: type year-month-day, such as 2026-11-20") from None

    def choice(self, column: str, read: Callable[[str], T], *words: str) -> T | None:
        """One of a few words, in either case."""
        cell = self.maybe(column)
        try:
            return read(cell.casefold()) if cell else None
        except ValueError:
            raise CellFault(column, f"{cell!r} is unknown: type {' or '.join(words)}") from None
