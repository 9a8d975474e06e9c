"""DigitalOcean: GPU Droplets by the hour and by the month of 744 hours.

Needs a token with the scope sizes:read in COSTCALC_DIGITALOCEAN_TOKEN.
Cannot see: reserved GPU Droplets (12-month contracts are quoted by sales), bare metal, Paperspace, snapshots, taxes. Sizes
that no region can give now stand under the region `unspecified`, flagged `no_capacity`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from costcalc.hardware import Machine
from costcalc.offers import Offer, PurchaseOption
from pricing.offer_flags import NO_CAPACITY
from pricing.packaged.billing import billing
from pricing.packaged.machine_facts import filled
from pricing.packaged.names import UNSPECIFIED, accelerator
from pricing.sources.common.amounts import amount, maybe_amount, monthly
from pricing.sources.common.endpoint import Endpoint, Site
from pricing.sources.common.http import Http
from pricing.sources.common.rows import listed, read_rows
from pricing.sources.source import Collected, Environment, SchemaChanged, SourceSpec

SOURCE = "DigitalOcean API sizes"
SITE = Site("digitalocean", "COSTCALC_DIGITALOCEAN_URL", "https://api.digitalocean.com", "COSTCALC_DIGITALOCEAN_TOKEN")
PATH = "/v2/sizes"
PAGE_SIZE = "200"  # the most it gives
MOST_PAGES = 100
HOURS_IN_MONTH = 744  # price_monthly over price_hourly
MIB_IN_GIB = 1024


@dataclass(frozen=True, slots=True)
class DigitalOcean:
    """The source: sizes, page by page."""

    api: Endpoint

    def collect(self, now: datetime) -> Collected:
        """Every GPU Droplet in every region. Raises SourceError."""
        return offers(list(self._sizes()), now)

    def _sizes(self) -> Iterator[Any]:
        for page in range(1, MOST_PAGES):
            document = self.api.get(PATH, per_page=PAGE_SIZE, page=str(page))
            yield from listed("digitalocean", document, "sizes")
            if not ((document.get("links") or {}).get("pages") or {}).get("next"):
                return
        raise SchemaChanged("digitalocean: the pages of sizes have no end")


def offers(sizes: list[Any], now: datetime) -> Collected:
    """The sizes with accelerators as offers."""
    return read_rows("digitalocean", sizes, lambda size: _offers(size, now))


def _offers(size: Mapping[str, Any], now: datetime) -> Iterable[Offer]:
    machine = _machine(size) if size.get("gpu_info") else None
    if machine is None:
        return
    regions = size["regions"] if size["available"] else []
    for region in regions or [UNSPECIFIED]:
        offer = Offer(
            *("digitalocean", region, size["slug"], machine, PurchaseOption.ON_DEMAND),
            hourly_rate=amount(size["price_hourly"]),
            observed_at=now,
            source=SOURCE,
            flags=() if regions else (NO_CAPACITY,),
        )
        yield billing("digitalocean").of(offer)
        if month := maybe_amount(size.get("price_monthly")):
            yield monthly(offer, month, HOURS_IN_MONTH)


def _machine(size: Mapping[str, Any]) -> Machine | None:
    """None for an accelerator of which there are no figures. `vram` is that of all accelerators together."""
    gpu = size["gpu_info"]
    count = int(gpu["count"])
    memory_gib = float(gpu["vram"]["amount"]) / count
    name = accelerator("digitalocean", gpu["model"], memory_gib)
    return filled(Machine(name, count, memory_gib, size["vcpus"], size["memory"] / MIB_IN_GIB)) if name else None


def _build(environment: Environment, http: Http) -> DigitalOcean:
    return DigitalOcean(SITE.open(environment, http))


SPEC = SourceSpec("digitalocean", "DigitalOcean", _build, SITE.settings, SITE.secrets, SITE.missing)
