"""Vultr's cloud GPU, bare metal and virtual dedicated metal (`vdm`), by the hour, preemptible (as spot) and by the month.

A region may have prices of its own (`location_cost`). The month caps the hours, at a number that differs by plan (664 to 730:
docs.vultr.com, "How Am I Billed for My Servers?", names 672 and 730): it is the plan's own month over its hour, and a month
that costs more than all its hours is no offer. `invoice_type` is not read: Vultr doesn't say what it means for a price.

Fractions of an accelerator are no offers. Bare metal doesn't name its accelerator everywhere: it is read from the plan's id.
That of `vdm` plans stands in the table below. An A100 is left out in both, since nothing says SXM or PCIe.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from costcalc.hardware import Machine
from costcalc.offer import Gap, Offer
from pricing.offer_flags import stock
from pricing.packaged.machine_facts import data_sheet_memory_gib, filled, packaged_machines
from pricing.packaged.names import UNSPECIFIED, accelerator
from pricing.packaged.providers import billed
from pricing.sources.common.endpoint import Endpoint, NotThere, Site, address
from pricing.sources.common.listing import Listing, amount, maybe_amount, monthly, spot
from pricing.sources.common.rows import LeftOut, listed
from pricing.sources.source import Collected, SchemaChanged

SOURCE = "Vultr API plans"
LISTS = {"/v2/plans-metal": "plans_metal", "/v2/plans": "plans"}
PAGE_SIZE = "500"
MOST_PAGES = 100
LONGEST_MONTH_HOURS = 744  # 31 days
MIB_IN_GIB = 1024
METAL = re.compile(r"vbm-\d+c-\d+gb-(?:(?P<count>\d+)-)?(?P<gpu>[a-z0-9]+)-gpu")
# The list says nothing of their accelerators: dstackai/gpuhunt src/gpuhunt/providers/vultr.py, 2026. Not here: the MI325X plan,
# which is 6 accelerators by its id and 8 by Vultr's documents.
DEDICATED: Mapping[str, tuple[str, int]] = {
    "vcg-a16-96c-878g-256vram": ("a16", 16),
    "vcg-a40-96c-480g-192vram": ("a40", 4),
    "vcg-a100-96c-896g-320vram": ("a100", 4),
    "vcg-a100-96c-960g-640vram": ("a100", 8),
    "vcg-h100-216c-1914gb-640vram": ("h100", 8),
    "vcg-b200-248c-2826g-1536vram": ("b200", 8),
    "vcg-mi355x-252c-2872g-2304vram": ("mi355x", 8),
}
LEAST_SHARE = 0.95  # of the data sheet's memory, for a whole accelerator


class Cost(Struct):
    """Prices in US dollars."""

    hourly_cost: Decimal | None = None
    monthly_cost: Decimal | None = None
    hourly_cost_preemptible: Decimal | None = None


class Plan(Cost, kw_only=True):
    """A machine and its prices. `ram` is in MiB; bare metal has `cpu_threads`, other plans `vcpu_count`."""

    id: str
    ram: int
    locations: list[str]
    type: str | None = None
    location_cost: dict[str, Cost] | list[Any] | None = None  # PHP writes an empty object as a list
    deploy_ondemand: bool | None = None
    deploy_preemptible: bool | None = None
    vcpu_count: int | None = None
    cpu_threads: int | None = None
    gpu_type: str | None = None
    gpu_vram_gb: float | None = None

    def cost(self, region: str) -> Cost:
        """What it costs in a region: the region's own prices, or else the plan's."""
        own = self.location_cost.get(region) if isinstance(self.location_cost, dict) else None
        return own or self


def collect(api: Endpoint, now: datetime) -> Collected:
    """Every plan with whole accelerators, in every place; a list that is gone is a fault. Raises SourceError."""
    plans: list[object] = []
    faults = []
    for path in LISTS:
        try:
            plans += _plans(api, path)
        except NotThere as fault:
            faults.append(fault)
    if not plans:
        raise faults[0]
    collected = offers(plans, now)
    gone = (Gap("vultr", str(fault).removeprefix("vultr: ")) for fault in faults)
    return Collected(collected.offers, collected.gaps, tuple(gone), () if faults else collected.whole)


def _plans(api: Endpoint, path: str) -> Iterator[object]:
    query = {"per_page": PAGE_SIZE}
    for _ in range(MOST_PAGES):
        document = api.get(path, **query)
        yield from listed("vultr", document, LISTS[path])
        cursor = ((document.get("meta") or {}).get("links") or {}).get("next")
        if not cursor:
            return
        query["cursor"] = cursor
    raise SchemaChanged("vultr: the pages of plans have no end")


def offers(plans: list[object], now: datetime) -> Collected:
    """The plans with accelerators as offers."""
    return Listing("vultr", SOURCE, now).read(plans, Plan, _offers)


def _offers(plan: Plan, listing: Listing) -> Iterator[Offer]:
    machine = _machine(plan)
    if machine is None:
        return
    regions = [region for region in plan.locations if region]
    for region in regions or [UNSPECIFIED]:
        cost, flags = plan.cost(region), stock(None if regions else False)
        offer = listing.offer(region, plan.id, machine, amount(cost.hourly_cost), flags=flags)
        yield from _bought(offer, plan, cost)


def _bought(offer: Offer, plan: Plan, cost: Cost) -> Iterable[Offer]:
    """The plan in every way that it can be bought."""
    if plan.deploy_ondemand is not False:
        yield offer
        month = maybe_amount(cost.monthly_cost)
        if month and (hours := round(month / offer.hourly_rate)) <= LONGEST_MONTH_HOURS:
            yield billed(monthly(offer, month, hours=hours))
    preemptible = maybe_amount(cost.hourly_cost_preemptible)
    if preemptible and plan.deploy_preemptible is not False:
        yield spot(offer, preemptible)


def _machine(plan: Plan) -> Machine | None:
    """A plan's machine; None without a whole accelerator of which there are figures."""
    stated = packaged_machines("vultr").get(plan.id)
    vcpus, memory_gib = plan.vcpu_count or plan.cpu_threads, plan.ram / MIB_IN_GIB
    if stated is not None:
        return replace(stated, vcpus=stated.vcpus or vcpus, memory_gib=stated.memory_gib or memory_gib)
    gpu = _accelerators(plan)
    return filled(Machine(*gpu, None, vcpus, memory_gib)) if gpu else None


def _accelerators(plan: Plan) -> tuple[str, int] | None:
    """What a whole server holds by its id, and how many; of other plans by the memory of all."""
    metal = METAL.fullmatch(plan.id)
    if plan.type == "vdm" and plan.id not in DEDICATED:
        raise LeftOut("virtual dedicated metal not known here left out", plan.id)
    if plan.type == "vdm" or metal:
        spelling, count = (metal["gpu"], int(metal["count"] or 1)) if metal else DEDICATED[plan.id]
        if spelling == "a100":
            raise LeftOut("plans that don't say SXM or PCIe left out", plan.id)
        return accelerator("vultr", spelling), count
    name = accelerator("vultr", plan.gpu_type) if plan.gpu_type else ""
    each, memory_gib = data_sheet_memory_gib(name), plan.gpu_vram_gb or 0
    return (name, max(1, round(memory_gib / each))) if each and memory_gib >= LEAST_SHARE * each else None


SPEC = Site("vultr", address("COSTCALC_VULTR_URL", "https://api.vultr.com")).spec(
    collect,
    label="Vultr",
    rates="by the hour, by the month and preemptible",
    cannot_see="36-month prepaid contracts, clusters, and whether a machine is free",
)
