"""Scaleway's GPU Instances, on demand, in euros without VAT.

Each zone lists its commercial types with their prices and, apart from them, which are in stock: a type in `shortage` is
flagged `no_capacity`. The monthly price is 730 hours and binds nobody to a month, so it is no offer. Slices of an accelerator
and types that are being retired stay out. RENDER-S is billed by the hour, all others by the minute. Block storage and a public
address cost extra.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

from msgspec import Struct, convert

from costcalc.offer import Offer
from pricing.scope import Scope
from pricing.sources.common.endpoint import ApiSource, Endpoint, Site, address
from pricing.sources.common.listing import Listing
from pricing.sources.common.rows import LeftOut, read_rows
from pricing.sources.source import Collected, SchemaChanged, SourceSetting, SourceSpec, separated

SOURCE = "Scaleway API products/servers"
PATH = "/instance/v1/zones/{zone}/products/servers"
STOCK_PATH = PATH + "/availability"
PAGE_SIZE = 100  # the most it gives
MOST_PAGES = 100
SHORTAGE = "shortage"
BYTES_IN_GIB = 2**30
SITE = Site("scaleway", address("COSTCALC_SCALEWAY_URL", "https://api.scaleway.com"))
WITH_GPUS = "fr-par-1,fr-par-2,pl-waw-2"  # in August 2026
ZONES = SourceSetting("COSTCALC_SCALEWAY_ZONES", "zones to read, separated by commas", WITH_GPUS)


class GpuInfo(Struct):
    """An accelerator of a type, and its memory in bytes."""

    gpu_name: str
    gpu_memory: int


class ServerType(Struct):
    """A commercial type: euros an hour for the whole machine, memory in bytes."""

    hourly_price: Decimal
    gpu: int
    ncpus: int
    ram: int
    gpu_info: GpuInfo | None = None
    mig_profile: str | None = None
    end_of_service: bool = False


class Place(Struct):
    """A commercial type where it is listed; `stock` is `available`, `scarce`, `shortage`, or None where it is not said."""

    zone: str
    name: str
    row: Any
    stock: str | None


def collect(api: Endpoint, now: datetime, zones: tuple[str, ...]) -> Collected:
    """Every type with whole accelerators in every zone. Raises SourceError."""
    places, listing = [], Listing("scaleway", SOURCE, now, "EUR")
    for zone in zones:
        stock = _servers(api, STOCK_PATH.format(zone=zone))
        for name, row in _servers(api, PATH.format(zone=zone)).items():
            places.append(Place(zone, name, row, (stock.get(name) or {}).get("availability")))
    return read_rows("scaleway", places, partial(_offers, listing=listing), Scope(regions=frozenset(zones)))


def _servers(api: Endpoint, path: str) -> dict[str, Any]:
    """The servers on all pages. Only a header tells how many there are, so the last page is the first that is not full."""
    servers: dict[str, Any] = {}
    for page in range(1, MOST_PAGES):
        document = api.get(path, per_page=str(PAGE_SIZE), page=str(page))
        on_page = document.get("servers") if isinstance(document, dict) else None
        if not isinstance(on_page, dict):
            raise SchemaChanged("scaleway: the answer holds no servers")
        servers |= on_page
        if len(on_page) < PAGE_SIZE:
            return servers
    raise SchemaChanged("scaleway: the pages of servers have no end")


def _offers(place: Place, listing: Listing) -> Iterator[Offer]:
    kind = convert(place.row, ServerType)
    if kind.gpu_info is None or kind.end_of_service:
        return
    if kind.mig_profile:
        raise LeftOut("slices of an accelerator left out", place.name)
    memory_gib, ram_gib = kind.gpu_info.gpu_memory / BYTES_IN_GIB, kind.ram / BYTES_IN_GIB
    machine = listing.machine(kind.gpu_info.gpu_name, kind.gpu, memory_gib, kind.ncpus, ram_gib)
    is_free = place.stock != SHORTAGE if place.stock else None
    yield from listing.sold((place.zone, place.name, machine), kind.hourly_price, is_free=is_free)


SPEC = SourceSpec(
    name="scaleway",
    label="Scaleway",
    build=lambda environment, http: ApiSource(
        SITE.open(environment, http), partial(collect, zones=separated(ZONES.read(environment)))
    ),
    rates="on demand, in euros",
    cannot_see="contracts by quote, Apple and bare metal servers, block storage, addresses. There is no spot",
    settings=(*SITE.settings, ZONES),
)
