"""Sources that a table tells where pages and open documents state prices, with what it takes to read one more in thirty lines.

A rate is taken only from a cell that holds nothing but an amount of dollars. "Contact sales" and the like are no rate, and what
a rate starts from is left out and named. A page is asked at most once a day.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace as with_fields
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache, partial
from importlib.resources import files
from typing import Literal, Protocol

from msgspec import Struct, toml
from msgspec.structs import replace
from selectolax.lexbor import LexborHTMLParser, LexborNode

from costcalc.hardware import Machine
from costcalc.offer import Offer, Payment, PurchaseOption
from pricing.packaged.machine_facts import filled, packaged_machines
from pricing.packaged.names import UNSPECIFIED, accelerator
from pricing.sources.common.endpoint import Endpoint, Site, address
from pricing.sources.common.listing import Listing, amount
from pricing.sources.common.rows import LeftOut, read_rows
from pricing.sources.source import Bounds, Collected, SchemaChanged, SourceSpec


class Part(Struct, frozen=True, forbid_unknown_fields=True):
    """What stands `between` two pieces of a page's text, and the region for which it holds."""

    between: tuple[str, str]
    region: str = UNSPECIFIED


class Rate(Struct, frozen=True, forbid_unknown_fields=True):
    """The cell that holds the rate of one way to buy; `suffix` tells its machines from others with the same accelerators."""

    purchase: PurchaseOption
    rate: str
    term: str | None = None
    payment: Payment | None = None
    suffix: str = ""


class Page(Struct, frozen=True, forbid_unknown_fields=True):
    """One page or document; the comment at the top of the table says what each word means."""

    label: str
    url: str
    path: str
    source: str
    form: Literal["page", "document", "table"]
    name: str
    per: Literal["accelerator", "machine"]
    rates: tuple[Rate, ...]
    lists: str
    cannot_see: str
    notes: str = ""
    provider: str = ""
    parts: tuple[Part, ...] = ()
    rows: str = ""
    cells: str = ""
    names_types: bool = False
    only: str = ""
    accelerators: str = ""
    machines: dict[str, tuple[int, ...]] = {}
    memory_gib: str = ""
    vcpus: str = ""
    ram_gib: str = ""
    region: str = ""
    cents: bool = False


@cache
def pages() -> dict[str, Page]:
    """Every page by the name of its source."""
    table = files("pricing.sources").joinpath("data", "pages.toml").read_bytes()
    return toml.decode(table, type=dict[str, Page])


TAB = "tab"
FROM_A_DAY = re.compile(r"\(Effective (\w+ \d{1,2}, \d{4})\)")


class Row(Protocol):
    """One machine with its rates."""

    def text(self, cell: str) -> str:
        """The text of a cell; of several, separated by commas, one after the other; empty where there is none."""


class PageRow(Struct, frozen=True):
    """An element of a page, which has such `tabs`; cells are CSS selectors."""

    node: LexborNode
    tabs: dict[str, str]

    def text(self, cell: str) -> str:
        """Without doubled and non-breaking spaces."""
        if cell == TAB:
            above = self.node.parent
            while above is not None and (above.attributes or {}).get("id") not in self.tabs:
                above = above.parent
            return self.tabs[str(above.attributes["id"])] if above else ""
        nodes = [self.node.css_first(each.strip()) for each in cell.split(",") if cell]
        return " ".join(" ".join(node.text(separator=" ").split()) for node in nodes if node)


class DocumentRow(Struct, frozen=True):
    """An object of a JSON document; cells are dotted names."""

    entry: object

    def text(self, cell: str) -> str:
        """Values as JSON writes them, text as it is; null is empty."""
        return " ".join(filter(None, (self._value(each.strip()) for each in cell.split(","))))

    def _value(self, cell: str) -> str:
        node = self.entry
        for name in cell.split("."):
            if isinstance(node, list) and name.isdigit() and int(name) < len(node):
                node = node[int(name)]
            else:
                node = node.get(name) if isinstance(node, dict) else None
        return "" if node is None or isinstance(node, dict | list) else str(node)


class TableRow:
    """A row of a table; cells are how its headings begin."""

    def __init__(self, headings: Sequence[str], cells: Sequence[str], now: datetime) -> None:
        self._cells: list[tuple[str, str]] = []
        for heading, cell in zip(headings, cells, strict=False):
            announced = FROM_A_DAY.search(heading)
            if not announced:
                self._cells.append((heading, cell))
            elif datetime.strptime(f"{announced[1]} +0000", "%B %d, %Y %z") <= now and self._cells:
                self._cells[-1] = self._cells[-1][0], cell  # in the place of the rate beside which it was announced

    def text(self, cell: str) -> str:
        """The text below a heading; empty where there is none."""
        return next((text for heading, text in self._cells if cell and heading.startswith(cell)), "")


def document_rows(page: Page, document: object) -> Iterator[Row]:
    """The objects of a JSON document's list. Raises SchemaChanged where there is none."""
    node = document
    for name in filter(None, page.rows.split(".")):
        node = node.get(name) if isinstance(node, dict) else None
    if not isinstance(node, list):
        raise SchemaChanged(f"the answer holds no list of {page.rows or 'rows'}")
    return map(DocumentRow, node)


def page_rows(page: Page, part: Part, text: str, now: datetime) -> Iterator[Row]:
    """The rows between two pieces of a page's text. Raises SchemaChanged where the page has them no longer."""
    first, last = part.between
    _, has_first, rest = text.partition(first)
    between, has_last, _ = rest.partition(last)
    if not (has_first and has_last):
        raise SchemaChanged(f"the page has a new layout and holds no {last if has_first else first!r}")
    tree = LexborHTMLParser(between)
    if page.form == "table":
        yield from _table_rows(page, tree, now)
        return
    tabs = {str(node.attributes["aria-controls"]): node.text(strip=True) for node in tree.css("[aria-controls]")}
    for node in tree.css(page.rows):
        yield PageRow(node, tabs)


def _table_rows(page: Page, tree: LexborHTMLParser, now: datetime) -> Iterator[Row]:
    """The rows of tables, each below the headings that stand in its first row. Raises SchemaChanged where no table has them."""
    headings: list[str] = []
    for node in tree.css(page.rows):
        cells = [" ".join(cell.text(separator=" ").split()) for cell in node.css(page.cells)]
        if cells[:1] == [page.name]:
            headings = cells
        elif headings:
            yield TableRow(headings, cells, now)
    if not any(heading.startswith(rate.rate) for rate in page.rates for heading in headings):
        raise SchemaChanged("the page has a new layout, its table is unreadable")


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
    page, api = pages()[name], with_fields(api, headers=HEADERS)
    answer = api.get(page.path) if page.form == "document" else api.text(page.path)
    collected = offers(name, answer, now)
    return replace(collected, offers=tuple(filter(is_sold, collected.offers)))


def offers(name: str, answer: object, now: datetime) -> Collected:
    """The rates of a page's text or a document. Raises SourceError."""
    page = pages()[name]
    try:
        if page.form == "document":
            rows = [(UNSPECIFIED, row) for row in document_rows(page, answer)]
        else:
            rows = [(part.region, row) for part in page.parts for row in page_rows(page, part, str(answer), now)]
    except SchemaChanged as changed:
        raise SchemaChanged(f"{name}: {changed}") from None
    reader = _Reader(page.provider or name, page, now)
    return read_rows(name, rows, lambda each: reader.offers(*each))


class _Reader(Struct, frozen=True):
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
        packaged, listing = packaged_machines(self.provider), Listing(self.provider, self.page.source, self.now)
        region = row.text(self.page.region) or region
        for rate in self.page.rates:
            stated = self._stated(row.text(rate.rate), spelling)
            for name, machine in self._machines(row, spelling) if stated else ():
                hourly = stated * machine.accelerators if self.page.per == "accelerator" else stated
                kind, more = f"{name}{rate.suffix}", {"term": rate.term, "payment": rate.payment}
                rented = filled(machine, packaged.get(kind))
                yield listing.offer(region, kind, rented, hourly, purchase_option=rate.purchase, **more)

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

    def _machines(self, row: Row, spelling: str) -> Iterator[tuple[str, Machine]]:
        """The machines of a row by their types. Raises LeftOut, UnknownName, ValueError."""
        packaged = packaged_machines(self.provider)
        if self.page.names_types:
            if spelling not in packaged:
                raise LeftOut("machines that no packaged table has left out", spelling)
            yield spelling, packaged[spelling]
            return
        names = {(each.accelerator, each.accelerators): name for name, each in reversed(packaged.items())}
        memory_gib = _number(row.text(self.page.memory_gib))
        name = accelerator(self.provider, spelling, memory_gib)
        vcpus, ram_gib = (_number(row.text(cell)) or 0 for cell in (self.page.vcpus, self.page.ram_gib))
        for count in self._counts(row, spelling):
            shares = 1 if self.page.accelerators else count  # a page that counts no accelerators states those of one
            machine = Machine(name, count, memory_gib, int(vcpus * shares) or None, ram_gib * shares or None)
            yield names.get((name, count), f"{count}x {name}"), machine

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
