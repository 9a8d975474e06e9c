"""Verda (formerly DataCrunch), on demand and spot, in US dollars.

The list of instance types is public (api.verda.com/v1/openapi.json: no security), in the currency that is asked for.
`gpu_memory` is that of all accelerators together. One price holds in all locations, and which of them has a machine free is
not asked: the region is `unspecified`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal

from msgspec import Struct, field

from costcalc.offer import Offer
from pricing.packaged.names import UNSPECIFIED
from pricing.sources.common.endpoint import Site, address, one_call
from pricing.sources.common.listing import Listing
from pricing.sources.common.rows import LeftOut, listed
from pricing.sources.source import Collected

SOURCE = "Verda API instance-types"
COUNT = re.compile(r"^\d+x\s*")  # "2x A6000"


class InstanceType(Struct):
    """A machine and its prices by the hour; `gpu_memory_gib` is that of all accelerators together."""

    instance_type: str
    currency: str
    price_per_hour: Decimal
    cores: int = field(name="cpu.number_of_cores")
    gpu: str = field(name="gpu.description")
    gpus: int = field(name="gpu.number_of_gpus")
    gpu_memory_gib: float = field(name="gpu_memory.size_in_gigabytes")
    memory_gib: float = field(name="memory.size_in_gigabytes")
    spot_price: Decimal | None = None


def offers(document: object, now: datetime) -> Collected:
    """The instance types with accelerators as offers."""
    return Listing("verda", SOURCE, now).read(listed("verda", document), InstanceType, _offers)


def _offers(kind: InstanceType, listing: Listing) -> Iterator[Offer]:
    if not kind.gpus:
        return
    memory_gib = kind.gpu_memory_gib / kind.gpus
    machine = listing.machine(COUNT.sub("", kind.gpu), kind.gpus, memory_gib, kind.cores, kind.memory_gib)
    if kind.currency.upper() != "USD":
        raise LeftOut("prices in another currency than USD left out", kind.instance_type)
    rented = UNSPECIFIED, kind.instance_type, machine
    yield from listing.sold(rented, kind.price_per_hour, spot_rate=kind.spot_price)


SPEC = Site("verda", address("COSTCALC_VERDA_URL", "https://api.verda.com")).spec(
    one_call("/v1/instance-types", offers, currency="usd"),
    label="Verda",
    rates="on demand and spot",
    cannot_see="long-term contracts, published as percentages off; the dynamic price's history; clusters; storage",
)
