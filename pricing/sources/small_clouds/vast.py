"""Vast.ai's marketplace of hosts, on demand and interruptible.

Verified hosts with 1, 2, 4 and 8 accelerators that can be rented now are asked for. An offer is the cheapest host of a kind
(`8x H100`) in a country, flagged `marketplace`: its `dph_total`, which holds the machine and the default disk, both kept as
parts. Spot is the lowest bid that runs now, plus that disk; it ends when somebody bids more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal

from msgspec import Struct, convert

from costcalc.hardware import Machine
from costcalc.offer import Gap, Offer, RatePart
from pricing.offer_flags import MARKETPLACE, stock
from pricing.packaged.machine_facts import filled
from pricing.packaged.names import UNSPECIFIED, accelerator
from pricing.sources.common.endpoint import Endpoint, Site, address
from pricing.sources.common.listing import Listing, amount, maybe_amount, spot
from pricing.sources.common.rows import listed, read_rows
from pricing.sources.source import Bounds, Collected, SchemaChanged, SourceError, SourceSetting

SOURCE = "Vast.ai API bundles: cheapest verified host"
PATH = "/api/v0/bundles/"
COUNTS = (1, 2, 4, 8)
LIMIT = 3000
ANONYMOUS_ROWS = 64  # the most that a caller without a key was given, 2026
MIB_IN_GIB = 1024
COUNTRY = re.compile(r"(?:^|,)\s*([A-Z]{2})\b")  # "Texas, US", "Sweden, SE, EU"


class Host(Struct):
    """A machine that somebody rents out: dollars an hour, with (`dph_total`) and without (`dph_base`) the default disk."""

    gpu_name: str
    num_gpus: int
    gpu_ram: float
    dph_total: Decimal
    dph_base: Decimal | None = None
    min_bid: Decimal | None = None
    geolocation: str | None = None


def collect(api: Endpoint, now: datetime) -> Collected:
    """The cheapest host for each machine and country; one search for each number of accelerators. Raises SourceError."""
    hosts: dict[object, object] = {}
    gaps, is_whole = [], True
    for count in COUNTS:
        rows = _search(api, count)
        hosts |= {row.get("id"): row for row in rows if isinstance(row, dict)}
        is_whole &= len(rows) < LIMIT
        if len(rows) == ANONYMOUS_ROWS and not api.headers:
            capped = f"only {ANONYMOUS_ROWS} machines of {count} accelerators were listed: set COSTCALC_VAST_API_KEY"
            gaps.append(Gap("vast", capped))
    if not hosts:
        raise SourceError("vast: the list of offers is empty")
    collected = offers(list(hosts.values()), now)
    whole = collected.whole if is_whole and not gaps else ()
    return Collected(collected.offers, (*collected.gaps, *gaps), whole=whole)


def _search(api: Endpoint, count: int) -> list[object]:
    is_true = {"eq": True}
    wanted = {"verified": is_true, "rentable": is_true, "rented": {"eq": False}, "num_gpus": {"eq": count}}
    document = api.post(PATH, {**wanted, "type": "on-demand", "order": [["score", "desc"]], "limit": LIMIT})
    if isinstance(document, dict) and document.get("offers") == []:
        return []
    return listed("vast", document, "offers")


def offers(rows: list[object], now: datetime) -> Collected:
    """The cheapest of the hosts that offer the same machine in the same country."""
    if not all(isinstance(row, dict) for row in rows):
        raise SchemaChanged("vast: offers are no objects any more")
    listing = Listing("vast", SOURCE, now)
    return read_rows("vast", rows, lambda row: _offers(convert(row, Host), listing))


def _offers(host: Host, listing: Listing) -> Iterator[Offer]:
    count = host.num_gpus
    if not count:
        return
    name = accelerator("vast", host.gpu_name, host.gpu_ram / MIB_IN_GIB)
    total, base = amount(host.dph_total), maybe_amount(host.dph_base)
    parts = (RatePart("machine", base), RatePart("disk", total - base)) if base and base < total else ()
    country = COUNTRY.search(host.geolocation or "")
    region = country[1].lower() if country else UNSPECIFIED
    machine, flags = filled(Machine(name, count)), (MARKETPLACE, *stock(True))
    offer = listing.offer(region, f"{count}x {name}", machine, total, parts=parts, flags=flags)
    yield offer
    if bid := maybe_amount(host.min_bid):
        yield spot(offer, bid + (total - base if base else 0))


SPEC = Site(
    "vast",
    address("COSTCALC_VAST_URL", "https://console.vast.ai"),
    SourceSetting("COSTCALC_VAST_API_KEY", "an API key; without it a search lists some 64 machines", secret=True),
    key_is_optional=True,
).spec(
    collect,
    label="Vast.ai",
    rates="on demand and interruptible machines of a marketplace",
    needs="nothing; without a key a search lists some 64 machines, and a gap says so",
    cannot_see="traffic, which each host prices; how long a host stays; hosts that aren't verified",
    bounds=Bounds(document_mib=16, memory_mib=96),
)
