"""The sheet that finance keeps: own negotiated rates, rental quotes, own machines, as a CSV file or its web address.

Needs no permission beyond reading COSTCALC_SHEET. Sees exactly what the sheet says: nothing in it is looked up or guessed.
One fault refuses the whole sheet, so that a typing error never passes for a price; the message names row, column and what
to type. Columns are those of `COLUMNS`; docs/price-sources-others.md shows examples.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from functools import cache
from io import StringIO
from pathlib import Path
from typing import TypeVar

from costcalc.hardware import Machine
from costcalc.offers import Offer, Payment, PurchaseOption, term_hours
from pricing.amounts import spread
from pricing.endpoint import Endpoint
from pricing.facts import data_sheet_memory_gib, known_accelerators
from pricing.http import Http
from pricing.packaged import packaged_machines
from pricing.source import Collected, CredentialsMissing, Environment, SourceError, SourceSpec

T = TypeVar("T")

SETTING = "COSTCALC_SHEET"
NO_SHEET = f"set {SETTING} to the path or the web address of a CSV file"
REQUIRED = ("provider", "instance_type", "purchase_option", "currency")
COLUMNS: Mapping[str, str] = {
    "provider": "whose machine it is, as in answers: aws, gcp, ... or a name of your own",
    "region": "the provider's region; empty means any",
    "instance_type": "the provider's name of the machine, or one of your own",
    "accelerator": "such as V100, A100-80GB, TPU v3; may be empty for a machine that is known here",
    "accelerators": "how many the machine holds; may be empty likewise",
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
ANY_REGION = "any"
OWN = "own"
MOST_FAULTS = 10  # in one message
LARGEST_BYTES = 10_000_000
FURTHEST_EAST = timedelta(hours=14)  # where a day begins first
COMMITTED = (PurchaseOption.RESERVED, PurchaseOption.SAVINGS_PLAN, PurchaseOption.COMMITTED_USE)


class Fault(ValueError):
    """A cell that can't be taken; the message says what to type."""

    def __init__(self, column: str, advice: str) -> None:
        super().__init__(f"column {column}: {advice}")


@dataclass(frozen=True, slots=True)
class Sheet:
    """The source."""

    place: str
    http: Http

    def collect(self, now: datetime) -> Collected:
        """The sheet's rates. Raises SourceError naming rows and columns, CredentialsMissing where no sheet is set."""
        if not self.place:
            raise CredentialsMissing(f"sheet: {NO_SHEET}")
        return Collected(offers(_text(self._content()), now))

    def _content(self) -> bytes:
        if self.place.startswith(("http://", "https://")):
            return Endpoint(
                "sheet", self.http, self.place, hint=f"check {SETTING}: is the link readable without signing in?"
            ).bytes("")
        try:
            with Path(self.place).expanduser().open("rb") as file:
                return file.read(LARGEST_BYTES + 1)
        except OSError as error:
            raise SourceError(f"sheet: {self.place}: {error.strerror}; check {SETTING}") from None


def _text(content: bytes) -> str:
    """The text of a CSV in UTF-8, with or without the mark that spreadsheets put before it."""
    if len(content) > LARGEST_BYTES:
        raise SourceError(f"sheet: larger than {LARGEST_BYTES // 1_000_000} MB, is that a price sheet?")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = content[: error.start].count(b"\n") + 1
        raise SourceError(f"sheet: row {row} is not UTF-8: save it as 'CSV UTF-8 (comma delimited)'") from None


def offers(text: str, now: datetime) -> tuple[Offer, ...]:
    """The sheet's rows as offers. Raises SourceError with every fault, by row and column, up to ten."""
    found: dict[tuple[str, ...], tuple[int, Offer]] = {}
    faults: list[str] = []
    for number, cells in _rows(text):
        try:
            offer = _offer(Cells(cells), now)
            first = found.setdefault(offer.key, (number, offer))[0]
            if first != number:
                advice = f"row {first} says the same: delete one, or tell them apart by offering_class"
                raise Fault("instance_type", advice)
        except Fault as fault:
            faults.append(f"row {number}, {fault}")
        except ValueError as fault:
            faults.append(f"row {number}: {fault}")
    if faults:
        more = [f"and {len(faults) - MOST_FAULTS} more"] if len(faults) > MOST_FAULTS else []
        raise SourceError("sheet: " + "; ".join(faults[:MOST_FAULTS] + more))
    if not found:
        raise SourceError("sheet: no rows below the header")
    return tuple(offer for _, offer in found.values())


def _rows(text: str) -> Iterator[tuple[int, dict[str, str]]]:
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
            raise SourceError(
                f"sheet: row {number} has {len(row)} cells, the header {len(header)}: quote cells that hold {delimiter!r}"
            )
        yield number, {name: cell.strip() for name, cell in zip(header, row, strict=False)}


def _check(header: list[str]) -> None:
    for name in header:
        if name and name not in COLUMNS:
            near = next(iter(get_close_matches(name, COLUMNS, 1)), None)
            raise SourceError(
                f"sheet: row 1, no column is called {name!r}: type {near or 'one of ' + ', '.join(COLUMNS)}"
            )
        if name and header.count(name) > 1:
            raise SourceError(f"sheet: row 1, column {name} stands there twice: delete one")
    missing = [name for name in REQUIRED if name not in header]
    if missing:
        raise SourceError(f"sheet: row 1 lacks the column {', '.join(missing)}: add it to the header")


@dataclass(frozen=True, slots=True)
class Cells:
    """One row with typed access; every method raises Fault saying what to type."""

    cells: Mapping[str, str]

    def maybe(self, column: str) -> str | None:
        """A cell's text, None where it is empty."""
        return self.cells.get(column) or None

    def text(self, column: str) -> str:
        """A cell that must not be empty."""
        found = self.maybe(column)
        if found is None:
            raise Fault(column, f"is empty: type {COLUMNS[column]}")
        return found

    def money(self, column: str) -> Decimal | None:
        """An amount of zero or more."""
        found = self.maybe(column)
        if found is None:
            return None
        try:
            amount = Decimal(found)
        except InvalidOperation:
            amount = Decimal("nan")
        if not amount.is_finite() or amount < 0:
            raise Fault(
                column, f"{found!r} is no amount: type digits with a point, such as 1234.50, without a currency sign"
            )
        return amount

    def whole(self, column: str) -> int | None:
        """A whole number of zero or more."""
        found = self.maybe(column)
        if found is not None and not (found.isascii() and found.isdigit()):
            raise Fault(column, f"{found!r} is no whole number: type digits only, such as 8")
        return None if found is None else int(found)

    def number(self, column: str) -> float | None:
        """A number of zero or more."""
        found = self.money(column)
        return None if found is None else float(found)

    def day(self, column: str) -> datetime | None:
        """Midnight UTC at which a day starts."""
        found = self.maybe(column)
        try:
            return datetime.combine(date.fromisoformat(found), time(), UTC) if found else None
        except ValueError:
            raise Fault(column, f"{found!r} is no date: type year-month-day, such as 2026-11-20") from None

    def choice(self, column: str, read: Callable[[str], T], *known: str) -> T | None:
        """One of a few words, in either case."""
        found = self.maybe(column)
        try:
            return read(found.casefold()) if found else None
        except ValueError:
            raise Fault(column, f"{found!r} is unknown: type {' or '.join(known)}") from None


def _offer(cells: Cells, now: datetime) -> Offer:
    option = cells.choice("purchase_option", PurchaseOption, *_OPTIONS)
    if option is None or option is PurchaseOption.FREE:
        raise Fault("purchase_option", f"type {' or '.join(_OPTIONS)}")
    terms = _terms(cells, option)
    hours = cells.whole("hours_in_month") or 730
    return Offer(
        provider=cells.text("provider").casefold(),
        region=cells.maybe("region") or ANY_REGION,
        instance_type=cells.text("instance_type"),
        machine=_machine(cells),
        purchase_option=option,
        hourly_rate=_hourly(cells, option, terms, hours),
        observed_at=_observed(cells, now),
        source=cells.maybe("source") or "price sheet",
        term=terms,
        payment=cells.choice("payment", Payment, *(payment.value for payment in Payment)),
        offering_class=cells.maybe("offering_class") or OWN,
        upfront=cells.money("upfront"),
        recurring_hourly=cells.money("recurring_hourly"),
        monthly=cells.money("monthly"),
        hours_in_month=hours,
        currency=_currency(cells),
        effective_from=cells.day("effective_from"),
        flags=tuple(flag.strip() for flag in (cells.maybe("flags") or "").split(";") if flag.strip()),
        billing_increment_seconds=cells.whole("billing_increment_seconds") or 1,
        minimum_seconds=cells.whole("minimum_seconds") or 0,
    )


_OPTIONS = tuple(option.value for option in PurchaseOption if option is not PurchaseOption.FREE)


def _machine(cells: Cells) -> Machine:
    """As typed; a packaged machine type fills in what is left empty."""
    known = _packaged(cells.text("provider").casefold()).get(cells.text("instance_type"))
    accelerator, count = cells.maybe("accelerator"), cells.whole("accelerators")
    if known is not None and not accelerator and not count:
        return known
    names = known_accelerators()
    found = next((name for name in names if name.casefold() == cells.text("accelerator").casefold()), None)
    if found is None:
        near = next(iter(get_close_matches(cells.text("accelerator"), names, 1, 0.4)), "one of costcalc's accelerators")
        raise Fault("accelerator", f"{accelerator!r} is unknown: type {near}")
    if not count:
        raise Fault("accelerators", f"type {COLUMNS['accelerators']}, 1 or more")
    memory = cells.number("accelerator_memory_gib") or data_sheet_memory_gib(found)
    return Machine(found, count, memory, cells.whole("vcpus"), cells.number("memory_gib"))


_packaged = cache(packaged_machines)


def _terms(cells: Cells, option: PurchaseOption) -> str | None:
    term = cells.choice("term", _read_term, "1mo, 3mo, 6mo, 1y, 2y, 3y, 5y", "a number of days such as 14d")
    needed = (*COMMITTED, PurchaseOption.OWNED, PurchaseOption.CAPACITY_BLOCK)
    if term is None and option in needed:
        raise Fault("term", f"is empty for {option}: type {COLUMNS['term']}")
    return term or ("1mo" if option is PurchaseOption.MONTHLY else None)


def _read_term(text: str) -> str:
    term_hours(text)
    return text


def _hourly(cells: Cells, option: PurchaseOption, term: str | None, hours_in_month: int) -> Decimal:
    """The effective rate: as typed, or a month over its hours, or the upfront over the term plus what recurs."""
    hourly, month, upfront = (cells.money(column) for column in ("hourly_rate", "monthly", "upfront"))
    recurring = cells.money("recurring_hourly")
    if option is PurchaseOption.OWNED and (upfront is None or recurring is None):
        raise Fault(
            "upfront" if upfront is None else "recurring_hourly",
            "an owned machine needs its price and its running cost: type both, 0 if it costs nothing",
        )
    spread_out = (
        None
        if upfront is None or term is None
        else spread(upfront, term_hours(term, hours_in_month)) + (recurring or 0)
    )
    rates = {
        "hourly_rate": hourly,
        "monthly": None if month is None else spread(month, hours_in_month),
        "upfront": spread_out,
    }
    given = {column: rate for column, rate in rates.items() if rate is not None}
    if not given:
        raise Fault("hourly_rate", "no price in this row: type hourly_rate, or monthly, or upfront and term")
    rate = next(iter(given.values()))
    if rate == 0:
        raise Fault(next(iter(given)), "a price of 0 is no price: type what the machine costs")
    for column, other in given.items():
        if abs(other - rate) > rate / 100:
            raise Fault(
                column, f"comes to {other:.4f} an hour, {next(iter(given))} to {rate:.4f}: leave one of them empty"
            )
    return rate


def _observed(cells: Cells, now: datetime) -> datetime:
    """The day of the quote; where a day has begun that hasn't in UTC, now."""
    day = cells.day("observed_at")
    if day is not None and day - now > FURTHEST_EAST:
        advice = f"lies ahead: type the day of the quote, at the latest {now:%Y-%m-%d}"
        raise Fault("observed_at", f"{cells.text('observed_at')!r} {advice}")
    return min(day or now, now)


def _currency(cells: Cells) -> str:
    found = cells.text("currency").upper()
    if not (len(found) == 3 and found.isascii() and found.isalpha()):
        raise Fault("currency", f"{cells.text('currency')!r} is no currency: type three letters, such as USD or EUR")
    return found


def _build(environment: Environment, http: Http) -> Sheet:
    return Sheet(environment.get(SETTING) or "", http)


def _missing(environment: Environment) -> str | None:
    return None if environment.get(SETTING) else NO_SHEET


SPEC = SourceSpec("sheet", "Price sheet of your own", _build, {SETTING: None}, missing=_missing)
