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

from costcalc.offer import Offer, PurchaseOption
from pricing.offer_flags import stock
from pricing.packaged.names import region
from pricing.sources.common.endpoint import Site, address, one_call
from pricing.sources.common.listing import Listing, maybe_amount, spot
from pricing.sources.common.rows import listed, read_rows
from pricing.sources.source import Collected, SchemaChanged, SourceSetting

NAME, SOURCE = "jarvislabs", "Jarvis Labs API server_meta"
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


def offers(document: Any, now: datetime) -> Collected:
    """The answer's pools as offers."""
    pools = listed(NAME, document, "server_meta")
    currency = document.get("currency")
    if currency not in CURRENCIES:
        raise SchemaChanged(f"{NAME}: the answer is in {currency or 'no currency'}; expected {' or '.join(CURRENCIES)}")
    return read_rows(NAME, pools, partial(_offers, listing=Listing(NAME, SOURCE, now, currency)))


def _offers(row: object, listing: Listing) -> Iterator[Offer]:
    pool = convert(row, Pool, strict=False)
    bought = (
        (PurchaseOption.ON_DEMAND, None if pool.spot_only_server else pool.price_per_hour, pool.num_free_devices),
        (PurchaseOption.SPOT, pool.spot_price, pool.spot_num_free_devices),
    )
    for count in (count for count in COUNTS if count <= (pool.num_gpus or 1)):
        vcpus, ram_gib = ((each or 0) * count or None for each in (pool.cpus_per_gpu, pool.ram_per_gpu))
        machine = listing.machine(pool.gpu_type, count, pool.vram, vcpus and int(vcpus), ram_gib)
        rented = region(NAME, pool.region), f"{count}x {machine.accelerator}", machine
        for option, price, free in bought:
            if rate := maybe_amount(price):
                flags = stock(None if free is None else free >= count)
                offer = listing.offer(*rented, rate * count, flags=flags)
                yield spot(offer, offer.hourly_rate) if option is PurchaseOption.SPOT else offer


SPEC = Site(
    NAME,
    address("COSTCALC_JARVISLABS_URL", "https://backendprod.jarvislabs.net"),
    SourceSetting("COSTCALC_JARVISLABS_API_KEY", "an API key of the account", secret=True),
).spec(
    one_call("/misc/server_meta", offers),
    label="Jarvis Labs",
    rates="on demand and spot, by region",
    needs="any API key of the account (jarvislabs.ai, Settings, API keys)",
    cannot_see="commitments of a month and longer; storage; machines without an accelerator",
)
