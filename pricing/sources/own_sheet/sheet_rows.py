"""The rows of a price sheet by their number, with typed cells; a bad cell says what to type instead."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from difflib import get_close_matches
from io import StringIO
from typing import TypeVar

from msgspec import Struct

from costcalc.text import line
from pricing.sources.own_sheet.writing import DOLLAR, DOLLARS, SIGNS, Amount, Writing
from pricing.sources.source import SourceError

T = TypeVar("T")

LONGEST_QUOTED = 24  # signs: keys of clouds and of APIs have more
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


OF_OUR_EXPORT = frozenset({"available", "available_at", "confirmed", "quoted_currency", "exchange_rate", "exchange_rate_date",
                          "exchange_rate_source", "label", "cost_center"})  # fmt: skip
"""Columns of `/offers.csv` that say nothing of a rate; a sheet that has some writes names as we do."""
MONEY = ("hourly_rate", "monthly", "upfront", "recurring_hourly")
NUMBERS = (*MONEY, "accelerator_memory_gib", "memory_gib")
DAYS = ("observed_at", "effective_from")
_OF_A_CURRENCY = re.compile(rf"({'|'.join(MONEY)})_*\(?\[?([a-z]{{3}}|[€£$])\]?\)?")
_DELIMITER = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
_FORMULA = re.compile(r"'(?=[=+\-@\t\r\n])")
"""What exports put before a text that a spreadsheet would take for a formula."""


class CellFault(ValueError):
    """A cell that can't be taken; the message says what to type."""

    def __init__(self, column: str, advice: str) -> None:
        super().__init__(f"column {column}: {advice}")


class SheetTable(Struct, frozen=True):
    """The filled rows of a sheet by the number a spreadsheet shows beside them, and the faults of its header."""

    rows: tuple[tuple[int, SheetRow], ...]
    faults: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> SheetTable:
        """Raises SourceError where no row can be read."""
        delimiter, text = _delimited(text)
        header, *table = csv.reader(StringIO(text, newline=""), delimiter=delimiter) if text else [[]]
        titles = [re.sub(r"[\s-]+", "_", title.strip().casefold()) for title in header]
        names, currencies = _columns(titles)
        is_sheet = not COLUMNS.keys().isdisjoint(names)  # what is something else may hold secrets, and is not quoted
        faults = list(_faults(header, names)) if is_sheet else []
        missing = [each for each in REQUIRED if each not in names]
        if currencies and "currency" in missing:
            missing.remove("currency")
        if missing:
            faults.append(f"row 1 lacks the column {', '.join(missing)}: add it to the header")
            raise SourceError(f"sheet: {'; '.join(faults)}")
        numbered = [(at, row) for at, row in enumerate(table, 2) if any(cell.strip() for cell in row)]
        faults += [
            f"row {at} has {len(row)} cells, the header {len(header)}: quote cells that hold {delimiter!r}"
            for at, row in numbered
            if any(cell.strip() for cell in row[len(header) :])
        ]
        cells = [
            (at, {name: _text(cell) for name, cell in zip(names, row, strict=False) if name}) for at, row in numbered
        ]
        writing = Writing.of(delimiter, _those(cells, NUMBERS), _those(cells, DAYS))
        is_export = not OF_OUR_EXPORT.isdisjoint(titles)
        rows = tuple((at, SheetRow(each, writing, currencies, is_export)) for at, each in cells)
        return cls(rows, tuple(faults))


def _delimited(text: str) -> tuple[str, str]:
    """What parts the cells, and the text below the line in which Excel says so."""
    if match := _DELIMITER.match(text):
        return match[1], text[match.end() :]
    first = text.partition("\n")[0]
    return max(",;\t", key=first.count), text


def _columns(titles: list[str]) -> tuple[list[str], dict[str, str]]:
    """Our names of the columns, and the currencies that stand beside them: `Hourly rate (EUR)`."""
    names, currencies = [], {}
    for title in titles:
        match = _OF_A_CURRENCY.fullmatch(title)
        name, sign = match.groups() if match else (title, "")
        if sign:
            currencies[name] = SIGNS.get(sign.upper(), sign.upper())
        names.append("" if name in OF_OUR_EXPORT else name)
    return names, currencies


def quoted(cell: str | None) -> str:
    """A cell in a message that anybody may read: whole where it is short, and by its length where it may be a key."""
    return f"a cell of {len(cell)} signs" if cell and len(cell) > LONGEST_QUOTED else repr(cell)


def _faults(header: list[str], names: list[str]) -> Iterator[str]:
    for title, name in zip(header, names, strict=True):
        if name and name not in COLUMNS:
            near = next(iter(get_close_matches(name, COLUMNS, 1)), None)
            advice = f"type {near or 'one of ' + ', '.join(COLUMNS)}"
            yield f"row 1, no column is called {quoted(title.strip())}: {advice}"
    for name in dict.fromkeys(names):
        if name and names.count(name) > 1:
            yield f"row 1, column {name} stands there twice: delete one"


def _text(cell: str) -> str:
    return _FORMULA.sub("", line(cell.strip()), count=1)


def _those(cells: list[tuple[int, dict[str, str]]], columns: Iterable[str]) -> list[str]:
    return [row[name] for _, row in cells for name in columns if row.get(name)]


class SheetRow(Struct, frozen=True):
    """One row with typed access; every method raises CellFault saying what to type.

    `writing` is how its sheet writes amounts and days, `currencies` those that stand in the header beside a column. `is_export`
    says that the sheet began as our own `/offers.csv`.
    """

    cells: Mapping[str, str]
    writing: Writing
    currencies: Mapping[str, str]
    is_export: bool

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
        return self._read(column, self.writing.amount, "no amount: {}")

    def whole(self, column: str) -> int | None:
        """A whole number of zero or more."""
        return self._read(column, self.writing.whole_number, "no whole number: type digits only, such as 8")

    def number(self, column: str) -> float | None:
        """A number of zero or more."""
        cell = self.money(column)
        return None if cell is None else float(cell)

    def day(self, column: str) -> datetime | None:
        """The moment at which a day starts, in UTC."""
        return self._read(column, self.writing.day, "no date: {}")

    def choice(self, column: str, read: Callable[[str], T], *words: str) -> T | None:
        """One of a few words, however its case and blanks are."""
        plain = lambda cell: read(re.sub(r"[\s-]+", "_", cell.casefold()))  # noqa: E731
        return self._read(column, plain, f"unknown: type {' or '.join(words)}")

    def _read(self, column: str, read: Callable[[str], T], fault: str) -> T | None:
        """What `read` makes of a cell; None where it is empty."""
        cell = self.maybe(column)
        try:
            return read(cell) if cell else None
        except ValueError as advice:
            raise CellFault(column, f"{quoted(cell)} is {fault.format(advice)}") from None

    def currency(self) -> str:
        """The one currency of its amounts: that of its own column, or beside the amounts."""
        cell = self.maybe("currency")
        beside = {column: Amount.of(self.cells[column]).currency for column in MONEY if self.maybe(column)}
        named = {**beside, **{column: code for column, code in self.currencies.items() if self.maybe(column)}}
        codes = {code for code in named.values() if code}
        code = SIGNS.get(cell.upper(), cell.upper()) if cell else next(iter(codes), "")
        if not (len(code) == 3 and code.isascii() and code.isalpha()):
            told = f"{quoted(code)} is no currency" if code else "is empty"
            raise CellFault("currency", f"{told}: type three letters, such as USD or EUR")
        for column, other in named.items():
            if other not in (None, code) and not (other == DOLLAR and code in DOLLARS):
                raise CellFault(column, f"is in {other}, the currency of the row is {code}: type one of them")
        return code
