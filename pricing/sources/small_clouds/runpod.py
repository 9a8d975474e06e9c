"""RunPod's secure and community cloud, priced by the accelerator.

A machine here is 1, 2, 4 or 8 of an accelerator, up to the most that the cloud puts into one pod: `2x H100 secure`. A price of
null or zero is unknown, and a cloud whose most is zero has none to rent. The prices of spot, a week, a month or a year have
mostly equalled on demand: only cheaper ones are offers (`savings_plan` with that term; how they are paid isn't listed). Stock
is asked for each cloud and number of accelerators; what has none is flagged `no_capacity`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from msgspec import Struct, convert
from msgspec.structs import replace

from costcalc.hardware import Machine
from costcalc.offer import Offer, PurchaseOption
from pricing.offer_flags import stock
from pricing.packaged.machine_facts import filled, packaged_machines
from pricing.packaged.names import UNSPECIFIED, accelerator
from pricing.sources.common.endpoint import Site, address
from pricing.sources.common.listing import Listing, maybe_amount, spot
from pricing.sources.common.rows import listed, read_rows
from pricing.sources.source import Collected, SchemaChanged, SourceSetting

SOURCE = "RunPod GraphQL API gpuTypes"
COUNTS = (1, 2, 4, 8)
MAKERS = ("nvidia", "amd")  # a placeholder's is "unknown"
STOCK = "\n  ".join(
    f"{cloud}{count}: lowestPrice(input: {{gpuCount: {count}, secureCloud: {is_secure}}}) {{ stockStatus }}"
    for cloud, is_secure in (("secure", "true"), ("community", "false"))
    for count in COUNTS
)
QUERY = f"""{{ gpuTypes {{
  id displayName manufacturer memoryInGb secureCloud communityCloud
  maxGpuCount maxGpuCountSecureCloud maxGpuCountCommunityCloud
  securePrice communityPrice secureSpotPrice communitySpotPrice
  oneWeekPrice oneMonthPrice threeMonthPrice sixMonthPrice oneYearPrice
  {STOCK}
}} }}"""


class Gpu(Struct, rename="camel"):
    """An accelerator with its prices in US dollars an hour."""

    id: str
    manufacturer: str
    memory_in_gb: float
    secure_cloud: bool
    community_cloud: bool
    secure_price: Decimal | None
    community_price: Decimal | None
    secure_spot_price: Decimal | None = None
    community_spot_price: Decimal | None = None
    max_gpu_count: int | None = None
    max_gpu_count_secure_cloud: int | None = None
    max_gpu_count_community_cloud: int | None = None
    one_week_price: Decimal | None = None
    one_month_price: Decimal | None = None
    three_month_price: Decimal | None = None
    six_month_price: Decimal | None = None
    one_year_price: Decimal | None = None


class Cloud(Struct, frozen=True):
    """One of RunPod's two clouds: what it asks for an accelerator, and the most it puts into one pod (0 where it has none)."""

    name: str
    price: Decimal | None
    spot_price: Decimal | None
    largest_pod: int
    prices_by_term: Mapping[str, Decimal | None]

    def is_free(self, row: Mapping[str, object], count: int) -> bool | None:
        """Whether a machine of so many accelerators can be rented now: the stock is `High`, `Medium` or `Low`, null where none
        is. None where the answer does not say it."""
        name = f"{self.name}{count}"
        return bool(convert(row[name] or {}, dict[str, str | None]).get("stockStatus")) if name in row else None


def offers(document: object, now: datetime) -> Collected:
    """The answer's accelerators as machines of 1, 2, 4 and 8."""
    if isinstance(document, dict) and document.get("errors"):
        raise SchemaChanged("runpod: the query is not understood any more")
    listing = Listing("runpod", SOURCE, now)
    return read_rows("runpod", listed("runpod", document, "data", "gpuTypes"), lambda row: _offers(row, listing))


def _offers(row: Any, listing: Listing) -> Iterator[Offer]:
    gpu, packaged = convert(row, Gpu), packaged_machines("runpod")
    if gpu.manufacturer.casefold() not in MAKERS:
        return
    name = accelerator("runpod", gpu.id, gpu.memory_in_gb)
    for cloud in _clouds(gpu):
        price = maybe_amount(cloud.price)
        for count in (count for count in COUNTS if price and count <= cloud.largest_pod):
            kind = f"{count}x {name} {cloud.name}"
            machine = filled(Machine(name, count, gpu.memory_in_gb), packaged.get(kind))
            flags = stock(cloud.is_free(row, count))
            single = listing.offer(UNSPECIFIED, kind, machine, price or Decimal(0), flags=flags)
            for offer in _bought(single, cloud):
                yield replace(offer, hourly_rate=offer.hourly_rate * count)


def _clouds(gpu: Gpu) -> tuple[Cloud, Cloud]:
    """Both clouds; only the secure one is rented by term."""
    prices = (gpu.one_week_price, gpu.one_month_price, gpu.three_month_price, gpu.six_month_price, gpu.one_year_price)
    terms = dict(zip(("7d", "1mo", "3mo", "6mo", "1y"), prices, strict=True))

    def largest_pod(has_it: bool, most: int | None) -> int:
        if has_it and most is None:  # zero is an answer; the accelerator's own maximum counts only without one
            return gpu.max_gpu_count or 1
        return (most or 0) * has_it

    secure_pod = largest_pod(gpu.secure_cloud, gpu.max_gpu_count_secure_cloud)
    community_pod = largest_pod(gpu.community_cloud, gpu.max_gpu_count_community_cloud)
    return (
        Cloud("secure", gpu.secure_price, gpu.secure_spot_price, secure_pod, terms),
        Cloud("community", gpu.community_price, gpu.community_spot_price, community_pod, {}),
    )


def _bought(single: Offer, cloud: Cloud) -> Iterable[Offer]:
    """One accelerator's price in every way that it can be bought."""
    yield single
    if (rate := maybe_amount(cloud.spot_price)) and rate < single.hourly_rate:
        yield spot(single, rate)
    for term, price in cloud.prices_by_term.items():
        if (rate := maybe_amount(price)) and rate < single.hourly_rate:
            yield replace(single, purchase_option=PurchaseOption.SAVINGS_PLAN, term=term, hourly_rate=rate)


SPEC = Site(
    "runpod",
    address("COSTCALC_RUNPOD_URL", "https://api.runpod.io"),
    SourceSetting("COSTCALC_RUNPOD_API_KEY", "an API key; optional, the listing answers anybody", secret=True),
    key_is_optional=True,
).spec(
    lambda api, now: offers(api.post("/graphql", {"query": QUERY}), now),  # one query lists everything
    label="RunPod",
    rates="on demand, spot and by term, of the secure and the community cloud",
    needs="nothing; a key is optional",
    cannot_see="prices by data centre, network volumes, serverless, and clusters",
)
