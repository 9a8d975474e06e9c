"""Cells of the packaged price tables as money, days, terms and named shares; a bad one says which column and why."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import TypeVar

from costcalc.evidence.tables import Row
from costcalc.offers import RatePart, term_hours

T = TypeVar("T")

PARTS_TOLERANCE = Decimal("1e-6")  # parts and their sum may each be rounded to nano-units


def optional(row: Row, column: str, read: Callable[[Row, str], T]) -> T | None:
    """What `read` makes of a cell, or None where it is blank."""
    return read(row, column) if row.maybe(column) else None


def amount(row: Row, column: str) -> Decimal:
    """A cell as an amount of money. Raises ValueError."""
    return decimal(row.text(column), column)


def decimal(text: str, column: str) -> Decimal:
    """A text as an amount of money, at least zero. Raises ValueError naming the column."""
    try:
        money = Decimal(text)
    except InvalidOperation:
        raise ValueError(f"{column} {text!r} is not a decimal number") from None
    if not money.is_finite() or money < 0:
        raise ValueError(f"{column} {text!r} is not an amount of money")
    return money


def day(row: Row, column: str) -> datetime:
    """Midnight UTC at which the day starts."""
    try:
        return datetime.combine(date.fromisoformat(row.text(column)), time(), UTC)
    except ValueError:
        raise ValueError(f"{column} {row.text(column)!r} is not an ISO date") from None


def term(row: Row, column: str) -> str:
    """A term such as `1y`. Raises ValueError on other text."""
    term_hours(row.text(column))
    return row.text(column)


def choice(kind: type[T], row: Row, column: str) -> T:
    """A cell as one of the words of an enumeration. Raises ValueError."""
    try:
        return kind(row.text(column))  # type: ignore[call-arg]
    except ValueError:
        raise ValueError(f"{column} {row.text(column)!r} is unknown") from None


def parts(row: Row) -> tuple[RatePart, ...]:
    """`Cloud TPU v2-8=6.50;host n1-standard-4=0.19` as named shares, which add up to the hourly rate."""
    pairs = (part.rpartition("=") for part in (row.maybe("parts") or "").split(";") if part)
    shares = tuple(RatePart(name, decimal(rate, "parts")) for name, _, rate in pairs)
    if shares and abs(sum(share.hourly for share in shares) - amount(row, "hourly_rate")) > PARTS_TOLERANCE:
        raise ValueError(f"the parts {row.text('parts')} do not add up to the hourly_rate {row.text('hourly_rate')}")
    return shares
