"""The table that tells where pages and open documents state prices: `pricing/sources/data/pages.toml`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Literal

from msgspec import Struct, toml

from costcalc.offer import Payment, PurchaseOption
from pricing.packaged.names import UNSPECIFIED


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
