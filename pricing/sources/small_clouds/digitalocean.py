"""DigitalOcean's GPU Droplets, by the hour and by the month of 744 hours.

`vram` is that of all accelerators together. A size that no region has now stands under the region `unspecified`, flagged
`no_capacity`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal

from msgspec import Struct

from costcalc.offer import Offer
from pricing.packaged.names import UNSPECIFIED
from pricing.sources.common.endpoint import Endpoint, Site, address
from pricing.sources.common.listing import Listing
from pricing.sources.common.rows import listed
from pricing.sources.source import Collected, SchemaChanged, SourceSetting

SOURCE = "DigitalOcean API sizes"
PATH = "/v2/sizes"
PAGE_SIZE = "200"  # the most it gives
MOST_PAGES = 100
MIB_IN_GIB = 1024


class Vram(Struct):
    """Memory of all accelerators together, in GiB."""

    amount: float


class GpuInfo(Struct):
    """The accelerators of a size."""

    model: str
    count: int
    vram: Vram


class Size(Struct):
    """A kind of Droplet; `memory` in MiB."""

    slug: str
    vcpus: int
    memory: int
    price_hourly: Decimal
    regions: list[str]
    available: bool
    price_monthly: Decimal | None = None
    gpu_info: GpuInfo | None = None


def _sizes(api: Endpoint) -> Iterator[object]:
    for page in range(1, MOST_PAGES):
        document = api.get(PATH, per_page=PAGE_SIZE, page=str(page))
        yield from listed("digitalocean", document, "sizes")
        if not ((document.get("links") or {}).get("pages") or {}).get("next"):
            return
    raise SchemaChanged("digitalocean: the pages of sizes have no end")


def offers(sizes: list[object], now: datetime) -> Collected:
    """The sizes with accelerators as offers."""
    return Listing("digitalocean", SOURCE, now).read(sizes, Size, _offers)


def _offers(size: Size, listing: Listing) -> Iterator[Offer]:
    gpu, ram_gib = size.gpu_info, size.memory / MIB_IN_GIB
    if gpu is None:
        return
    machine = listing.machine(gpu.model, gpu.count, gpu.vram.amount / gpu.count, size.vcpus, ram_gib)
    regions = size.regions if size.available else []
    for region in regions or [UNSPECIFIED]:
        rented = region, size.slug, machine
        yield from listing.sold(rented, size.price_hourly, month=size.price_monthly, is_free=bool(regions))


SPEC = Site(
    "digitalocean",
    address("COSTCALC_DIGITALOCEAN_URL", "https://api.digitalocean.com"),
    SourceSetting("COSTCALC_DIGITALOCEAN_TOKEN", "a personal access token with the scope sizes:read", secret=True),
).spec(
    lambda api, now: offers(list(_sizes(api)), now),
    label="DigitalOcean",
    rates="by the hour and by the month",
    needs="a personal access token with the scope sizes:read",
    cannot_see="12-month reservations, which sales quotes; bare metal; Paperspace; snapshots; taxes",
)
