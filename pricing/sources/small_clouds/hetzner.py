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

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from costcalc.hardware import Machine
from costcalc.offer import Offer
from pricing.offer_flags import stock
from pricing.sources.common.endpoint import Site, address, one_call
from pricing.sources.common.listing import Listing, amount, monthly, spread
from pricing.sources.common.rows import LeftOut, listed
from pricing.sources.source import Collected

SOURCE = "Hetzner available configurations"
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


def offers(document: object, now: datetime) -> Collected:
    """The configurations of GPU servers as offers."""
    rows = (row for row in listed("hetzner", document) if isinstance(row, dict))
    servers = [row for row in rows if str(row.get("product_name")).startswith(GPU_PRODUCT)]
    return Listing("hetzner", SOURCE, now, CURRENCY).read(servers, Server, _offers)


def _offers(server: Server, listing: Listing) -> Iterator[Offer]:
    machine = _machine(server, listing)
    for place, availability in server.availabilities.items():
        price, flags = availability.price, stock(availability.quantity > 0)
        offer = listing.offer(place.lower(), server.product_name, machine, amount(price.hourly), flags=flags)
        month, setup = amount(price.monthly), amount(price.setup or 0)
        rental = monthly(offer, month)
        yield from [_with_setup(rental, month, setup)] if setup else [offer, rental]


def _with_setup(rental: Offer, month: Decimal, setup: Decimal) -> Offer:
    """The rental with its setup fee: `monthly` is the cost of the first month, `upfront` the part of it that is paid once."""
    return replace(
        rental,
        hourly_rate=spread(month + setup, rental.hours_in_month),
        monthly=month + setup,
        upfront=setup,
        recurring_hourly=rental.hourly_rate,
        flags=(*rental.flags, SETUP_FEE),
    )


def _machine(server: Server, listing: Listing) -> Machine:
    product, parts = server.product_name, server.configuration
    if product not in ACCELERATORS:
        raise LeftOut("GPU servers not known here left out", product)
    threads = sum(part.threads or 0 for part in parts if part.type == "cpu")
    memory_gib = sum(part.size or 0 for part in parts if part.type == "ram" and part.unit == "GB")
    return listing.machine(ACCELERATORS[product], 1, None, threads or None, float(memory_gib) or None)


SPEC = Site("hetzner", address("COSTCALC_HETZNER_URL", "https://robot-ws.your-server.de")).spec(
    one_call("/order/server/available_configurations", offers, currency=CURRENCY),
    label="Hetzner",
    rates="by the month, and by the hour where no setup fee is charged, in euros",
    cannot_see="the server auction and traffic above the free share. Hetzner Cloud has no accelerators",
)
