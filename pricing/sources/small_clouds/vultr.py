"""Vultr's cloud GPU and bare metal plans, by the hour, preemptible (as spot) and by the month.

The month caps the hours: 672 of bare metal, 730 of cloud GPU. Fractions of an accelerator are no offers. Plans of bare metal
and virtual dedicated metal (`vdm`) don't name their accelerator: it is read from the plan's id, and an A100 is left out
there, since the id doesn't say SXM or PCIe.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from msgspec import Struct, convert

from costcalc.hardware import Machine
from costcalc.offers import Gap, Offer, PurchaseOption
from pricing.offer_flags import NO_CAPACITY
from pricing.packaged.billing import billed
from pricing.packaged.machine_facts import data_sheet_memory_gib, filled, packaged_machines
from pricing.packaged.names import UNSPECIFIED, accelerator
from pricing.sources.common.amounts import amount, maybe_amount, monthly, spot
from pricing.sources.common.endpoint import Endpoint, NotThere, Site, address
from pricing.sources.common.rows import LeftOut, listed, read_rows
from pricing.sources.source import Collected, SchemaChanged, SourceSpec

SOURCE = "Vultr API plans"
LISTS = {"/v2/plans-metal": "plans_metal", "/v2/plans": "plans"}
PAGE_SIZE = "500"
MOST_PAGES = 100
METAL_MONTH_HOURS, CLOUD_MONTH_HOURS = 672, 730  # monthly_cost over hourly_cost
MIB_IN_GIB = 1024
METAL = re.compile(r"vbm-\d+c-\d+gb-(?:(?P<count>\d+)-)?(?P<gpu>[a-z0-9]+)-gpu")
LEAST_SHARE = 0.95  # of the data sheet's memory, for a whole accelerator


class Plan(Struct):
    """A machine and its prices in US dollars. `ram` is in MiB; bare metal has `cpu_threads`, cloud plans `vcpu_count`."""

    id: str
    ram: int
    locations: list[str]
    hourly_cost: Decimal | None = None
    monthly_cost: Decimal | None = None
    hourly_cost_preemptible: Decimal | None = None
    deploy_ondemand: bool | None = None
    vcpu_count: int | None = None
    cpu_threads: int | None = None
    gpu_type: str | None = None
    gpu_vram_gb: float | None = None

    @property
    def is_metal(self) -> bool:
        """Whether it is bare metal, going by its id."""
        return self.id.startswith("vbm-")


def collect(api: Endpoint, now: datetime) -> Collected:
    """Every plan with whole accelerators, in every place; a list that is gone is a fault. Raises SourceError."""
    plans: list[Any] = []
    faults = []
    for path in LISTS:
        try:
            plans += _plans(api, path)
        except NotThere as fault:
            faults.append(fault)
    if not plans:
        raise faults[0]
    found = offers(plans, now)
    gone = (Gap("vultr", str(fault).removeprefix("vultr: ")) for fault in faults)
    return Collected(found.offers, found.gaps, tuple(gone))


def _plans(api: Endpoint, path: str) -> Iterator[Any]:
    query = {"per_page": PAGE_SIZE}
    for _ in range(MOST_PAGES):
        document = api.get(path, **query)
        yield from listed("vultr", document, LISTS[path])
        cursor = ((document.get("meta") or {}).get("links") or {}).get("next")
        if not cursor:
            return
        query["cursor"] = cursor
    raise SchemaChanged("vultr: the pages of plans have no end")


def offers(plans: list[Any], now: datetime) -> Collected:
    """The plans with accelerators as offers."""
    packaged = packaged_machines("vultr")
    return read_rows("vultr", plans, lambda row: _offers(convert(row, Plan), packaged, now))


def _offers(plan: Plan, packaged: Mapping[str, Machine], now: datetime) -> Iterator[Offer]:
    machine = _machine(plan, packaged)
    if machine is None:
        return
    regions = [region for region in plan.locations if region]
    for region in regions or [UNSPECIFIED]:
        offer = Offer(
            *("vultr", region, plan.id, machine, PurchaseOption.ON_DEMAND, amount(plan.hourly_cost), now, SOURCE),
            flags=() if regions else (NO_CAPACITY,),
        )
        yield from map(billed, _bought(offer, plan))


def _bought(offer: Offer, plan: Plan) -> Iterable[Offer]:
    """The plan in every way that it can be bought."""
    if plan.deploy_ondemand is not False:
        yield offer
        hours = METAL_MONTH_HOURS if plan.is_metal else CLOUD_MONTH_HOURS
        yield monthly(offer, amount(plan.monthly_cost), hours)
    if preemptible := maybe_amount(plan.hourly_cost_preemptible):
        yield spot(offer, preemptible)


def _machine(plan: Plan, packaged: Mapping[str, Machine]) -> Machine | None:
    """None for a plan without accelerators, with a fraction of one, or with one of which there are no figures."""
    known = packaged.get(plan.id)
    vcpus, memory_gib = plan.vcpu_count or plan.cpu_threads, plan.ram / MIB_IN_GIB
    if known is not None:
        return replace(known, vcpus=known.vcpus or vcpus, memory_gib=known.memory_gib or memory_gib)
    gpu = _metal(plan.id) if plan.is_metal else _cloud(plan)
    return filled(Machine(*gpu, None, vcpus, memory_gib)) if gpu else None


def _metal(plan_id: str) -> tuple[str, int] | None:
    named = METAL.fullmatch(plan_id)
    if named is None:
        return None
    if named["gpu"] == "a100":
        raise LeftOut("plans that don't say SXM or PCIe left out", plan_id)
    name = accelerator("vultr", named["gpu"])
    return (name, int(named["count"] or 1)) if name else None


def _cloud(plan: Plan) -> tuple[str, int] | None:
    if not plan.gpu_type:
        return None
    name = accelerator("vultr", plan.gpu_type)
    each = data_sheet_memory_gib(name) if name else None
    memory_gib = plan.gpu_vram_gb or 0
    if name is None or each is None or memory_gib < LEAST_SHARE * each:
        return None
    return name, max(1, round(memory_gib / each))


SITE = Site("vultr", address("COSTCALC_VULTR_URL", "https://api.vultr.com"))
SPEC = SourceSpec(
    name="vultr",
    label="Vultr",
    build=SITE.build(collect),
    rates="by the hour, by the month and preemptible",
    cannot_see="36-month prepaid contracts, clusters, and whether a machine is free",
    settings=SITE.settings,
)
