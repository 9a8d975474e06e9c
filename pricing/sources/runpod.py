"""RunPod: secure and community cloud by the accelerator-hour, on demand, spot and by term.

Needs no permission: the GraphQL listing answers anybody. COSTCALC_RUNPOD_API_KEY is sent where it is set.
Cannot see: prices by data centre, network volumes, serverless, clusters, and whether so many accelerators can be had in
one machine. RunPod prices an accelerator; a machine here is 1, 2, 4 or 8 of them. The spot price moves with bids. Terms
that cost as much as on demand are no offers. Machines without stock are flagged `no_capacity`.
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
from pricing.packaged.machine_facts import filled, packaged_machines
from pricing.packaged.names import UNSPECIFIED, accelerator
from pricing.sources.common.amounts import maybe_amount, spot
from pricing.sources.common.endpoint import Endpoint, Site
from pricing.sources.common.http import Http
from pricing.sources.common.rows import listed, read_rows
from pricing.sources.source import Collected, Environment, SchemaChanged, SourceSpec

SOURCE = "RunPod GraphQL API gpuTypes"
SITE = Site("runpod", "COSTCALC_RUNPOD_URL", "https://api.runpod.io", "COSTCALC_RUNPOD_API_KEY", key_is_optional=True)
COUNTS = (1, 2, 4, 8)
TERMS = {
    "oneWeekPrice": "7d",
    "oneMonthPrice": "1mo",
    "threeMonthPrice": "3mo",
    "sixMonthPrice": "6mo",
    "oneYearPrice": "1y",
}
QUERY = f"""{{ gpuTypes {{
  id displayName manufacturer memoryInGb secureCloud communityCloud
  maxGpuCount maxGpuCountSecureCloud maxGpuCountCommunityCloud
  securePrice communityPrice secureSpotPrice communitySpotPrice {" ".join(TERMS)}
  lowestPrice(input: {{gpuCount: 1}}) {{ minimumBidPrice uninterruptablePrice stockStatus }}
}} }}"""


@dataclass(frozen=True, slots=True)
class Cloud:
    """One of RunPod's two: the name it bears in an instance type, and the fields that belong to it."""

    name: str
    price: str
    spot_price: str
    most: str
    terms: Mapping[str, str]


CLOUDS = (
    Cloud("secure", "securePrice", "secureSpotPrice", "maxGpuCountSecureCloud", TERMS),
    Cloud("community", "communityPrice", "communitySpotPrice", "maxGpuCountCommunityCloud", {}),
)


@dataclass(frozen=True, slots=True)
class RunPod:
    """The source: one query lists everything."""

    api: Endpoint

    def collect(self, now: datetime) -> Collected:
        """Both clouds' prices. Raises SourceError."""
        return offers(self.api.post("/graphql", {"query": QUERY}), now)


def offers(document: Any, now: datetime) -> Collected:
    """The answer's accelerators as machines of 1, 2, 4 and 8."""
    if isinstance(document, dict) and document.get("errors"):
        raise SchemaChanged("runpod: the query is not understood any more")
    packaged = packaged_machines("runpod")
    return read_rows("runpod", listed("runpod", document, "data", "gpuTypes"), lambda gpu: _offers(gpu, packaged, now))


def _offers(gpu: Mapping[str, Any], packaged: Mapping[str, Machine], now: datetime) -> Iterator[Offer]:
    if gpu["manufacturer"].casefold() not in ("nvidia", "amd"):
        return  # a placeholder, "unknown"
    name = accelerator("runpod", gpu["id"], gpu["memoryInGb"])
    for cloud in CLOUDS if name else ():
        price = maybe_amount(gpu[cloud.price])
        most = int(gpu.get(cloud.most) or gpu.get("maxGpuCount") or 1)
        for count in (count for count in COUNTS if price and count <= most):
            kind = f"{count}x {name} {cloud.name}"
            machine = filled(Machine(str(name), count, float(gpu["memoryInGb"])), packaged.get(kind))
            one = Offer(
                *("runpod", UNSPECIFIED, kind, machine, PurchaseOption.ON_DEMAND),
                hourly_rate=price or Decimal(0),
                observed_at=now,
                source=SOURCE,
                flags=(NO_CAPACITY,) if _is_out_of_stock(gpu) else (),
            )
            yield from (billing("runpod").of(_times(offer, count)) for offer in _bought(one, gpu, cloud))


def _bought(one: Offer, gpu: Mapping[str, Any], cloud: Cloud) -> Iterable[Offer]:
    """One accelerator's price in every way that it can be bought."""
    yield one
    if rate := maybe_amount(gpu.get(cloud.spot_price)):
        yield spot(one, rate)
    for column, term in cloud.terms.items():
        rate = maybe_amount(gpu.get(column))
        if rate and rate < one.hourly_rate:
            yield replace(one, purchase_option=PurchaseOption.SAVINGS_PLAN, term=term, hourly_rate=rate)


def _times(offer: Offer, count: int) -> Offer:
    return replace(offer, hourly_rate=offer.hourly_rate * count)


def _is_out_of_stock(gpu: Mapping[str, Any]) -> bool:
    lowest = gpu.get("lowestPrice") or {}
    return "stockStatus" in lowest and lowest["stockStatus"] is None


def _build(environment: Environment, http: Http) -> RunPod:
    return RunPod(SITE.open(environment, http))


SPEC = SourceSpec("runpod", "RunPod", _build, SITE.settings, SITE.secrets)
