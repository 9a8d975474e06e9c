"""Lambda: on-demand machines.

Needs an API key (cloud.lambda.ai, "API keys") in COSTCALC_LAMBDA_API_KEY; any key may list instance types.
Cannot see: reserved clusters and 1-Click Clusters (quoted by sales), spot (there is none), file systems, taxes. Prices are
the same everywhere, so that the region is `any`; a machine that no region can give now is flagged `no_capacity`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from costcalc.hardware import Machine
from costcalc.offers import Offer, PurchaseOption
from pricing.offer_flags import NO_CAPACITY
from pricing.packaged.billing import billing
from pricing.packaged.machine_facts import filled, packaged_machines
from pricing.packaged.names import ANY_REGION, accelerator
from pricing.sources.common.amounts import amount
from pricing.sources.common.endpoint import Endpoint, Site
from pricing.sources.common.http import Http
from pricing.sources.common.rows import LeftOut, read_rows
from pricing.sources.source import Collected, Environment, SchemaChanged, SourceSpec

SOURCE = "Lambda Cloud API instance-types"
PATH = "/api/v1/instance-types"
SITE = Site("lambda", "COSTCALC_LAMBDA_URL", "https://cloud.lambda.ai", "COSTCALC_LAMBDA_API_KEY")
CENTS = 100
NAMED = re.compile(r"gpu_\d+x_(?P<gpu>.+)")


@dataclass(frozen=True, slots=True)
class Lambda:
    """The source: one call lists everything."""

    api: Endpoint

    def collect(self, now: datetime) -> Collected:
        """Every instance type with an accelerator. Raises SourceError."""
        return offers(self.api.get(PATH), now)


def offers(document: Any, now: datetime) -> Collected:
    """The answer's instance types as offers."""
    data = document.get("data") if isinstance(document, dict) else None
    if not isinstance(data, dict) or not data:
        raise SchemaChanged("lambda: the answer holds no instance types")
    packaged = packaged_machines("lambda")
    return read_rows("lambda", data.values(), lambda entry: _offers(entry, packaged, now))


def _offers(entry: Mapping[str, Any], packaged: Mapping[str, Machine], now: datetime) -> Iterable[Offer]:
    kind, regions = entry["instance_type"], entry["regions_with_capacity_available"]
    machine = _machine(kind, packaged)
    if machine is None:
        return
    yield billing("lambda").of(
        Offer(
            *("lambda", ANY_REGION, kind["name"], machine, PurchaseOption.ON_DEMAND),
            hourly_rate=amount(kind["price_cents_per_hour"]) / CENTS,
            observed_at=now,
            source=SOURCE,
            flags=() if regions else (NO_CAPACITY,),
        )
    )


def _machine(kind: Mapping[str, Any], packaged: Mapping[str, Machine]) -> Machine | None:
    """What the instance holds, or None where it has no accelerator, or one of which there are no figures."""
    name, specs = kind["name"], kind["specs"]
    known, count = packaged.get(name), int(specs["gpus"])
    if not count:
        return None
    gpu = known.accelerator if known and known.accelerators == count else _accelerator(kind)
    return filled(Machine(gpu, count, None, specs["vcpus"], float(specs["memory_gib"])), known) if gpu else None


def _accelerator(kind: Mapping[str, Any]) -> str | None:
    """By the description ("H100 (80 GB SXM5)"), which some answers lack, else by the name."""
    if kind.get("gpu_description"):
        return accelerator("lambda", kind["gpu_description"])
    named = NAMED.fullmatch(kind["name"])
    if named is None:
        raise LeftOut("machines whose accelerator is not named left out", kind["name"])
    return accelerator("lambda", named["gpu"])


def _build(environment: Environment, http: Http) -> Lambda:
    return Lambda(SITE.open(environment, http))


SPEC = SourceSpec("lambda", "Lambda", _build, SITE.settings, SITE.secrets, SITE.missing)
