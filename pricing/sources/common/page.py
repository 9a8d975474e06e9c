"""Sources that a table tells where pages and open documents state prices, with what it takes to read one more in thirty lines.

A rate is taken only from a cell that holds nothing but an amount of dollars. "Contact sales" and the like are no rate, and what
a rate starts from is left out and named. A page is asked at most once a day.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial

from msgspec.structs import replace

from costcalc.hardware import Machine
from costcalc.offer import Offer
from pricing.packaged.machine_facts import filled, packaged_machines
from pricing.packaged.names import UNSPECIFIED, accelerator
from pricing.sources.common.endpoint import Endpoint, Site, address
from pricing.sources.common.listing import Listing, amount
from pricing.sources.common.page_rows import Row, document_rows, page_rows
from pricing.sources.common.page_table import Page, Rate, pages
from pricing.sources.common.rows import LeftOut, read_rows
from pricing.sources.source import Bounds, Collected, SchemaChanged, SourceSpec

ONCE_A_DAY = timedelta(hours=23)
HEADERS = {"User-Agent": "Mozilla/5.0 (compatible; costcalc)"}  # some refuse a client that names no browser
AMOUNT = re.compile(r"\$?\s*(\d[\d,]*(?:\.\d+)?)(?:\s*/\s*(?:GPU-|1 )?h(?:ou)?r)?", re.IGNORECASE)
NUMBER = re.compile(r"(\d[\d,]*(?:\.\d+)?)\s*(?:Gi?B|x|\^\d)?", re.IGNORECASE)  # ^1 is a footnote
FLOOR = re.compile(r"from\b.*\d", re.IGNORECASE)
CENTS = 100


def page_spec(name: str, is_sold: Callable[[Offer], bool] = lambda _: True) -> SourceSpec:
    """The source of this name in the table, without the rates of what is not sold so."""
    page = pages()[name]
    return Site(name, address(f"COSTCALC_{name.replace('-', '_').upper()}_URL", page.url)).spec(
        partial(collect, name, is_sold),
        page.label,
        rates=page.lists,
        cannot_see=page.cannot_see,
        bounds=Bounds(memory_mib=32),
        at_most_every=ONCE_A_DAY,
    )


def collect(name: str, is_sold: Callable[[Offer], bool], api: Endpoint, now: datetime) -> Collected:
    """Every rate that the page or document states. Raises SourceError."""
    page, api = pages()[name], Endpoint(api.source, api.http, api.url, HEADERS, api.hint, api.refusal)
    answer = api.get(page.path) if page.form == "document" else api.text(page.path)
    collected = offers(name, answer, now)
    return replace(collected, offers=tuple(filter(is_sold, collected.offers)))


def offers(name: str, answer: object, now: datetime) -> Collected:
    """The rates of a page's text or a document. Raises SourceError."""
    page = pages()[name]
    try:
        rows = list(_rows(page, answer, now))
    except SchemaChanged as changed:
        raise SchemaChanged(f"{name}: {changed}") from None
    reader = _Reader(page.provider or name, page, now)
    return read_rows(name, rows, lambda each: reader.offers(*each))


def _rows(page: Page, answer: object, now: datetime) -> Iterator[tuple[str, Row]]:
    """Each row with the region of its part."""
    if page.form == "document":
        yield from ((UNSPECIFIED, row) for row in document_rows(page, answer))
    else:
        yield from ((part.region, row) for part in page.parts for row in page_rows(page, part, str(answer), now))


@dataclass(frozen=True, slots=True)
class _Reader:
    provider: str
    page: Page
    now: datetime

    def offers(self, region: str, row: Row) -> Iterator[Offer]:
        """The offers of a row, of each size that can be rented. Raises LeftOut, UnknownName, ValueError."""
        spelling = row.text(self.page.name)
        if not spelling:
            raise ValueError("a row without a name")
        if self.page.only and row.text(self.page.only) == "False":
            return
        for rate in self.page.rates:
            stated = self._stated(row.text(rate.rate), spelling)
            for name, machine in self._machines(row, spelling) if stated else ():
                hourly = stated * machine.accelerators if self.page.per == "accelerator" else stated
                rented = f"{name}{rate.suffix}", machine
                yield self._offer(rate, rented, row.text(self.page.region) or region, hourly)

    def _stated(self, cell: str, spelling: str) -> Decimal:
        """The amount in a cell, 0 where words stand in its place. Raises LeftOut for a floor, ValueError for what is unclear."""
        if FLOOR.match(cell):
            raise LeftOut("of which only what they start from is stated left out", spelling)
        price = AMOUNT.fullmatch(cell)
        if price:
            return amount(price[1].replace(",", "")) / (CENTS if self.page.cents else 1)
        if any(map(str.isdigit, cell)) or (cell and self.page.form == "document"):
            raise ValueError(f"{cell!r} is no rate by the hour")
        return Decimal(0)

    def _offer(self, rate: Rate, rented: tuple[str, Machine], region: str, hourly: Decimal) -> Offer:
        name, machine = rented
        machine = filled(machine, packaged_machines(self.provider).get(name))
        more = {"purchase_option": rate.purchase, "term": rate.term, "payment": rate.payment}
        return Listing(self.provider, self.page.source, self.now).offer(region, name, machine, hourly, **more)

    def _name(self, machine: Machine) -> str:
        """The name of the packaged machine with these accelerators, if any."""
        held, packaged = (machine.accelerator, machine.accelerators), packaged_machines(self.provider).items()
        names = (name for name, each in packaged if (each.accelerator, each.accelerators) == held)
        return next(names, f"{held[1]}x {held[0]}")

    def _machines(self, row: Row, spelling: str) -> Iterator[tuple[str, Machine]]:
        """The machines of a row by their types. Raises LeftOut, UnknownName, ValueError."""
        if self.page.names_types:
            packaged = packaged_machines(self.provider).get(spelling)
            if packaged is None:
                raise LeftOut("machines that no packaged table has left out", spelling)
            yield spelling, packaged
            return
        memory_gib = _number(row.text(self.page.memory_gib))
        name = accelerator(self.provider, spelling, memory_gib)
        vcpus, ram_gib = (_number(row.text(cell)) or 0 for cell in (self.page.vcpus, self.page.ram_gib))
        for count in self._counts(row, spelling):
            shares = 1 if self.page.accelerators else count  # a page that counts no accelerators states those of one
            machine = Machine(name, count, memory_gib, int(vcpus * shares) or None, ram_gib * shares or None)
            yield self._name(machine), machine

    def _counts(self, row: Row, spelling: str) -> tuple[int, ...]:
        if not self.page.accelerators:
            return next((counts for words, counts in self.page.machines.items() if words in spelling), (1,))
        stated = _number(row.text(self.page.accelerators))
        if not stated:
            raise ValueError(f"{spelling!r} without a count of accelerators")
        return (int(stated),)


def _number(text: str) -> float | None:
    """The number that a cell states, with its unit or a footnote; None where it states none, or a range."""
    stated = NUMBER.fullmatch(text)
    return float(stated[1].replace(",", "")) if stated else None
