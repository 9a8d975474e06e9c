"""Lambda's on-demand machines.

Instance types keep Lambda's names; prices are cents for the whole machine. Lambda has one price everywhere, and its answer
lists only the regions that have a machine free: the region is `any`, and a machine that no region has free is flagged
`no_capacity`. The description names the accelerator; where an answer lacks it, the packaged machine types or the instance's
name do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from msgspec import Struct, convert

from costcalc.hardware import Machine
from costcalc.offers import ANY_REGION, Offer, PurchaseOption
from pricing.offer_flags import stock
from pricing.packaged.billing import billed
from pricing.packaged.machine_facts import filled, packaged_machines
from pricing.packaged.names import accelerator
from pricing.sources.common.amounts import amount
from pricing.sources.common.endpoint import Endpoint, Site, address
from pricing.sources.common.rows import LeftOut, read_rows
from pricing.sources.source import Collected, SchemaChanged, SourceSetting

SOURCE = "Lambda Cloud API instance-types"
PATH = "/api/v1/instance-types"
CENTS = 100
NAMED = re.compile(r"gpu_\d+x_(?P<gpu>.+)")


class Specs(Struct):
    """What an instance type holds."""

    gpus: int
    vcpus: int
    memory_gib: float


class InstanceType(Struct):
    """A machine and its price. Some answers lack the accelerator's description, such as "H100 (80 GB SXM5)"."""

    name: str
    price_cents_per_hour: Decimal
    specs: Specs
    gpu_description: str | None = None


class Entry(Struct):
    """One entry of the answer."""

    instance_type: InstanceType
    regions_with_capacity_available: list[Any]


def collect(api: Endpoint, now: datetime) -> Collected:
    """Every instance type with an accelerator; one call lists everything. Raises SourceError."""
    return offers(api.get(PATH), now)


def offers(document: object, now: datetime) -> Collected:
    """The answer's instance types as offers."""
    data = document.get("data") if isinstance(document, dict) else None
    if not isinstance(data, dict) or not data:
        raise SchemaChanged("lambda: the answer holds no instance types")
    packaged = packaged_machines("lambda")
    return read_rows("lambda", data.values(), lambda row: _offers(convert(row, Entry), packaged, now))


def _offers(entry: Entry, packaged: Mapping[str, Machine], now: datetime) -> Iterable[Offer]:
    kind = entry.instance_type
    machine = _machine(kind, packaged)
    if machine is None:
        return
    yield billed(
        Offer(
            *("lambda", ANY_REGION, kind.name, machine, PurchaseOption.ON_DEMAND),
            hourly_rate=amount(kind.price_cents_per_hour) / CENTS,
            observed_at=now,
            source=SOURCE,
            flags=stock(bool(entry.regions_with_capacity_available)),
        )
    )


def _machine(kind: InstanceType, packaged: Mapping[str, Machine]) -> Machine | None:
    """What the instance holds, or None where it has no accelerator, or one of which there are no figures."""
    known, specs = packaged.get(kind.name), kind.specs
    if not specs.gpus:
        return None
    gpu = known.accelerator if known and known.accelerators == specs.gpus else _accelerator(kind)
    return filled(Machine(gpu, specs.gpus, None, specs.vcpus, specs.memory_gib), known) if gpu else None


def _accelerator(kind: InstanceType) -> str | None:
    """By the description, else by the name."""
    if kind.gpu_description:
        return accelerator("lambda", kind.gpu_description)
    named = NAMED.fullmatch(kind.name)
    if named is None:
        raise LeftOut("machines whose accelerator is not named left out", kind.name)
    return accelerator("lambda", named["gpu"])


SPEC = Site(
    "lambda",
    address("COSTCALC_LAMBDA_URL", "https://cloud.lambda.ai"),
    SourceSetting("COSTCALC_LAMBDA_API_KEY", "an API key of the account", secret=True),
).spec(
    collect,
    label="Lambda",
    rates="on demand",
    needs='any API key of the account (cloud.lambda.ai, "API keys")',
    cannot_see="reserved and 1-Click clusters, which sales quotes; file systems; taxes. There is no spot",
)
