"""AWS's price list to offers, on demand and reserved. Pure.

Wire format: docs.aws.amazon.com, "AWS Price List" (price list files).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise

from msgspec import Struct, convert, field
from msgspec.structs import replace

from costcalc.hardware import Machine
from costcalc.offer import Gap, Offer, Payment, PurchaseOption
from costcalc.units import HOURS_PER_YEAR
from pricing.checks import ROUNDING, UPFRONT_FIRST, shortened, terms_in_words
from pricing.packaged import names
from pricing.sources.common.listing import Listing, amount
from pricing.sources.common.rows import flag_dear_spot, flat
from pricing.sources.source import Collected, SchemaChanged

Machines = Callable[[str], Machine | None]  # instance type -> what it holds; None where that is unknown

LONG_AGO = datetime.min.replace(tzinfo=UTC)
PAYMENTS = {
    "No Upfront": Payment.NO_UPFRONT,
    "Partial Upfront": Payment.PARTIAL_UPFRONT,
    "All Upfront": Payment.ALL_UPFRONT,
}
ACCELERATED_FAMILIES = ("GPU instance", "Machine Learning ASIC Instances")
# Plain Linux on shared hardware. Without `capacitystatus` come the rows of capacity reservations (unused ones at the full
# rate, allocated ones at 0); filters have let neighbours through. An attribute that a row lacks does not count against it.
PLAIN_LINUX = {
    "operatingSystem": "Linux",
    "tenancy": "Shared",
    "capacitystatus": "Used",
    "preInstalledSw": "NA",
    "licenseModel": "No License required",
    "locationType": "AWS Region",  # Local and Wavelength Zones are priced apart
}
MARKET_OPTIONS = ("OnDemand", "CapacityBlock")
NOT_FOR_TRAINING = ("dl2q.", "vt1.")  # inference and video only


class Product(Struct, frozen=True):
    """A Linux machine that AWS rents by itself on shared hardware, or else `in_blocks` of capacity."""

    sku: str
    region: str
    instance_type: str
    accelerated: bool
    in_blocks: bool = False


class ListedProduct(Struct, rename="camel"):
    """A product as the price list has it."""

    sku: str
    attributes: dict[str, str] = {}
    product_family: str = "Compute Instance"


class Dimension(Struct, rename="camel"):
    """A price by currency; the unit is `Hrs`, or `Quantity` for what is paid upfront."""

    unit: str
    price_per_unit: dict[str, Decimal]


class TermAttributes(Struct, rename="pascal"):
    """How a reservation is bought; empty on demand."""

    purchase_option: str = ""
    lease_contract_length: str = ""
    offering_class: str = "standard"


class Term(Struct, rename="camel"):
    """A way to buy a product: its prices add up, in no stable order."""

    price_dimensions: dict[str, Dimension]
    term_attributes: TermAttributes
    effective_date: datetime | None = None


class Terms(Struct):
    """The ways to buy a product."""

    on_demand: dict[str, Term] | None = field(default=None, name="OnDemand")
    reserved: dict[str, Term] | None = field(default=None, name="Reserved")


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turns a payload that doesn't have the shape we read into SchemaChanged, naming the payload and what is wrong."""
    try:
        yield
    except (ValueError, ArithmeticError, LookupError) as error:
        raise SchemaChanged(f"{what} has changed its shape: {error}") from error


def product(payload: object) -> Product | None:
    """The machine behind one product of the price list, or None if it is not a plain Linux machine in a known region."""
    listed = convert(payload, ListedProduct)
    attributes = listed.attributes
    instance_type, region = attributes.get("instanceType"), region_of(attributes)
    is_plain = all(attributes.get(name, wanted) == wanted for name, wanted in PLAIN_LINUX.items())
    market = attributes.get("marketoption", "OnDemand")
    is_rented = listed.product_family.startswith("Compute Instance") and market in MARKET_OPTIONS
    if not (is_plain and is_rented and instance_type and region) or instance_type.startswith(NOT_FOR_TRAINING):
        return None
    accelerated = attributes.get("instanceFamily", "") in ACCELERATED_FAMILIES
    return Product(listed.sku, region, instance_type, accelerated, in_blocks=market == "CapacityBlock")


def price_list_offers(listed: Product, payload: object, machine: Machine, listing: Listing) -> Iterator[Offer]:
    """Every on-demand and reserved offer in one product's terms (`OnDemand`, `Reserved`). Raises SchemaChanged.

    The price list says where capacity blocks are sold, and 0 for their price: they give no offer here.
    """
    if listed.in_blocks:
        return
    with reading(f"AWS price list, {listed.instance_type} in {listed.region}"):
        terms = convert(payload, Terms)
        for term in (terms.on_demand or {}).values():
            if rate := _prices(listed, term)["Hrs"]:  # a rate of 0 means: not sold this way
                started = term.effective_date
                yield listing.offer(listed.region, listed.instance_type, machine, rate, effective_from=started)
        for term in (terms.reserved or {}).values():
            yield from _reserved(listed, term, machine, listing)


def _reserved(listed: Product, term: Term, machine: Machine, listing: Listing) -> Iterator[Offer]:
    """Effective hourly = recurring + upfront / hours in the term; all upfront still carries a recurring 0."""
    bought = term.term_attributes
    payment = PAYMENTS.get(bought.purchase_option)  # None: Light, Medium, Heavy Utilization, no longer sold
    years = int(re.sub(r"\D", "", bought.lease_contract_length))
    prices = _prices(listed, term)
    recurring, upfront = prices.get("Hrs", Decimal(0)), prices.get("Quantity", Decimal(0))
    effective = recurring + upfront / (years * HOURS_PER_YEAR)
    if payment and effective:
        yield listing.offer(
            *(listed.region, listed.instance_type, machine, effective),
            purchase_option=PurchaseOption.RESERVED,
            term=f"{years}y",
            payment=payment,
            offering_class=bought.offering_class.lower(),
            upfront=upfront,
            recurring_hourly=recurring,
            effective_from=term.effective_date,
        )


def _prices(listed: Product, term: Term) -> dict[str, Decimal]:
    """Price in US dollars by unit."""
    prices = {}
    for dimension in term.price_dimensions.values():
        if "USD" not in dimension.price_per_unit:
            currencies = ", ".join(sorted(dimension.price_per_unit)) or "no currency"
            raise SchemaChanged(f"AWS prices {listed.instance_type} in {currencies}; expected USD")
        prices[dimension.unit] = amount(dimension.price_per_unit["USD"])
    return prices


MIB_PER_GIB = 1024


class Memory(Struct):
    """Memory in MiB."""

    size_mib: int = field(default=0, name="SizeInMiB")


class Device(Struct, rename="pascal"):
    """Accelerators of one kind; a partition size below 1 is a share of one."""

    name: str
    count: int
    memory_info: Memory = field(default_factory=Memory)
    gpu_partition_size: float = 1


class InstanceType(Struct):
    """What DescribeInstanceTypes says of a machine type. Older Inferentia may stand under Neuron too."""

    name: str = field(name="InstanceType")
    vcpus: int = field(name="VCpuInfo.DefaultVCpus")
    memory_mib: int = field(name="MemoryInfo.SizeInMiB")
    gpus: list[Device] = field(name="GpuInfo.Gpus", default=[])
    neuron: list[Device] = field(name="NeuronInfo.NeuronDevices", default=[])
    inference: list[Device] = field(name="InferenceAcceleratorInfo.Accelerators", default=[])


def described_machines(rows: Iterable[object], packaged: Mapping[str, Machine]) -> dict[str, Machine | None]:
    """Machines by type, from DescribeInstanceTypes; None for one without a whole accelerator of which we have figures.

    A type whose accelerator has a name that we don't know is left out. Raises SchemaChanged.
    """
    machines: dict[str, Machine | None] = {}
    with reading("ec2:DescribeInstanceTypes"):
        for kind in (convert(flat(row), InstanceType) for row in rows):
            try:
                machines[kind.name] = _machine(kind, packaged.get(kind.name))
            except names.NoFigures:
                machines[kind.name] = None
            except names.UnknownName:
                continue
    return machines


def _machine(kind: InstanceType, packaged: Machine | None) -> Machine | None:
    devices = kind.gpus or kind.neuron or kind.inference
    count = sum(device.count for device in devices)
    # g6f and gr6f rent an eighth to a half of a GPU: Count 0 and a partition size, or a Count of 1 with one.
    if not count or any(device.gpu_partition_size < 1 for device in devices):
        return None
    memory_gib = devices[0].memory_info.size_mib / MIB_PER_GIB or None
    name = names.accelerator("aws", devices[0].name, memory_gib)
    if packaged and (packaged.accelerator, packaged.accelerators) == (name, count):
        memory_gib = packaged.accelerator_memory_gib  # EC2 understates some, an L4's 24 GiB as 22888 MiB
    return Machine(name, count, memory_gib, kind.vcpus, kind.memory_mib / MIB_PER_GIB)


def region_of(attributes: Mapping[str, str]) -> str | None:
    """The region of a price list element: by code, or by place name in older ones. None for GovCloud and unknown places."""
    try:
        region = names.region("aws", attributes.get("regionCode") or attributes.get("location", ""))
    except names.UnknownName:
        return None
    return None if region.startswith("us-gov-") else region


def publishable(offers: Iterable[Offer]) -> tuple[tuple[Offer, ...], tuple[Gap, ...]]:
    """The offers to publish, and a gap for commitments left out because they cost more than on demand.

    AWS does list such: on-demand rates of P4 and P5 fell in June 2025, reservations' did not. Only a ladder of payments
    that is in order by itself is trimmed; any other is left for the checks to leave out.
    """
    current = newest(offers)
    plain = (each for each in current if each.purchase_option is PurchaseOption.ON_DEMAND)
    on_demand = {each.key[:3]: each.hourly_rate for each in plain}
    dear = set[Offer]()
    for ladder in _ladders(current):
        is_in_order = all(first.hourly_rate <= later.hourly_rate + ROUNDING for first, later in pairwise(ladder))
        limit = on_demand.get(ladder[0].key[:3])
        if is_in_order and limit is not None:
            dear |= {each for each in ladder if each.hourly_rate > limit + ROUNDING}
    names = [f"{each.instance_type} in {each.region} {terms_in_words(each)}" for each in current if each in dear]
    gaps = (Gap("aws", f"left out, dearer than on demand: {shortened(names)}"),) if names else ()
    return flag_dear_spot(each for each in current if each not in dear), gaps


def settled(collected: Collected, unknown: set[str]) -> Collected:
    """The offers to publish, with gaps for those left out and for the `unknown` types, of which nobody says what they hold.

    Nothing follows from the absence of either.
    """
    kept, left_out = publishable(collected.offers)
    dear = {each.key for each in collected.offers} - {each.key for each in kept}
    apart = frozenset(unknown | {instance_type for _, _, instance_type, *_ in dear})
    nameless = f"left out, no table names their accelerators: {', '.join(sorted(unknown))}"
    gaps = (*collected.gaps, *left_out, *((Gap("aws", nameless),) if unknown else ()))
    return replace(collected, offers=kept, gaps=gaps, whole=tuple(scope.without(apart) for scope in collected.whole))


def newest(offers: Iterable[Offer]) -> tuple[Offer, ...]:
    """Each offer's latest effective rates, each once."""
    rates: dict[tuple[str, ...], list[Offer]] = defaultdict(list)
    for offer in offers:
        rates[offer.key].append(offer)
    standing: list[Offer] = []
    for same in rates.values():
        last = max(each.effective_from or LONG_AGO for each in same)
        latest = [each for each in same if (each.effective_from or LONG_AGO) == last]
        standing += {(each.hourly_rate, each.upfront): each for each in latest}.values()
    return tuple(standing)


def _ladders(offers: Iterable[Offer]) -> Iterable[list[Offer]]:
    """Offers that differ in payment only, the earliest payment first."""
    ladders: dict[tuple[str | None, ...], dict[Payment, list[Offer]]] = defaultdict(lambda: defaultdict(list))
    for each in offers:
        if each.payment:
            ladders[*each.key[:3], each.purchase_option, each.term, each.offering_class][each.payment].append(each)
    return [[each for payment in UPFRONT_FIRST for each in ladder.get(payment, ())] for ladder in ladders.values()]
