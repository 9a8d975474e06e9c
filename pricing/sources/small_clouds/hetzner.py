"""Hetzner's dedicated GPU servers by the month, in euros without VAT.

The list is that of the server configurator. It is public, but undocumented: Robot's documented ordering API at the same
address asks for a user and a password (robot.hetzner.com/doc/webservice). It doesn't name the accelerator: our table does, by
product.

Dedicated servers are billed by the hour, partial hours rounded up, never above the month, and can be cancelled at once
(docs.hetzner.com, "Billing system at Hetzner", 2026-08-28). Setting a server up costs once; the fee stands in `upfront` and is
counted in every month (flag `setup_fee_in_each_month`). The bill is therefore exact for a run that uses up one month's cap
(some 624 hours) and too high for a shorter one, by what its hours cost below the month, and for a longer one: the GEX131 at
896.30 a month with 2,912 for the setup is billed 3,808.30 for a run of up to a month. Billing by the hour is offered only
where there is no such fee.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from msgspec import Struct, convert

from costcalc.hardware import Machine
from costcalc.offers import Offer, PurchaseOption
from pricing.offer_flags import stock
from pricing.packaged.billing import billed
from pricing.packaged.machine_facts import filled
from pricing.packaged.names import accelerator
from pricing.sources.common.amounts import amount, monthly, spread
from pricing.sources.common.endpoint import Endpoint, Site, address
from pricing.sources.common.rows import LeftOut, listed, read_rows
from pricing.sources.source import Collected

SOURCE = "Hetzner available configurations"
PATH = "/order/server/available_configurations"
CURRENCY = "EUR"
SETUP_FEE = "setup_fee_in_each_month"
GPU_PRODUCT = "GEX"  # Hetzner's prefix of its GPU servers
ACCELERATORS = {  # hetzner.com/dedicated-rootserver/matrix-gpu: each holds one
    "GEX44": "NVIDIA RTX 4000 SFF Ada Generation",
    "GEX130": "NVIDIA RTX 6000 Ada Generation",
    "GEX131": "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
}


class Price(Struct):
    """What a server costs, and setting it up."""

    monthly: Decimal
    hourly: Decimal
    setup: Decimal | None = None


class Availability(Struct):
    """A place: how many servers are free there, and their price."""

    quantity: int
    price: Price


class Part(Struct):
    """A part of a server: a processor has threads, memory a size and a unit."""

    type: str
    threads: int | None = None
    size: float | None = None
    unit: str | None = None


class Server(Struct):
    """A configuration of a product, by the places that have it."""

    product_name: str
    availabilities: dict[str, Availability]
    configuration: list[Part]


def collect(api: Endpoint, now: datetime) -> Collected:
    """Every GPU server in every place, at its cheapest configuration; one call lists everything. Raises SourceError."""
    return offers(api.get(PATH, currency=CURRENCY), now)


def offers(document: object, now: datetime) -> Collected:
    """The configurations of GPU servers as offers."""
    servers = [
        row
        for row in listed("hetzner", document)
        if isinstance(row, dict) and str(row.get("product_name")).startswith(GPU_PRODUCT)
    ]
    return read_rows("hetzner", servers, lambda row: _offers(convert(row, Server), now))


def _offers(server: Server, now: datetime) -> Iterator[Offer]:
    machine = _machine(server)
    for place, availability in server.availabilities.items():
        offer = Offer(
            *("hetzner", place.lower(), server.product_name, machine, PurchaseOption.ON_DEMAND),
            hourly_rate=amount(availability.price.hourly),
            observed_at=now,
            source=SOURCE,
            currency=CURRENCY,
            flags=stock(availability.quantity > 0),
        )
        yield from _bought(offer, availability.price)


def _bought(offer: Offer, price: Price) -> Iterable[Offer]:
    month, setup = amount(price.monthly), amount(price.setup or 0)
    rental = monthly(offer, month)
    if setup:
        yield _with_setup(rental, month, setup)
    else:
        yield billed(offer)
        yield rental


def _with_setup(rental: Offer, month: Decimal, setup: Decimal) -> Offer:
    """`monthly` is what the first month costs, `upfront` the share of it that is paid once."""
    return replace(
        rental,
        hourly_rate=spread(month + setup, rental.hours_in_month),
        monthly=month + setup,
        upfront=setup,
        recurring_hourly=rental.hourly_rate,
        flags=(*rental.flags, SETUP_FEE),
    )


def _machine(server: Server) -> Machine:
    product = server.product_name
    if product not in ACCELERATORS:
        raise LeftOut("GPU servers not known here left out", product)
    name = accelerator("hetzner", ACCELERATORS[product])
    if name is None:
        raise LeftOut("GPU servers whose accelerator has no figures left out", product)
    parts = server.configuration
    threads = sum(part.threads or 0 for part in parts if part.type == "cpu")
    memory_gib = sum(part.size or 0 for part in parts if part.type == "ram" and part.unit == "GB")
    return filled(Machine(name, 1, None, threads or None, float(memory_gib) or None))


SPEC = Site("hetzner", address("COSTCALC_HETZNER_URL", "https://robot-ws.your-server.de")).spec(
    collect,
    label="Hetzner",
    rates="by the month, and by the hour where no setup fee is charged, in euros",
    cannot_see="the server auction and traffic above the free share. Hetzner Cloud has no accelerators",
)
