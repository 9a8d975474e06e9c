"""OVHcloud's Public Cloud GPU instances by the hour and by the month, in euros without VAT.

The public order catalogue holds thousands of addons; those of the brick `gpu` rent a machine. A plan's code ends in
`.consumption` by the hour and in `.monthly.postpaid` by the month; longer endings are other places. The catalogue names no
region and no stock: the region is `unspecified`. A month is a calendar month, counted as 730 hours. Windows machines, whose
price holds a licence, stay out. The A100's name doesn't say PCIe or SXM: it becomes a gap.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any

from msgspec import Struct, field

from costcalc.offer import Offer
from pricing.packaged.names import UNSPECIFIED
from pricing.sources.common.endpoint import Site, address, one_call
from pricing.sources.common.listing import Listing, amount, monthly
from pricing.sources.common.rows import LeftOut, flat, listed
from pricing.sources.source import Bounds, Collected, SchemaChanged

SOURCE = "OVHcloud order catalogue"
SUBSIDIARY = "FR"  # its catalogue is in euros
GPU_BRICK = "gpu"  # serving of models is priced by the minute and has another
HOURLY, MONTHLY = ".consumption", ".monthly.postpaid"
UNITS_PER_EURO = Decimal(10) ** 8


class Pricing(Struct):
    """A price without tax, in hundred-millionths of the currency."""

    price: int


class Addon(Struct):
    """A way to rent a machine; memory is in GB, `gpu_memory_gib` that of one accelerator."""

    plan_code: str = field(name="planCode")
    pricings: list[Pricing]
    name: str = field(name="blobs.technical.name")
    system: str = field(name="blobs.technical.os.family")  # linux or windows
    gpu: str = field(name="blobs.technical.gpu.model")
    gpus: int = field(name="blobs.technical.gpu.number")
    gpu_memory_gib: float = field(name="blobs.technical.gpu.memory.size")
    cores: int = field(name="blobs.technical.cpu.cores")
    memory_gib: float = field(name="blobs.technical.memory.size")


def offers(document: Any, now: datetime) -> Collected:
    """The catalogue's GPU instances as offers."""
    rows = map(flat, listed("ovhcloud", document, "addons"))
    addons = (row for row in rows if isinstance(row, dict) and row.get("blobs.commercial.brick") == GPU_BRICK)
    currency = (document.get("locale") or {}).get("currencyCode")
    if not currency:
        raise SchemaChanged("ovhcloud: the catalogue names no currency")
    return Listing("ovhcloud", SOURCE, now, currency).read(addons, Addon, _offers)


def _offers(addon: Addon, listing: Listing) -> Iterator[Offer]:
    if addon.system != "linux" or not addon.plan_code.endswith((HOURLY, MONTHLY)):
        return
    if len(addon.pricings) != 1:
        raise LeftOut("plans with more than one price left out", addon.plan_code)
    machine = listing.machine(addon.gpu, addon.gpus, addon.gpu_memory_gib, addon.cores, addon.memory_gib)
    price = amount(addon.pricings[0].price) / UNITS_PER_EURO
    offer = listing.offer(UNSPECIFIED, addon.name, machine, price)
    yield monthly(offer, price) if addon.plan_code.endswith(MONTHLY) else offer


SPEC = Site("ovhcloud", address("COSTCALC_OVHCLOUD_URL", "https://eu.api.ovh.com")).spec(
    one_call("/v1/order/catalog/public/cloud", offers, ovhSubsidiary=SUBSIDIARY),
    label="OVHcloud",
    rates="by the hour and by the month, in euros",
    cannot_see="Savings Plans, the United States, regions, and whether a machine is free. There is no spot",
    bounds=Bounds(document_mib=16, memory_mib=128),
)
