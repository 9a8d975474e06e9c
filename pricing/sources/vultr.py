"""Vultr: cloud GPU and bare metal plans, by the hour, preemptible, and by the month (the cap: 672 hours of
bare metal, 730 of cloud GPU).

Needs no permission: plans are public.
Cannot see: 36-month prepaid contracts, clusters, free capacity. Fractions of an accelerator are no offers here. Plans of
virtual dedicated metal (`vdm`) and bare metal don't name their accelerator: it is read from the plan's id, and an A100
left out there, since the id doesn't say SXM or PCIe.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from costcalc.hardware import Machine
from costcalc.offers import Gap, Offer, PurchaseOption
from pricing.offer_flags import NO_CAPACITY
from pricing.packaged.billing import billing
from pricing.packaged.machine_facts import data_sheet_memory_gib, filled, packaged_machines
from pricing.packaged.names import UNSPECIFIED, accelerator
from pricing.sources.common.amounts import amount, maybe_amount, monthly, spot
from pricing.sources.common.endpoint import Endpoint, NotThere, Site
from pricing.sources.common.http import Http
from pricing.sources.common.rows import LeftOut, listed, read_rows
from pricing.sources.source import Collected, Environment, SchemaChanged, SourceSpec

SOURCE = "Vultr API plans"
SITE = Site("vultr", "COSTCALC_VULTR_URL", "https://api.vultr.com")
LISTS = {"/v2/plans-metal": "plans_metal", "/v2/plans": "plans"}
PAGE_SIZE = "500"
MOST_PAGES = 100
METAL_MONTH_HOURS, CLOUD_MONTH_HOURS = 672, 730  # monthly_cost over hourly_cost
MIB_IN_GIB = 1024
METAL = re.compile(r"vbm-\d+c-\d+gb-(?:(?P<count>\d+)-)?(?P<gpu>[a-z0-9]+)-gpu")
LEAST_SHARE = 0.95  # of the data sheet's memory, for a whole accelerator


@dataclass(frozen=True, slots=True)
class Vultr:
    """The source: two lists of plans, page by page."""

    api: Endpoint

    def collect(self, now: datetime) -> Collected:
        """Every plan with whole accelerators, in every place; a list that is gone is a fault. Raises SourceError."""
        plans: list[Any] = []
        faults = []
        for path in LISTS:
            try:
                plans += self._plans(path)
            except NotThere as fault:
                faults.append(fault)
        if not plans:
            raise faults[0]
        found = offers(plans, now)
        silent = (Gap("vultr", str(fault).removeprefix("vultr: ")) for fault in faults)
        return Collected(found.offers, found.gaps, tuple(silent))

    def _plans(self, path: str) -> Iterator[Any]:
        asked = {"per_page": PAGE_SIZE}
        for _ in range(MOST_PAGES):
            document = self.api.get(path, **asked)
            yield from listed("vultr", document, LISTS[path])
            cursor = ((document.get("meta") or {}).get("links") or {}).get("next")
            if not cursor:
                return
            asked["cursor"] = cursor
        raise SchemaChanged("vultr: the pages of plans have no end")


def offers(plans: list[Any], now: datetime) -> Collected:
    """The plans with accelerators as offers."""
    packaged = packaged_machines("vultr")
    return read_rows("vultr", plans, lambda plan: _offers(plan, packaged, now))


def _offers(plan: Mapping[str, Any], packaged: Mapping[str, Machine], now: datetime) -> Iterator[Offer]:
    machine = _machine(plan, packaged)
    if machine is None:
        return
    places = [place for place in plan["locations"] if place]
    for place in places or [UNSPECIFIED]:
        yield from (billing("vultr").of(offer) for offer in _bought(plan, place, machine, now, not places))


def _bought(plan: Mapping[str, Any], place: str, machine: Machine, now: datetime, is_out: bool) -> Iterable[Offer]:
    flags = (NO_CAPACITY,) if is_out else ()
    rate = amount(plan["hourly_cost"])
    offer = Offer(*("vultr", place, plan["id"], machine, PurchaseOption.ON_DEMAND, rate, now, SOURCE), flags=flags)
    if plan.get("deploy_ondemand") is not False:
        yield offer
        yield monthly(offer, amount(plan["monthly_cost"]), _month_hours(plan))
    if preemptible := maybe_amount(plan.get("hourly_cost_preemptible")):
        yield spot(offer, preemptible)


def _month_hours(plan: Mapping[str, Any]) -> int:
    return METAL_MONTH_HOURS if plan["id"].startswith("vbm-") else CLOUD_MONTH_HOURS


def _machine(plan: Mapping[str, Any], packaged: Mapping[str, Machine]) -> Machine | None:
    """None for a plan without accelerators, with a fraction of one, or with one of which there are no figures."""
    known = packaged.get(plan["id"])
    vcpus, memory_gib = plan.get("vcpu_count") or plan.get("cpu_threads"), plan["ram"] / MIB_IN_GIB
    if known is not None:
        return replace(known, vcpus=known.vcpus or vcpus, memory_gib=known.memory_gib or memory_gib)
    gpu = _metal(plan["id"]) if plan["id"].startswith("vbm-") else _cloud(plan)
    return filled(Machine(*gpu, None, vcpus, memory_gib)) if gpu else None


def _metal(plan: str) -> tuple[str, int] | None:
    read = METAL.fullmatch(plan)
    if read is None:
        return None
    if read["gpu"] == "a100":
        raise LeftOut("plans that don't say SXM or PCIe left out", plan)
    name = accelerator("vultr", read["gpu"])
    return (name, int(read["count"] or 1)) if name else None


def _cloud(plan: Mapping[str, Any]) -> tuple[str, int] | None:
    if not plan.get("gpu_type"):
        return None
    name = accelerator("vultr", plan["gpu_type"])
    each = data_sheet_memory_gib(name) if name else None
    if name is None or each is None or plan["gpu_vram_gb"] < LEAST_SHARE * each:
        return None
    return name, max(1, round(plan["gpu_vram_gb"] / each))


def _build(environment: Environment, http: Http) -> Vultr:
    return Vultr(SITE.open(environment, http))


SPEC = SourceSpec("vultr", "Vultr", _build, SITE.settings, SITE.secrets)
