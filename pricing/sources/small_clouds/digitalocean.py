"""DigitalOcean's GPU Droplets, by the hour and by the month of 744 hours.

`vram` is that of all accelerators together. A size that no region has now stands under the region `unspecified`, flagged
`no_capacity`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal

from msgspec import Struct, convert

from costcalc.hardware import Machine
from costcalc.offers import Offer, PurchaseOption
from pricing.offer_flags import stock
from pricing.packaged.billing import billed
from pricing.packaged.machine_facts import filled
from pricing.packaged.names import UNSPECIFIED, accelerator
from pricing.sources.common.amounts import amount, maybe_amount, monthly
from pricing.sources.common.endpoint import Endpoint, Site, address
from pricing.sources.common.rows import listed, read_rows
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


def collect(api: Endpoint, now: datetime) -> Collected:
    """Every GPU Droplet in every region. Raises SourceError."""
    return offers(list(_sizes(api)), now)


def _sizes(api: Endpoint) -> Iterator[object]:
    for page in range(1, MOST_PAGES):
        document = api.get(PATH, per_page=PAGE_SIZE, page=str(page))
        yield from listed("digitalocean", document, "sizes")
        if not ((document.get("links") or {}).get("pages") or {}).get("next"):
            return
    raise SchemaChanged("digitalocean: the pages of sizes have no end")


def offers(sizes: list[object], now: datetime) -> Collected:
    """The sizes with accelerators as offers."""
    return read_rows("digitalocean", sizes, lambda row: _offers(convert(row, Size), now))


def _offers(size: Size, now: datetime) -> Iterable[Offer]:
    gpu = size.gpu_info
    if gpu is None:
        return
    memory_gib = gpu.vram.amount / gpu.count
    name = accelerator("digitalocean", gpu.model, memory_gib)
    if name is None:  # there are no figures of it
        return
    machine = filled(Machine(name, gpu.count, memory_gib, size.vcpus, size.memory / MIB_IN_GIB))
    regions = size.regions if size.available else []
    for region in regions or [UNSPECIFIED]:
        offer = Offer(
            *("digitalocean", region, size.slug, machine, PurchaseOption.ON_DEMAND),
            hourly_rate=amount(size.price_hourly),
            observed_at=now,
            source=SOURCE,
            flags=stock(bool(regions)),
        )
        yield billed(offer)
        if month := maybe_amount(size.price_monthly):
            yield monthly(offer, month)


SPEC = Site(
    "digitalocean",
    address("COSTCALC_DIGITALOCEAN_URL", "https://api.digitalocean.com"),
    SourceSetting("COSTCALC_DIGITALOCEAN_TOKEN", "a personal access token with the scope sizes:read", secret=True),
).spec(
    collect,
    label="DigitalOcean",
    rates="by the hour and by the month",
    needs="a personal access token with the scope sizes:read",
    cannot_see="12-month reservations, which sales quotes; bare metal; Paperspace; snapshots; taxes",
)
