"""The rows of a price sheet by their number, with typed cells; a bad cell says what to type instead.

Sheets write amounts and days as their country does: 1,234.50 or 1.234,50 or 1 234,50; 20.11.2026 or 11/20/2026. What a cell alone
can't tell, the others do; what none of them tells is refused with both readings.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time
from decimal import Decimal
from difflib import get_close_matches
from io import StringIO
from typing import TypeVar

from msgspec import Struct

from costcalc.offer import LARGEST_AMOUNT, LARGEST_COUNT
from costcalc.text import line
from pricing.sources.source import SourceError

POINT, COMMA = ".", ","
EXAMPLE = "type digits with a point, such as 1234.50"
SIGNS = {"€": "EUR", "£": "GBP", "US$": "USD", "EURO": "EUR", "EUROS": "EUR"}
DOLLAR, DOLLARS = "$", frozenset({"USD", "CAD", "AUD", "NZD", "SGD", "HKD", "TWD", "MXN", "BRL"})
"""A sign of several currencies: the column `currency` says which."""
_CURRENCY = re.compile(r"(?i)^\s*(us\$|[€£$]|[a-z]{3}(?![a-z]))|(us\$|[€£$]|(?<![a-z])(?:[a-z]{3}|euros?))\s*$")
_GROUPING = re.compile(r"(?<=\d)[\s'’](?=\d{3}(?!\d))")
_NUMBER = re.compile(r"(\d+)((?:[.,]\d+)*)")
_DAY = re.compile(r"(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})")


class Amount(Struct, frozen=True):
    """Digits with their signs, and the currency that is written beside them."""

    digits: str
    currency: str | None

    @classmethod
    def of(cls, cell: str) -> Amount:
        if not (match := _CURRENCY.search(cell)) or not re.search(r"\d", cell):
            return cls(_GROUPING.sub("", cell.strip()), None)
        sign = (match[1] or match[2]).upper()
        rest = cell[: match.start()] + cell[match.end() :]
        return cls(_GROUPING.sub("", rest.strip()), SIGNS.get(sign, sign))

    @property
    def decimal(self) -> str | None:
        """The decimal sign that these digits can only have; None where they have none, or either reading makes a number."""
        match = _NUMBER.fullmatch(self.digits)
        signs = re.sub(r"\d", "", match[2]) if match else ""
        if not match or not signs:
            return None
        if len(set(signs)) == 2:
            return signs[-1]
        if len(signs) > 1:
            return COMMA if signs[0] == POINT else POINT
        is_group = len(match[2]) == 4 and len(match[1]) <= 3 and match[1].strip("0")
        return None if is_group else signs

    def number(self, decimal: str | None, is_told: bool) -> Decimal:
        """Its value in a sheet with this decimal sign, which another cell told or not. Raises ValueError saying what to type."""
        match, group = _NUMBER.fullmatch(self.digits), POINT if decimal == COMMA else COMMA
        if not match or self.decimal not in (None, decimal):
            raise ValueError(EXAMPLE)
        signs = re.sub(r"\d", "", match[2])
        if signs and self.decimal is None and (decimal is None or (signs == group and not is_told)):
            fraction = f"{Decimal(self.digits.replace(signs, POINT)).normalize():f}"
            fraction += "0" * (len(fraction.partition(POINT)[2]) == 3)
            raise ValueError(f"it can be read two ways: type {self.digits.replace(signs, '')} or {fraction}")
        whole, sign, fraction = self.digits.partition(decimal or POINT)
        if not re.fullmatch(rf"\d{{1,3}}(\{group}\d{{3}})+|\d+", whole):
            raise ValueError(EXAMPLE)
        return Decimal(f"{whole.replace(group, '')}{POINT if sign else ''}{fraction}")


class Writing(Struct, frozen=True):
    """The decimal sign of a sheet, and whether the day stands before the month between slashes; None where no cell tells.
    `is_told` says whether a cell told the sign."""

    decimal: str | None
    is_told: bool
    day_first: bool | None

    @classmethod
    def of(cls, delimiter: str, amounts: Iterable[str], days: Iterable[str]) -> Writing:
        """As the cells tell. Where commas part the cells, the decimal sign is a point; who writes a decimal comma writes the day
        first."""
        told = [sign for sign in (Amount.of(cell).decimal for cell in amounts) if sign]
        decimal = POINT if delimiter == COMMA else told[0] if told else None
        orders = [order for order in map(_day_first, days) if order is not None]
        return cls(decimal, bool(told), orders[0] if orders else True if decimal == COMMA else None)

    def amount(self, cell: str) -> Decimal:
        """An amount of zero or more. Raises ValueError saying what to type."""
        amount = Amount.of(cell).number(self.decimal, self.is_told)
        if amount > LARGEST_AMOUNT:
            raise ValueError(f"type at most {LARGEST_AMOUNT:,}")
        return amount

    def whole_number(self, cell: str) -> int:
        """A whole number of zero or more. Raises ValueError saying what to type."""
        with suppress(ValueError):
            number = self.amount(cell)
            if number % 1 == 0 and number <= LARGEST_COUNT:
                return int(number)
        raise ValueError(f"type digits only, such as 8, at most {LARGEST_COUNT:,}")

    def day(self, cell: str) -> datetime:
        """The moment that a day or a moment in UTC names. Raises ValueError saying what to type."""
        with suppress(ValueError):
            return moment(cell)
        match = _DAY.fullmatch(cell)
        if not match or len(match[1]) > 2:
            raise ValueError("type year-month-day, such as 2026-11-20")
        first, last, year = int(match[1]), int(match[3]), int(match[4]) + (2000 if len(match[4]) == 2 else 0)
        day_first = match[2] == "." or _day_first(cell) or (_day_first(cell) is None and self.day_first)
        if match[2] != "." and _day_first(cell) is None and self.day_first is None and first != last:
            raise ValueError(f"it can be two days: type {year}-{first:02}-{last:02} or {year}-{last:02}-{first:02}")
        month, day = (last, first) if day_first else (first, last)
        try:
            return datetime.combine(date(year, month, day), time(), UTC)
        except ValueError:
            raise ValueError("type year-month-day, such as 2026-11-20") from None


def moment(cell: str) -> datetime:
    """An ISO day or moment; without a zone it is UTC. Raises ValueError."""
    stated = datetime.fromisoformat(cell)
    return stated.replace(tzinfo=UTC) if stated.tzinfo is None else stated.astimezone(UTC)


def _day_first(cell: str) -> bool | None:
    """Whether the day stands before the month; None where the cell does not tell, or parts them by points."""
    match = _DAY.fullmatch(cell)
    if not match or match[2] == "." or len(match[1]) > 2:
        return None
    first, second = int(match[1]), int(match[3])
    return None if max(first, second) <= 12 else first > 12


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
        return self._read(column, self.writing.whole_number, "no whole number: {}")

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
