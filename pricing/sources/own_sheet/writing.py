"""How a sheet writes amounts and days, which differs by country: 1,234.50 or 1.234,50 or 1 234,50; 20.11.2026 or 11/20/2026.

What a cell alone can't tell, the others do; what none of them tells is refused with both readings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, date, datetime, time
from decimal import Decimal

from msgspec import Struct

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
        return Amount.of(cell).number(self.decimal, self.is_told)

    def whole_number(self, cell: str) -> int:
        """A whole number of zero or more. Raises ValueError."""
        number = self.amount(cell)
        if number % 1:
            raise ValueError(cell)
        return int(number)

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
