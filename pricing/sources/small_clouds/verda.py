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

from msgspec import Struct, convert

from costcalc.hardware import Machine
from costcalc.offers import Offer, PurchaseOption
from pricing.packaged.billing import billed
from pricing.packaged.machine_facts import filled
from pricing.packaged.names import UNSPECIFIED, accelerator
from pricing.sources.common.amounts import amount, maybe_amount, spot
from pricing.sources.common.endpoint import Endpoint, Site, address
from pricing.sources.common.rows import LeftOut, listed, read_rows
from pricing.sources.source import Collected

SOURCE = "Verda API instance-types"
PATH = "/v1/instance-types"
COUNT = re.compile(r"^\d+x\s*")  # "2x A6000"


class Cpu(Struct):
    """The processors of a machine."""

    number_of_cores: int


class Gpu(Struct):
    """The accelerators of a machine, described as "2x A6000"."""

    description: str
    number_of_gpus: int


class Memory(Struct):
    """Memory, in GiB."""

    size_in_gigabytes: float


class InstanceType(Struct):
    """A machine and its prices by the hour; `gpu_memory` is that of all accelerators together."""

    instance_type: str
    currency: str
    price_per_hour: Decimal
    cpu: Cpu
    gpu: Gpu
    gpu_memory: Memory
    memory: Memory
    spot_price: Decimal | None = None


def collect(api: Endpoint, now: datetime) -> Collected:
    """Every instance type with an accelerator; one call lists everything. Raises SourceError."""
    return offers(api.get(PATH, currency="usd"), now)


def offers(document: object, now: datetime) -> Collected:
    """The instance types with accelerators as offers."""
    return read_rows("verda", listed("verda", document), lambda row: _offers(convert(row, InstanceType), now))


def _offers(kind: InstanceType, now: datetime) -> Iterator[Offer]:
    machine = _machine(kind) if kind.gpu.number_of_gpus else None
    if machine is None:
        return
    if kind.currency.upper() != "USD":
        raise LeftOut("prices in another currency than USD left out", kind.instance_type)
    offer = Offer(
        *("verda", UNSPECIFIED, kind.instance_type, machine, PurchaseOption.ON_DEMAND),
        hourly_rate=amount(kind.price_per_hour),
        observed_at=now,
        source=SOURCE,
    )
    yield billed(offer)
    if rate := maybe_amount(kind.spot_price):
        yield billed(spot(offer, rate))


def _machine(kind: InstanceType) -> Machine | None:
    """None for an accelerator of which there are no figures."""
    count = kind.gpu.number_of_gpus
    memory_gib = kind.gpu_memory.size_in_gigabytes / count
    name = accelerator("verda", COUNT.sub("", kind.gpu.description), memory_gib)
    if name is None:
        return None
    return filled(Machine(name, count, memory_gib, kind.cpu.number_of_cores, kind.memory.size_in_gigabytes))


SPEC = Site("verda", address("COSTCALC_VERDA_URL", "https://api.verda.com")).spec(
    collect,
    label="Verda",
    rates="on demand and spot",
    cannot_see="long-term contracts, published as percentages off; the dynamic price's history; clusters; storage",
)
