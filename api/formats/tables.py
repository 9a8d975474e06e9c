"""What a list is that people read: a table, and columns of several lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any

from msgspec import Struct

from api.formats import words
from api.formats.column import Column, Text, nothing
from costcalc.money import money

PRICE_FILTERS = ("provider", "region", "instance_type", "accelerator", "purchase")


class Table(Struct, frozen=True):
    """A list of rows of one type, whose fields are the columns of CSV and workbooks.

    `noun` is what a row is called, `rows` takes them out of the report, and `when` says of the JSON document which prices it is
    of. A page shows the `filters`, and leads to what is `beside`, by title and address. Of a list that comes whole,
    `find` is the text by which a page finds a row, as by `example`, and `first` the order in which it shows them. A list without
    a type of `row` comes in no sheet.
    """

    title: str
    intro: str
    noun: str
    row: type | None
    columns: tuple[Column, ...]
    filters: tuple[str, ...] = ()
    when: Text = nothing
    rows: Callable[[Any], Iterable[Any]] = lambda report: report.rows()
    find: Text | None = None
    example: str = ""
    first: Callable[[Any], Any] | None = None
    beside: tuple[tuple[str, str], ...] = ()


def day(moment: datetime | None) -> str:
    """A date, or nothing."""
    return f"{moment:%Y-%m-%d}" if moment else ""


def number(value: float | Decimal | None, form: str = ",.4g") -> str:
    """A number, or nothing where it is not known."""
    return "" if value is None else format(value, form)


def rate(value: Decimal | None) -> str:
    """A rate in cents, and in hundredths of a cent where it has them."""
    return number(value, ",.4f").removesuffix("00")


def gibibytes(value: float | None) -> str:
    """Memory, or nothing where it is not known."""
    return number(value, ",.0f") and f"{value:,.0f} GiB"


def offered_accelerators(row: Any) -> str:
    """The accelerators of an offer and where they are."""
    return words.in_region(words.accelerators(row), row.region)


def least_cost(row: Any) -> str:
    """What a task costs at least, where that is known."""
    return "no rate known" if row.cost is None else money(row.cost, row.currency)


MACHINE = Column("Machine", lambda row: f"{row.provider} {row.instance_type}", offered_accelerators)
BOUGHT = Column("Bought", words.bought)
RATE = Column(
    "Rate per hour",
    lambda row: f"{rate(row.hourly_rate)} {row.currency}",
    lambda row: f"{row.upfront:,.2f} upfront" if row.upfront else "",
    is_number=True,
)
SEEN = Column("Seen", lambda row: day(row.observed_at), source=lambda row: row.source)
