"""Hetzner: dedicated GPU servers by the month, in euros without VAT.

Needs no permission: the server configurator's list of available configurations is public.
Cannot see: the server auction, Hetzner Cloud (it has no accelerators), traffic above the free share. The list doesn't name
the accelerator: our table does, by product. Setting a server up costs once; the fee stands in `upfront` and is counted in
every month, so that the bill of a run shorter than a month is exact and that of a longer one too high. Billing by the hour
is offered only where there is no such fee; a month caps it, which the monthly offer says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from costcalc.hardware import Machine
from costcalc.offers import Offer, PurchaseOption
from pricing.offer_flags import NO_CAPACITY
from pricing.packaged.billing import billing
from pricing.packaged.machine_facts import filled
from pricing.packaged.names import accelerator
from pricing.sources.common.amounts import amount, monthly, spread
from pricing.sources.common.endpoint import Endpoint, Site
from pricing.sources.common.http import Http
from pricing.sources.common.rows import LeftOut, listed, read_rows
from pricing.sources.source import Collected, Environment, SourceSpec

SOURCE = "Hetzner available configurations"
SITE = Site("hetzner", "COSTCALC_HETZNER_URL", "https://robot-ws.your-server.de")
PATH = "/order/server/available_configurations"
CURRENCY = "EUR"
HOURS_IN_MONTH = 730
SETUP_FEE = "setup_fee_in_each_month"
GPU_PRODUCT = "GEX"  # Hetzner's prefix of its GPU servers
ACCELERATORS = {  # hetzner.com/dedicated-rootserver/matrix-gpu: each holds one
    "GEX44": "NVIDIA RTX 4000 SFF Ada Generation",
    "GEX130": "NVIDIA RTX 6000 Ada Generation",
    "GEX131": "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
}


@dataclass(frozen=True, slots=True)
class Hetzner:
    """The source: one call lists everything."""

    api: Endpoint

    def collect(self, now: datetime) -> Collected:
        """Every GPU server in every place, at its cheapest configuration. Raises SourceError."""
        return offers(self.api.get(PATH, currency=CURRENCY), now)


def offers(document: Any, now: datetime) -> Collected:
    """The configurations of GPU servers as offers."""
    return read_rows("hetzner", listed("hetzner", document), lambda row: _offers(row, now))


def _offers(row: Mapping[str, Any], now: datetime) -> Iterator[Offer]:
    product = row["product_name"]
    if not product.startswith(GPU_PRODUCT):
        return
    machine = _machine(row)
    for place, availability in row["availabilities"].items():
        offer = Offer(
            *("hetzner", place.lower(), product, machine, PurchaseOption.ON_DEMAND),
            hourly_rate=amount(availability["price"]["hourly"]),
            observed_at=now,
            source=SOURCE,
            currency=CURRENCY,
            flags=() if availability["quantity"] else (NO_CAPACITY,),
        )
        yield from _bought(offer, availability["price"])


def _bought(offer: Offer, price: Mapping[str, Any]) -> Iterable[Offer]:
    month, setup = amount(price["monthly"]), amount(price.get("setup") or 0)
    if not setup:
        yield billing("hetzner").of(offer)
    yield (
        _with_setup(monthly(offer, month, HOURS_IN_MONTH), month, setup)
        if setup
        else monthly(offer, month, HOURS_IN_MONTH)
    )


def _with_setup(rental: Offer, month: Decimal, setup: Decimal) -> Offer:
    """`monthly` is what the first month costs, `upfront` the share of it that is paid once."""
    return replace(
        rental,
        hourly_rate=spread(month + setup, HOURS_IN_MONTH),
        monthly=month + setup,
        upfront=setup,
        recurring_hourly=spread(month, HOURS_IN_MONTH),
        flags=(*rental.flags, SETUP_FEE),
    )


def _machine(row: Mapping[str, Any]) -> Machine:
    product = row["product_name"]
    if product not in ACCELERATORS:
        raise LeftOut("GPU servers not known here left out", product)
    name = accelerator("hetzner", ACCELERATORS[product])
    if name is None:
        raise LeftOut("GPU servers whose accelerator has no figures left out", product)
    parts = row["configuration"]
    threads = sum(part["threads"] for part in parts if part["type"] == "cpu")
    memory_gib = sum(part["size"] for part in parts if part["type"] == "ram" and part["unit"] == "GB")
    return filled(Machine(name, 1, None, threads or None, float(memory_gib) or None))


def _build(environment: Environment, http: Http) -> Hetzner:
    return Hetzner(SITE.open(environment, http))


SPEC = SourceSpec("hetzner", "Hetzner", _build, SITE.settings, SITE.secrets)
