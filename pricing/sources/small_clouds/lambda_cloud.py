"""Lambda's on-demand machines.

Instance types keep Lambda's names; prices are cents for the whole machine. Lambda has one price everywhere, and its answer
lists only the regions that have a machine free: the region is `any`, and a machine that no region has free is flagged
`no_capacity`. The description names the accelerator; where an answer lacks it, the packaged machine types or the instance's
name do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any

from msgspec import Struct, field

from costcalc.hardware import Machine
from costcalc.offer import ANY_REGION, Offer
from pricing.packaged.machine_facts import filled, packaged_machines
from pricing.packaged.names import accelerator
from pricing.sources.common.endpoint import Site, address, one_call
from pricing.sources.common.listing import Listing, amount
from pricing.sources.common.rows import LeftOut
from pricing.sources.source import Collected, SchemaChanged, SourceSetting

SOURCE = "Lambda Cloud API instance-types"
CENTS = 100
NAMED = re.compile(r"gpu_\d+x_(?P<gpu>.+)")


class InstanceType(Struct):
    """A machine and its price. Some answers lack the accelerator's description, such as "H100 (80 GB SXM5)"."""

    name: str = field(name="instance_type.name")
    price_cents_per_hour: Decimal = field(name="instance_type.price_cents_per_hour")
    gpus: int = field(name="instance_type.specs.gpus")
    vcpus: int = field(name="instance_type.specs.vcpus")
    memory_gib: float = field(name="instance_type.specs.memory_gib")
    regions_with_capacity_available: list[Any]
    gpu_description: str | None = field(name="instance_type.gpu_description", default=None)


def offers(document: object, now: datetime) -> Collected:
    """The answer's instance types as offers."""
    data = document.get("data") if isinstance(document, dict) else None
    if not isinstance(data, dict) or not data:
        raise SchemaChanged("lambda: the answer holds no instance types")
    return Listing("lambda", SOURCE, now).read(data.values(), InstanceType, _offers)


def _offers(kind: InstanceType, listing: Listing) -> Iterator[Offer]:
    if not kind.gpus:
        return
    stated = packaged_machines("lambda").get(kind.name)
    gpu = stated.accelerator if stated and stated.accelerators == kind.gpus else _accelerator(kind)
    machine = filled(Machine(gpu, kind.gpus, None, kind.vcpus, kind.memory_gib), stated)
    rate, is_free = amount(kind.price_cents_per_hour) / CENTS, bool(kind.regions_with_capacity_available)
    yield from listing.sold((ANY_REGION, kind.name, machine), rate, is_free=is_free)


def _accelerator(kind: InstanceType) -> str:
    """By the description, else by the name."""
    named = NAMED.fullmatch(kind.name)
    spelling = kind.gpu_description or (named and named["gpu"])
    if not spelling:
        raise LeftOut("machines whose accelerator is not named left out", kind.name)
    return accelerator("lambda", spelling)


SPEC = Site(
    "lambda",
    address("COSTCALC_LAMBDA_URL", "https://cloud.lambda.ai"),
    SourceSetting("COSTCALC_LAMBDA_API_KEY", "an API key of the account", secret=True),
).spec(
    one_call("/api/v1/instance-types", offers),
    label="Lambda",
    rates="on demand",
    needs='any API key of the account (cloud.lambda.ai, "API keys")',
    cannot_see="reserved and 1-Click clusters, which sales quotes; file systems; taxes. There is no spot",
)
