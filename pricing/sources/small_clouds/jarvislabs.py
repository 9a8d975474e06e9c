"""Jarvis Labs' machines, on demand and as spot.

A row is a pool: an accelerator in a region, as containers or as virtual machines, with its rates, vCPUs and memory for one
accelerator. Any number up to the pool's largest can be rented; 1, 2, 4 and 8 are listed here, of pools alike the cheapest.
The answer is in the currency of the account, dollars or rupees, and is refused where it does not say which.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

from msgspec import Struct, convert

from costcalc.hardware import Machine
from costcalc.offers import Offer, PurchaseOption
from pricing.offer_flags import stock
from pricing.packaged.billing import billed
from pricing.packaged.machine_facts import filled
from pricing.packaged.names import accelerator, region
from pricing.sources.common.amounts import maybe_amount
from pricing.sources.common.endpoint import Endpoint, Site, address
from pricing.sources.common.rows import listed, read_rows
from pricing.sources.source import Collected, SchemaChanged, SourceSetting

NAME, SOURCE = "jarvislabs", "Jarvis Labs API server_meta"
PATH = "/misc/server_meta"
CURRENCIES = ("USD", "INR")
COUNTS = (1, 2, 4, 8)


class Pool(Struct):
    """Machines of one accelerator in one region. Rates, vCPUs and memory are for one accelerator, memory in GB.

    `num_gpus` is the most that one machine holds. Spot has its own number of free accelerators.
    """

    gpu_type: str
    region: str
    vram: float
    price_per_hour: Decimal | None = None
    spot_price: Decimal | None = None
    cpus_per_gpu: int | None = None
    ram_per_gpu: float | None = None
    num_gpus: int | None = None
    num_free_devices: int | None = None
    spot_num_free_devices: int | None = None
    spot_only_server: bool | None = None


def collect(api: Endpoint, now: datetime) -> Collected:
    """Every pool's rates; one call lists everything. Raises SourceError."""
    return offers(api.get(PATH), now)


def offers(document: Any, now: datetime) -> Collected:
    """The answer's pools as offers."""
    pools = listed(NAME, document, "server_meta")
    currency = document.get("currency")
    if currency not in CURRENCIES:
        raise SchemaChanged(f"{NAME}: the answer is in {currency or 'no currency'}; expected {' or '.join(CURRENCIES)}")
    return read_rows(NAME, pools, partial(_offers, currency=currency, now=now))


def _offers(row: object, currency: str, now: datetime) -> Iterator[Offer]:
    pool = convert(row, Pool, strict=False)
    name = accelerator(NAME, pool.gpu_type, pool.vram)
    bought = (
        (PurchaseOption.ON_DEMAND, None if pool.spot_only_server else pool.price_per_hour, pool.num_free_devices),
        (PurchaseOption.SPOT, pool.spot_price, pool.spot_num_free_devices),
    )
    for count in (count for count in COUNTS if name and count <= (pool.num_gpus or 1)):
        rented = NAME, region(NAME, pool.region), f"{count}x {name}", _machine(pool, str(name), count)
        for option, price, free in bought:
            if rate := maybe_amount(price):
                yield billed(
                    Offer(
                        *(*rented, option, rate * count),
                        observed_at=now,
                        source=SOURCE,
                        currency=currency,
                        flags=stock(None if free is None else free >= count),
                    )
                )


def _machine(pool: Pool, name: str, count: int) -> Machine:
    vcpus, memory = ((each or 0) * count or None for each in (pool.cpus_per_gpu, pool.ram_per_gpu))
    return filled(Machine(name, count, pool.vram, vcpus and int(vcpus), memory))


SPEC = Site(
    NAME,
    address("COSTCALC_JARVISLABS_URL", "https://backendprod.jarvislabs.net"),
    SourceSetting("COSTCALC_JARVISLABS_API_KEY", "an API key of the account", secret=True),
).spec(
    collect,
    label="Jarvis Labs",
    rates="on demand and spot, by region",
    needs="any API key of the account (jarvislabs.ai, Settings, API keys)",
    cannot_see="commitments of a month and longer; storage; machines without an accelerator",
)
