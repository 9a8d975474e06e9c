"""Cloud Billing Catalog SKUs: which of them price one unit of a machine, for which use, at what rate.

Google links no machine type to its SKUs: the description is the key, so it is read whole and nothing is guessed. Wording
as in the public catalogue of 2023 to 2026; see docs/price-sources-gcp.md.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any

from msgspec import Struct, convert, field

from costcalc.offer import PurchaseOption
from pricing.sources.common.listing import amount
from pricing.sources.common.rows import flat

HOURS_IN_MONTH = 730  # Google's own month, by which local SSDs are billed
LOCAL_SSD = "local SSD"
NANOS = Decimal(10) ** 9
CORE, MEMORY = "{} vCPU", "{} GiB"  # the parts that one vCPU, and one GiB, of a family are: `A2 vCPU`


class Use(Struct, frozen=True):
    """How a part is bought; `term` is `1y` or `3y` for commitments."""

    option: PurchaseOption
    term: str | None = None


ON_DEMAND = Use(PurchaseOption.ON_DEMAND)
SPOT = Use(PurchaseOption.SPOT)
USES = (*(ON_DEMAND, SPOT), *(Use(PurchaseOption.COMMITTED_USE, term) for term in ("1y", "3y")))


class Sku(Struct, frozen=True):
    """US dollars per hour for one vCPU, GiB, accelerator or (TPU v2 to v4) board of four chips."""

    sku_id: str
    part: str
    use: Use
    hourly: Decimal
    regions: tuple[str, ...]


class SkipReason(StrEnum):
    """Why SKUs are not among the rates."""

    NOT_OURS = "of other things"
    FREE = "priced at zero"
    OTHER_CURRENCY = "in another currency than USD left out"
    UNKNOWN = "of accelerators that are not known here left out"
    UNREADABLE = "without a readable price, unit or region left out"


class Skipped(Struct, frozen=True):
    """A SKU that gives no rate; `label` names what a person should look at."""

    why: SkipReason
    label: str = ""


# Other ways to buy (calendar mode and DWS reservations, capacity-optimized, sole tenancy), surcharges, custom and suspended
# machines, spend-based commitments, visualisation licences: all carry the plain usage types too.
_OTHER_KINDS = re.compile(
    r"reserved|reservation|calendar mode|\bdws\b|defined duration|capacity optimized|sole tenan|premium|custom|suspended"
    r"|vm state|dollar based|virtual workstation|vgpu|extended|overcommit",
    re.IGNORECASE,
)
_COMMITMENT = re.compile(r"^commitment v\d+: (?P<subject>.+?) for (?P<years>\d) years?$", re.IGNORECASE)
# Spot accelerators of A4 and TPU v2 to v4 have usageType OnDemand: their descriptions say what they are.
_SPOT = re.compile(r"\bpreemptible\b|\bspot\b", re.IGNORECASE)
_SPOT_WORDS = re.compile(
    r"^(spot )?preemptible | attached to (spot )?(preemptible )?vms\b|\bpreemptible ", re.IGNORECASE
)
_PLACE = re.compile(r" (running )?in .+$", re.IGNORECASE)
_CORE_OR_RAM = re.compile(r"^(?:(?P<family>\w+) )?(?:predefined )?(?P<instance>instance )?(?P<kind>core|cpu|ram)$")
_TPU = re.compile(r"^tpu[- ]?v?(?P<generation>\d(?:e|p|x|lite)?)(?P<rest>.*)$")
_TPU_BOARD = re.compile(r"^(?P<pod> pod)?( accelerator\b.*)?$")

_FAMILIES = {**{name.lower(): name for name in ("A2", "A3", "A3Plus", "A3Ultra", "G2", "G4", "N1")}, "a3mega": "A3Plus"}
_ACCELERATORS = {
    "a100": "nvidia-tesla-a100",
    "a100 80gb": "nvidia-a100-80gb",
    "h100 80gb": "nvidia-h100-80gb",
    **dict.fromkeys(("h100 80gb mega", "h100 mega 80gb", "h100 80gb plus"), "nvidia-h100-mega-80gb"),
    "h200 141gb": "nvidia-h200-141gb",
    "a4 b200 (1 slice)": "nvidia-b200",  # a slice holds its share of vCPU, memory and local SSD
    "a4x gb200 (1 slice)": "nvidia-gb200",
    "l4": "nvidia-l4",
    "rtx 6000 96gb": "nvidia-rtx-pro-6000",
    "rtx pro 6000": "nvidia-rtx-pro-6000",
    **{name: f"nvidia-tesla-{name}" for name in ("t4", "v100", "p100", "p4", "k80")},
}
_GENERATIONS = {**{name: name for name in ("2", "3", "4", "5e", "5p", "6e", "7x")}, "5lite": "5e"}
_HOURS_OF_UNIT = {"h": 1, "GiBy.h": 1, "GiBy.mo": HOURS_IN_MONTH}


def tpu_part(generation: str, pod: bool = False) -> str:
    """A chip of TPU v5e and later; a board of four chips of v2 to v4, alone or in a pod."""
    return f"TPU {generation} pod" if pod else f"TPU {generation}"


class Payload(Struct, rename="camel"):
    """A SKU of the catalogue. What it costs is read only where it is one of ours; `places` are those of a SKU that names no
    `service_regions`."""

    description: str
    name: str = ""
    sku_id: str = ""
    resource_group: str = field(name="category.resourceGroup", default="")
    usage_type: str = field(name="category.usageType", default="")
    service_regions: list[str] = []
    places: list[str] = field(name="geoTaxonomy.regions", default=[])
    pricing_info: Any = None


class Money(Struct, rename="camel"):
    """An amount in units and billionths; either is left out when it is zero."""

    units: Decimal | None = None
    nanos: int = 0
    currency_code: str = "USD"


class Tier(Struct, rename="camel"):
    """The price from an amount of use on."""

    unit_price: Money
    start_usage_amount: Decimal = Decimal(0)


class PricingInfo(Struct):
    """The prices that hold from some time on, by a unit such as `h` or `GiBy.mo`."""

    usage_unit: str = field(name="pricingExpression.usageUnit")
    tiered_rates: list[Tier] = field(name="pricingExpression.tieredRates")


def read_sku(payload: object) -> Sku | Skipped:
    """One SKU of the catalogue as a rate, or why it is none. Never raises on what a provider may send."""
    try:
        sku = convert(flat(payload), Payload)
    except ValueError as error:
        return Skipped(SkipReason.UNREADABLE, f"a SKU: {error}")
    description = " ".join(sku.description.split())
    commitment = _COMMITMENT.match(description)
    use = _use(description, sku.usage_type, commitment)
    if use is None or _OTHER_KINDS.search(description):
        return Skipped(SkipReason.NOT_OURS)
    # what is priced, without the term, the place and the words that say spot
    subject = _SPOT_WORDS.sub("", _PLACE.sub("", commitment["subject"] if commitment else description)).strip()
    if part := _part(subject.lower(), bool(commitment)):
        return _priced(sku, part, use)
    is_unknown = sku.resource_group in ("GPU", "TPU")
    return Skipped(SkipReason.UNKNOWN, subject) if is_unknown else Skipped(SkipReason.NOT_OURS)


def _use(description: str, usage_type: str, commitment: re.Match[str] | None) -> Use | None:
    if commitment:
        use = Use(PurchaseOption.COMMITTED_USE, f"{commitment['years']}y")
        return use if use in USES and usage_type == f"Commit{commitment['years']}Yr" else None
    if usage_type not in ("OnDemand", "Preemptible"):
        return None
    return SPOT if usage_type == "Preemptible" or _SPOT.search(description) else ON_DEMAND


def _part(subject: str, committed: bool) -> str | None:
    if subject in ("ssd backed local storage", "local ssd"):
        return LOCAL_SSD
    words = subject.replace("(1 gpu slice)", "(1 slice)").split()
    accelerator = " ".join(word for word in words if word not in ("nvidia", "tesla", "gpu"))
    return _core_or_memory(subject, committed) or _tpu(subject) or _ACCELERATORS.get(accelerator)


def _core_or_memory(subject: str, committed: bool) -> str | None:
    match = _CORE_OR_RAM.match(subject)
    if not match or not (committed or match["instance"]):
        return None
    # "Commitment v1: Cpu in ..." without a family is N1's
    family = _FAMILIES.get(match["family"] or ("n1" if committed else ""))
    return family and (MEMORY if match["kind"] == "ram" else CORE).format(family)


def _tpu(subject: str) -> str | None:
    if not (match := _TPU.match(subject)):
        return None
    generation, board = _GENERATIONS.get(match["generation"]), _TPU_BOARD.match(match["rest"])
    if generation is None or board is None or (generation not in "234" and match["rest"]):
        return None
    name = generation if generation == "7x" else f"v{generation}"
    return tpu_part(name, pod=bool(board["pod"]) or generation == "4")  # v4 has one price, alone or in a pod


def _priced(sku: Payload, part: str, use: Use) -> Sku | Skipped:
    units = ("GiBy.mo", "GiBy.h") if part == LOCAL_SSD else ("GiBy.h",) if part.endswith(" GiB") else ("h",)
    price = _hourly(sku.pricing_info, units)
    if isinstance(price, Skipped):
        return Skipped(price.why, price.label or sku.description)
    if not (regions := sku.service_regions or sku.places):
        return Skipped(SkipReason.UNREADABLE, sku.description)
    return Sku(sku.sku_id or sku.name or sku.description, part, use, price, tuple(regions))


def _hourly(pricing_info: object, units: tuple[str, ...]) -> Decimal | Skipped:
    """The hourly price in the last entry: entries are in order of time."""
    try:
        infos = [convert(flat(info), PricingInfo) for info in convert(pricing_info, list[Any])]
        tiers = sorted(infos[-1].tiered_rates, key=lambda tier: tier.start_usage_amount)
        prices = [amount((tier.unit_price.units or 0) + tier.unit_price.nanos / NANOS) for tier in tiers]
    except (ValueError, ArithmeticError, IndexError):
        return Skipped(SkipReason.UNREADABLE)
    currencies = {tier.unit_price.currency_code for tier in tiers} - {"USD"}
    if currencies:
        return Skipped(SkipReason.OTHER_CURRENCY, min(currencies))
    if (unit := infos[-1].usage_unit) not in units or not prices:
        return Skipped(SkipReason.UNREADABLE)
    paid = [price for price in prices if price]  # a free first tier is not what a run pays
    return paid[0] / _HOURS_OF_UNIT[unit] if paid else Skipped(SkipReason.FREE)


class Rate(Struct, frozen=True):
    """What one unit of a part costs per hour, and the SKU that says so."""

    hourly: Decimal
    sku_id: str


class RateBook(Struct, frozen=True):
    """Rates by part, use and region; `contradictions` names parts that two SKUs price differently."""

    rates: Mapping[tuple[str, Use, str], Rate]
    contradictions: tuple[str, ...]

    def rate(self, part: str, use: Use, region: str) -> Rate | None:
        """The rate of one unit, None where Google lists none."""
        return self.rates.get((part, use, region))

    @property
    def regions(self) -> tuple[str, ...]:
        return tuple(sorted({region for _, _, region in self.rates}))


def rate_book(skus: Iterable[Sku]) -> RateBook:
    """One rate per part, use and region: the dearer of two that differ, in whatever order they come."""
    listed: defaultdict[tuple[str, Use, str], set[Rate]] = defaultdict(set)
    for sku in skus:
        for region in sku.regions:
            listed[sku.part, sku.use, region].add(Rate(sku.hourly, sku.sku_id))
    rates = {key: max(rates, key=lambda rate: (rate.hourly, rate.sku_id)) for key, rates in listed.items()}
    twice = {key[0] for key, rates_ in listed.items() if len({rate.hourly for rate in rates_}) > 1}
    return RateBook(rates, tuple(sorted(twice)))
