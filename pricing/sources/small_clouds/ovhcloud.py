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

from msgspec import Struct, convert

from costcalc.hardware import Machine
from costcalc.offers import Offer, PurchaseOption
from pricing.packaged.billing import billed
from pricing.packaged.machine_facts import filled
from pricing.packaged.names import UNSPECIFIED, accelerator
from pricing.sources.common.amounts import amount, monthly
from pricing.sources.common.endpoint import Endpoint, Site, address
from pricing.sources.common.rows import LeftOut, listed, read_rows
from pricing.sources.source import Bounds, Collected, SchemaChanged

SOURCE = "OVHcloud order catalogue"
PATH = "/v1/order/catalog/public/cloud"
SUBSIDIARY = "FR"  # its catalogue is in euros
GPU_BRICK = "gpu"  # serving of models is priced by the minute and has another
HOURLY, MONTHLY = ".consumption", ".monthly.postpaid"
UNITS_PER_EURO = Decimal(10) ** 8


class Memory(Struct):
    """Memory in GB; an accelerator's is that of one."""

    size: float


class Gpu(Struct):
    """The accelerators of a machine."""

    model: str
    number: int
    memory: Memory


class Cpu(Struct):
    """The processors of a machine."""

    cores: int


class System(Struct):
    """`linux` or `windows`."""

    family: str


class Technical(Struct):
    """What a machine holds."""

    name: str
    gpu: Gpu
    cpu: Cpu
    memory: Memory
    os: System


class Blobs(Struct):
    """The description of an addon."""

    technical: Technical


class Pricing(Struct):
    """A price without tax, in hundred-millionths of the currency."""

    price: int


class Addon(Struct, rename="camel"):
    """A way to rent a machine."""

    plan_code: str
    pricings: list[Pricing]
    blobs: Blobs


def collect(api: Endpoint, now: datetime) -> Collected:
    """Every GPU instance; one call lists everything, some 8 MB. Raises SourceError."""
    return offers(api.get(PATH, ovhSubsidiary=SUBSIDIARY), now)


def offers(document: Any, now: datetime) -> Collected:
    """The catalogue's GPU instances as offers."""
    addons = filter(_has_gpu, listed("ovhcloud", document, "addons"))
    currency = (document.get("locale") or {}).get("currencyCode")
    if not currency:
        raise SchemaChanged("ovhcloud: the catalogue names no currency")
    return read_rows("ovhcloud", addons, lambda row: _offers(convert(row, Addon), currency, now))


def _has_gpu(row: object) -> bool:
    blobs = row.get("blobs") if isinstance(row, dict) else None
    return ((blobs or {}).get("commercial") or {}).get("brick") == GPU_BRICK


def _offers(addon: Addon, currency: str, now: datetime) -> Iterator[Offer]:
    machine = addon.blobs.technical
    if machine.os.family != "linux" or not addon.plan_code.endswith((HOURLY, MONTHLY)):
        return
    if len(addon.pricings) != 1:
        raise LeftOut("plans with more than one price left out", addon.plan_code)
    name = accelerator("ovhcloud", machine.gpu.model, machine.gpu.memory.size)
    if name is None:
        return
    price = amount(addon.pricings[0].price) / UNITS_PER_EURO
    memory_gib, count = machine.gpu.memory.size, machine.gpu.number
    offer = Offer(
        *("ovhcloud", UNSPECIFIED, machine.name),
        filled(Machine(name, count, memory_gib, machine.cpu.cores, machine.memory.size)),
        PurchaseOption.ON_DEMAND,
        hourly_rate=price,
        observed_at=now,
        source=SOURCE,
        currency=currency,
    )
    is_monthly = addon.plan_code.endswith(MONTHLY)
    yield monthly(offer, price) if is_monthly else billed(offer)


SPEC = Site("ovhcloud", address("COSTCALC_OVHCLOUD_URL", "https://eu.api.ovh.com")).spec(
    collect,
    label="OVHcloud",
    rates="by the hour and by the month, in euros",
    cannot_see="Savings Plans, the United States, regions, and whether a machine is free. There is no spot",
    bounds=Bounds(document_mib=16, memory_mib=128),
)
