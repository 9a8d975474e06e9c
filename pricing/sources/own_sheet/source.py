"""The sheet that finance keeps: own negotiated rates, rental quotes and machines, as a CSV file or its web address; or a bill.

Nothing in it is looked up or guessed. One fault refuses the whole sheet, so that a typing error never passes for a price; the
message names row, column and what to type. `docs/price-sources-sheet.md` lists the columns.
"""

from __future__ import annotations

import csv
import gzip
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from difflib import get_close_matches
from functools import partial
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import IO, cast

from msgspec import Struct
from msgspec.structs import replace

from costcalc.hardware import Machine
from costcalc.offer import (
    AVAILABLE,
    COMMITMENTS,
    COPIED,
    ENDED,
    NO_CAPACITY,
    OFF_MARKET,
    ROUNDED,
    SECOND_HAND,
    YOURS,
    Offer,
    Payment,
    PurchaseOption,
    term_hours,
)
from costcalc.units import HOURS_PER_MONTH
from pricing.packaged.machine_facts import data_sheet_memory_gib, known_accelerators, packaged_machines
from pricing.packaged.names import ANY as ANYBODY
from pricing.packaged.names import UnknownName, accelerator
from pricing.packaged.places import region_of
from pricing.packaged.providers import provider_code
from pricing.scope import EVERYTHING, Key
from pricing.sources.common.endpoint import Endpoint
from pricing.sources.common.http import Http
from pricing.sources.common.listing import spread
from pricing.sources.own_sheet import bills
from pricing.sources.own_sheet.sheet_rows import COLUMNS, NUMBERS, CellFault, SheetRow, SheetTable, quoted
from pricing.sources.source import Bounds, Collected, CredentialsMissing, SourceError, SourceSetting, SourceSpec

SHEET = SourceSetting(
    "COSTCALC_SHEET",
    "path or web address of a CSV file, or of a FOCUS or AWS bill; a link that opens without signing in is a secret",
)
NO_SHEET = f"set {SHEET.variable} to the path or the web address of a CSV file"
OWN = "own"
MOST_FAULTS = 10  # in one message
TELL_APART = "delete one, or tell them apart by offering_class or effective_from"
LONG_AGO = datetime.min.replace(tzinfo=UTC)
LARGEST_BYTES = 10_000_000
LONGEST_HEADER = 65_536
GZIP = b"\x1f\x8b"
FURTHEST_EAST = timedelta(hours=14)  # where a day begins first
OF_HANDS = frozenset({SECOND_HAND, ROUNDED, COPIED, OFF_MARKET, AVAILABLE, NO_CAPACITY, ENDED, YOURS})
"""Flags of our own export that say who stated a rate, and when: in a sheet its owner does."""
WHOLE = ("accelerators", "vcpus", "hours_in_month", "billing_increment_seconds", "minimum_seconds")
MONTHS = range(28 * 24, 31 * 24 + 1)  # in hours
BOUND = COMMITMENTS | {PurchaseOption.OWNED, PurchaseOption.CAPACITY_BLOCK}


class Sheet(Struct, frozen=True):
    """The source."""

    place: str
    http: Http

    def collect(self, now: datetime) -> Collected:
        """The sheet's rates. Raises SourceError naming rows and columns, CredentialsMissing where no sheet is set."""
        if not self.place:
            raise CredentialsMissing(f"sheet: {NO_SHEET}")
        try:
            with self._opened() as file:
                return bill(file, now) or sheet(file.read(LARGEST_BYTES + 1), now)
        except (OSError, EOFError, zlib.error, csv.Error) as error:
            reason = getattr(error, "strerror", None) or f"cannot be read: {error}"
            raise SourceError(f"sheet: {self.place}: {reason}; check {SHEET.variable}") from None

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        """The file, unpacked."""
        if self.place.startswith(("http://", "https://")):
            hint = f"check {SHEET.variable}: is the link readable without signing in?"
            file: IO[bytes] = BytesIO(Endpoint("sheet", self.http, self.place, hint=hint).bytes(""))
        else:
            file = Path(self.place).expanduser().open("rb")
        with file:
            is_packed = file.read(len(GZIP)) == GZIP
            file.seek(0)
            yield cast(IO[bytes], gzip.GzipFile(fileobj=file)) if is_packed else file


def bill(file: IO[bytes], now: datetime) -> Collected | None:
    """The rates of a bill, read row by row; None, with the file at its start, where its header is that of none."""
    header = file.readline(LONGEST_HEADER).decode("utf-8-sig", "replace").replace("\0", "").strip()
    delimiter = max(",;\t", key=header.count)
    names = bills.named(next(csv.reader([header], delimiter=delimiter), []))
    read = bills.reader(names)
    if read is None:
        file.seek(0)
        return None
    text = TextIOWrapper(file, "utf-8", "replace", newline="")
    try:
        rows = csv.reader(text, delimiter=delimiter)
        return bills.collected((dict(zip(names, row, strict=False)) for row in rows), read, now)
    finally:
        text.detach()


def sheet(content: bytes, now: datetime) -> Collected:
    """The rates of a price sheet, as a spreadsheet saves it."""
    if len(content) > LARGEST_BYTES:
        raise SourceError(f"sheet: larger than {LARGEST_BYTES // 1_000_000} MB, is that a price sheet?")
    notes: tuple[str, ...] = ()
    try:
        text = content.decode("utf-16" if content[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8-sig")
    except UnicodeDecodeError as error:
        row = content[: error.start].count(b"\n") + 1
        try:  # as Excel saves in Western Europe; of other code pages words alone come out wrong, digits are the same in all
            text = content.decode("cp1252")
        except UnicodeDecodeError:
            raise SourceError(f"sheet: row {row} is not UTF-8: save it as 'CSV UTF-8 (comma delimited)'") from None
        notes = (f"row {row} is not UTF-8; read as Windows-1252, as Excel saves",)
    return Collected(offers(text, now), whole=(EVERYTHING,), notes=notes)


def offers(text: str, now: datetime) -> tuple[Offer, ...]:
    """The sheet's rows as offers. Raises SourceError with every fault, by row and column, up to ten."""
    table = SheetTable.of(text)
    if any(row.is_export for _, row in table.rows):  # lists free tiers too, which no sheet can state
        free = PurchaseOption.FREE
        table = replace(table, rows=tuple(each for each in table.rows if each[1].maybe("purchase_option") != free))
    read: dict[tuple[Key, datetime | None], tuple[int, Offer]] = {}
    faults = list(table.faults)
    for number, row in table.rows:
        told = [f"row {number}, {fault}" for fault in dict.fromkeys(map(str, _faults_of_cells(row, now)))]
        faults += told
        try:
            offer = None if told else _offer(row, now)
            if offer and (first := read.setdefault((offer.key, offer.effective_from), (number, offer)))[0] != number:
                raise CellFault("instance_type", f"row {first[0]} says the same: {TELL_APART}")
        except CellFault as fault:
            faults.append(f"row {number}, {fault}")
        except ValueError as fault:
            faults.append(f"row {number}: {fault}")
    if faults:
        more = [f"and {len(faults) - MOST_FAULTS} more"] if len(faults) > MOST_FAULTS else []
        raise SourceError("sheet: " + "; ".join(faults[:MOST_FAULTS] + more))
    if not read:
        raise SourceError("sheet: no rows below the header")
    return tuple(_counting([offer for _, offer in read.values()], now))


def _faults_of_cells(row: SheetRow, now: datetime) -> Iterator[CellFault]:
    """What is wrong with each cell of a row for itself."""
    provider = provider_code(row.maybe("provider") or "")
    checks: list[Callable[[], object]] = [
        *(partial(row.text, column) for column in ("provider", "instance_type")),
        partial(_region, row, provider),
        partial(_option, row),
        partial(_payment, row),
        partial(_read_term_of, row),
        partial(_accelerator, row),
        partial(_machine, row, provider),
        *(partial(row.number, column) for column in NUMBERS),
        *(partial(row.whole, column) for column in WHOLE),
        row.currency,
        partial(_observed, row, now),
        partial(row.day, "effective_from"),
    ]
    for check in checks:
        try:
            check()
        except CellFault as fault:
            yield fault


def _option(row: SheetRow) -> PurchaseOption:
    option = row.choice("purchase_option", _read_option, *_OPTIONS)
    if option is None or option is PurchaseOption.FREE:
        raise CellFault("purchase_option", f"type {' or '.join(_OPTIONS)}")
    return option


def _read_option(text: str) -> PurchaseOption:
    spelt = {option.replace("_", ""): option for option in PurchaseOption}
    return PurchaseOption(spelt.get(text.replace("_", ""), text))


def _payment(row: SheetRow) -> Payment | None:
    return row.choice("payment", Payment, *(payment.value for payment in Payment))


def _read_term_of(row: SheetRow) -> str | None:
    return row.choice("term", _read_term, "1mo, 3mo, 6mo, 1y, 2y, 3y, 5y", "a number of days such as 14d")


def _counting(stated: Sequence[Offer], now: datetime) -> Iterator[Offer]:
    """Of the rates of each offer the one that holds now, which is the last to have begun, and those that begin later."""
    begun: dict[Key, Offer] = {}
    for offer in sorted(stated, key=lambda offer: offer.effective_from or LONG_AGO):
        if (offer.effective_from or LONG_AGO) <= now:
            begun[offer.key] = offer
        else:
            yield offer
    yield from begun.values()


def _offer(row: SheetRow, now: datetime) -> Offer:
    option = _option(row)
    terms, provider = _terms(row, option), provider_code(row.text("provider"))
    hours = row.whole("hours_in_month") or _hours_in_month(row)
    return Offer(
        provider=provider,
        region=_region(row, provider),
        instance_type=row.text("instance_type"),
        machine=_machine(row, provider),
        purchase_option=option,
        hourly_rate=_hourly(row, option, terms, hours),
        observed_at=_observed(row, now),
        source=row.maybe("source") or "price sheet",
        term=terms,
        payment=_payment(row),
        offering_class=row.maybe("offering_class") or OWN,
        upfront=row.money("upfront"),
        recurring_hourly=row.money("recurring_hourly"),
        monthly=row.money("monthly"),
        hours_in_month=hours,
        currency=row.currency(),
        effective_from=row.day("effective_from"),
        flags=tuple(
            flag for flag in map(str.strip, (row.maybe("flags") or "").split(";")) if flag and flag not in OF_HANDS
        ),
        billing_increment_seconds=row.whole("billing_increment_seconds") or 1,
        minimum_seconds=row.whole("minimum_seconds") or 0,
    )


def _region(row: SheetRow, provider: str) -> str:
    typed = row.maybe("region") or ""
    try:
        return region_of(provider, typed)
    except ValueError as fault:
        if row.is_export:  # some rates hold in a whole country
            return typed
        raise CellFault("region", str(fault)) from None


def _hours_in_month(row: SheetRow) -> int:
    """The hours that a month counts where the row has the rate of an hour beside it, as our own export does."""
    hourly, month = row.money("hourly_rate"), row.money("monthly")
    hours = round(month / hourly) if hourly and month else HOURS_PER_MONTH
    return hours if hours in MONTHS else HOURS_PER_MONTH


_OPTIONS = tuple(option.value for option in PurchaseOption if option is not PurchaseOption.FREE)


def _accelerator(row: SheetRow) -> str | None:
    """The accelerator of the name that is typed, ours or one that providers use (H100-SXM). Raises CellFault."""
    typed, names = row.maybe("accelerator"), known_accelerators()
    if typed is None or row.is_export:
        return typed
    memory_gib = _gib(row, "accelerator_memory_gib")
    ours = next((name for name in names if name.casefold() == typed.casefold()), None)
    with suppress(UnknownName):
        return ours or accelerator(ANYBODY, typed, memory_gib)
    near = next(iter(get_close_matches(typed, names, 1, 0.4)), "one of costcalc's accelerators")
    raise CellFault("accelerator", f"{quoted(typed)} is unknown: type {near}")


def _machine(row: SheetRow, provider: str) -> Machine:
    """The machine as typed; a packaged machine type fills in empty cells."""
    packaged = packaged_machines(provider).get(row.text("instance_type"))
    count, typed = row.whole("accelerators"), row.maybe("accelerator")
    if packaged is not None and not count and typed in (None, packaged.accelerator):
        return packaged
    canonical = _accelerator(row) or row.text("accelerator")
    if not count and not row.is_export:
        raise CellFault("accelerators", f"type {COLUMNS['accelerators']}, 1 or more")
    memory = _gib(row, "accelerator_memory_gib") or data_sheet_memory_gib(canonical)
    return Machine(canonical, count or 0, memory, row.whole("vcpus"), _gib(row, "memory_gib"))


def _gib(row: SheetRow, column: str) -> float | None:
    gib = row.number(column)
    if gib is not None and gib > MOST_GIB[column] and not row.is_export:
        raise CellFault(column, f"{gib:,.0f} GiB is too much; if it is MiB, type {gib / 1024:g}")
    return gib


MOST_GIB = {"accelerator_memory_gib": 2048, "memory_gib": 65536}


def _terms(row: SheetRow, option: PurchaseOption) -> str | None:
    term = _read_term_of(row)
    if term is None and option in BOUND:
        raise CellFault("term", f"is empty for {option}: type {COLUMNS['term']}")
    return term or ("1mo" if option is PurchaseOption.MONTHLY else None)


def _read_term(text: str) -> str:
    term_hours(text)
    return text


def _hourly(row: SheetRow, option: PurchaseOption, term: str | None, hours_in_month: int) -> Decimal:
    """The effective rate: as typed, or a month over its hours, or the upfront over the term plus what recurs."""
    hourly, month, upfront = (row.money(column) for column in ("hourly_rate", "monthly", "upfront"))
    recurring = row.money("recurring_hourly")
    if option is PurchaseOption.OWNED and (upfront is None or recurring is None):
        empty = "upfront" if upfront is None else "recurring_hourly"
        advice = "type both, 0 if it costs nothing"
        raise CellFault(empty, f"an owned machine needs its price and its running cost: {advice}")
    paid = {
        "hourly_rate": hourly,
        "monthly": month and spread(month, hours_in_month),
        "upfront": spread(upfront, term_hours(term, hours_in_month)) + (recurring or 0)
        if upfront is not None and term
        else None,
    }
    return _agreed({column: rate for column, rate in paid.items() if rate is not None})


def _agreed(given: Mapping[str, Decimal]) -> Decimal:
    """The first of the hourly rates that the columns come to, if all agree within 1 %. Raises CellFault."""
    if not given:
        raise CellFault("hourly_rate", "no price in this row: type hourly_rate, or monthly, or upfront and term")
    first, rate = next(iter(given.items()))
    if rate == 0:
        raise CellFault(first, "a price of 0 is no price: type what the machine costs")
    for column, other in given.items():
        if abs(other - rate) > rate / 100:
            raise CellFault(column, f"comes to {other:.4f} an hour, {first} to {rate:.4f}: leave one of them empty")
    return rate


def _observed(row: SheetRow, now: datetime) -> datetime:
    """The day of the quote; now, if that day has not begun in UTC."""
    day = row.day("observed_at")
    if day is not None and day - now > FURTHEST_EAST:
        advice = f"lies ahead: type the day of the quote, at the latest {now:%Y-%m-%d}"
        raise CellFault("observed_at", f"{quoted(row.text('observed_at'))} {advice}")
    return min(day or now, now)


SPEC = SourceSpec(
    name="sheet",
    label="Your own price sheet",
    build=lambda environment, http: Sheet(SHEET.read(environment), http),
    rates="your own rates, quotes and machines",
    needs="a CSV file, or an address of one that opens without signing in",
    cannot_see="what the sheet doesn't say",
    settings=(SHEET,),
    missing=lambda environment: None if SHEET.read(environment) else NO_SHEET,
    is_own=True,
    bounds=Bounds(document_mib=16, memory_mib=96, offers=10_000),
)
