"""What Google Cloud machines are billed for: so many vCPUs, GiB, accelerators and local SSDs, or the chips of a TPU slice.

Pure: shapes in, bills of parts out, and with a rate book offers, and what could not be offered. Shapes and count rules are
Google's documentation: cloud.google.com/compute/docs/accelerator-optimized-machines and cloud.google.com/tpu/docs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from costcalc.hardware import Machine
from costcalc.offer import Offer, Payment, PurchaseOption, RatePart
from pricing.packaged.machine_facts import filled, packaged_machines
from pricing.packaged.providers import billing
from pricing.sources.common.rows import first_few, flag_dear_spot
from pricing.sources.gcp.skus import (
    CORE,
    LOCAL_SSD,
    MEMORY,
    ON_DEMAND,
    USES,
    RateBook,
    Skipped,
    SkipReason,
    Use,
    tpu_part,
)

PLACES = Decimal("1e-12")  # a month's share of an hour does not terminate


class Item(Struct, frozen=True):
    """`quantity` of a part; equal labels add up to one line of the rate. `use` where it differs from the machine's."""

    label: str
    part: str
    quantity: Decimal
    use: Use | None = None


class Shape(Struct, frozen=True):
    """A machine as it is sold. The first item decides where and how; `regions` is None where only prices can tell."""

    instance_type: str
    machine: Machine
    items: tuple[Item, ...]
    regions: frozenset[str] | None = None


class Priced(Struct, frozen=True):
    """The whole machine's rate, the shares it is the sum of and the SKUs they come from."""

    hourly: Decimal
    parts: tuple[RatePart, ...]
    sku_ids: tuple[str, ...]


def price(shape: Shape, use: Use, region: str, book: RateBook) -> Priced | str | None:
    """The rate of a machine; None if it is not sold so, or the name of a part without which nobody can tell."""
    if book.rate(shape.items[0].part, use, region) is None:
        return None
    shares: dict[str, Decimal] = {}
    sku_ids: list[str] = []
    for item in shape.items:
        rate = book.rate(item.part, item.use or use, region)
        if rate is None:
            return item.part
        shares[item.label] = shares.get(item.label, Decimal(0)) + item.quantity * rate.hourly
        sku_ids.append(rate.sku_id)
    short = ((label, share, share.quantize(PLACES)) for label, share in shares.items())
    parts = tuple(RatePart(label, share if share == rounded else rounded) for label, share, rounded in short)
    return Priced(sum((part.hourly for part in parts), Decimal(0)), parts, tuple(sku_ids))


class Family(Struct, frozen=True):
    """What the machines of a family have in common.

    `sku_name` is the SKUs' word for its vCPUs and memory, None where a GPU's slice holds its share of all; each GPU brings
    `local_ssd_gib` of local SSD that is billed with the machine.
    """

    sku_name: str | None
    accelerator_type: str
    accelerator: str
    accelerator_memory_gib: float
    local_ssd_gib: int = 0


_FAMILIES: Mapping[str, Family] = {
    "a2-highgpu": Family("A2", "nvidia-tesla-a100", "A100-40GB", 40),
    "a2-megagpu": Family("A2", "nvidia-tesla-a100", "A100-40GB", 40),
    "a2-ultragpu": Family("A2", "nvidia-a100-80gb", "A100-80GB", 80, 375),
    "a3-highgpu": Family("A3", "nvidia-h100-80gb", "H100", 80, 750),
    "a3-edgegpu": Family("A3", "nvidia-h100-80gb", "H100", 80, 750),
    "a3-megagpu": Family("A3Plus", "nvidia-h100-mega-80gb", "H100", 80, 750),
    "a3-ultragpu": Family("A3Ultra", "nvidia-h200-141gb", "H200", 141, 1500),
    "a4-highgpu": Family(None, "nvidia-b200", "B200", 180),
    "a4x-highgpu": Family(None, "nvidia-gb200", "GB200", 186),
    "g2-standard": Family("G2", "nvidia-l4", "L4", 24),
    "g4-standard": Family("G4", "nvidia-rtx-pro-6000", "RTX PRO 6000", 96),
}
# A share of one GPU: no whole accelerator to train on.
FRACTIONAL = frozenset({"g4-standard-6", "g4-standard-12", "g4-standard-24"})
_N1_WITH_GPUS = re.compile(r"^(?P<host>n1-\w+-\d+)\+(?P<count>\d+)x(?P<accelerator>\w+)$")
_ATTACHABLE = {name: f"nvidia-tesla-{name.lower()}" for name in ("K80", "P4", "P100", "T4", "V100")}


def family(instance_type: str) -> Family | None:
    """The family of a machine type that comes with whole accelerators, None for all others."""
    return None if instance_type in FRACTIONAL else _FAMILIES.get("-".join(instance_type.split("-")[:2]))


def built_in(instance_type: str, kind: Family, machine: Machine, regions: frozenset[str] | None = None) -> Shape:
    """A machine type with accelerators: its bill is theirs, its vCPUs', memory's and bundled local SSD's."""
    count = machine.accelerators
    items = [Item(f"{count} x {machine.accelerator}", kind.accelerator_type, Decimal(count))]
    if kind.sku_name:
        labels = (f"{machine.vcpus} vCPU", f"{machine.memory_gib:g} GiB memory")
        items += _vcpus_and_memory(kind.sku_name, machine, labels)
    local_ssd_gib = 0 if instance_type.endswith("-nolssd") else kind.local_ssd_gib * count
    if local_ssd_gib:
        items.append(Item(f"{local_ssd_gib} GiB local SSD", LOCAL_SSD, Decimal(local_ssd_gib)))
    return Shape(instance_type, machine, tuple(items), regions)


class Attached(Struct, frozen=True):
    """`n1-standard-8+1xV100` taken apart."""

    host: str
    accelerators: int
    accelerator_type: str


def attached(instance_type: str) -> Attached | None:
    """The host and the accelerators attached to it, None if the name says nothing of the kind."""
    match = _N1_WITH_GPUS.match(instance_type)
    if not match or match["accelerator"] not in _ATTACHABLE:
        return None
    return Attached(match["host"], int(match["count"]), _ATTACHABLE[match["accelerator"]])


def n1_with_gpus(instance_type: str, machine: Machine, parts: Attached, regions: frozenset[str] | None = None) -> Shape:
    """An N1 host and the accelerators attached to it."""
    host = f"host {parts.host}"
    label = f"{parts.accelerators} x {machine.accelerator}"
    gpus = Item(label, parts.accelerator_type, Decimal(parts.accelerators))
    return Shape(instance_type, machine, (gpus, *_vcpus_and_memory("N1", machine, (host, host))), regions)


def _vcpus_and_memory(family: str, machine: Machine, labels: tuple[str, str]) -> list[Item]:
    assert machine.vcpus is not None
    assert machine.memory_gib is not None
    return [
        Item(labels[0], CORE.format(family), Decimal(machine.vcpus)),
        Item(labels[1], MEMORY.format(family), Decimal(str(machine.memory_gib))),
    ]


class TpuGeneration(Struct, frozen=True):
    """One kind of TPU chip. Slices are named after `counts` cores or chips; SKUs price `chips_per_sku` chips."""

    name: str
    memory_gib: float
    prefix: str
    named_per_chip: int  # v2 to v4, v5p and 7x count cores, of which a chip has two; v5e and v6e count chips
    chips_per_sku: int  # v2 to v4 are priced by the board of four chips
    sizes: tuple[int, ...]


def _doubling(first: int, last: int) -> tuple[int, ...]:
    return tuple(first << step for step in range((last // first).bit_length()))


TPU_GENERATIONS = (
    TpuGeneration("v2", 16, "v2-", 2, 4, (8, *_doubling(32, 32), *_doubling(128, 512))),
    TpuGeneration("v3", 32, "v3-", 2, 4, (8, *_doubling(32, 2048))),
    TpuGeneration("v4", 32, "v4-", 2, 4, (*_doubling(8, 8192), 6912)),
    TpuGeneration("v5e", 16, "v5litepod-", 1, 1, (1, *_doubling(4, 256))),
    TpuGeneration("v5p", 95, "v5p-", 2, 1, (*_doubling(8, 8192), 12288)),
    TpuGeneration("v6e", 32, "v6e-", 1, 1, (1, *_doubling(4, 256))),
    TpuGeneration("7x", 192, "tpu7x-", 2, 1, _doubling(8, 2048)),
)
_HOST = Machine("", 0, vcpus=4, memory_gib=15)
_WITH_HOST = frozenset({"v2-8", "v3-8"})


def tpu_slices() -> Iterable[Shape]:
    """Every slice that is sold, largest v5p included: v5p-12288 is 6144 chips, v6e-8 is 8; with its hosts if it is packaged."""
    packaged = packaged_machines("gcp")
    for shape in (_slice(generation, size) for generation in TPU_GENERATIONS for size in generation.sizes):
        yield replace(shape, machine=filled(shape.machine, packaged.get(shape.instance_type)))


def _slice(generation: TpuGeneration, size: int) -> Shape:
    name = f"{generation.prefix}{size}"
    chips = size // generation.named_per_chip
    # a single board of v2 or v3 has its own price; v4 is only listed as a pod
    pod = generation.name == "v4" or (generation.name in ("v2", "v3") and size > 8)
    tpu = Item(f"Cloud TPU {name}", tpu_part(generation.name, pod), Decimal(chips) / generation.chips_per_sku)
    accelerator = f"TPU {generation.name}"
    if name not in _WITH_HOST:
        return Shape(name, Machine(accelerator, chips, generation.memory_gib), (tpu,))
    # a single v2 or v3 board is driven by a user's own machine, which no spot interruption may take away
    bill = _vcpus_and_memory("N1", _HOST, ("host n1-standard-4",) * 2)
    host = (Item(item.label, item.part, item.quantity, ON_DEMAND) for item in bill)
    return Shape(name, Machine(accelerator, chips, generation.memory_gib, 4, 15.0), (tpu, *host))


ALL = frozenset(PurchaseOption)
# Series that are only sold by reservation (which commitments pay), flex-start or spot. Google's table:
# cloud.google.com/compute/docs/accelerator-optimized-machines#consumption_option_availability_by_machine_type, as
# dstackai/gpuhunt 0.1.34 applies it (providers/gcp.py), 2026-11-22. That A4X has no spot: Google's
# docs.cloud.google.com/ai-hypercomputer/docs/consumption-models. Neither takes A3 Mega off the on-demand price list.
WITHOUT_ON_DEMAND: Mapping[str, frozenset[PurchaseOption]] = {
    "a4x-highgpu": frozenset({PurchaseOption.COMMITTED_USE}),
    "a4-highgpu": frozenset({PurchaseOption.SPOT, PurchaseOption.COMMITTED_USE}),
    "a3-ultragpu": frozenset({PurchaseOption.SPOT, PurchaseOption.COMMITTED_USE}),
    "a3-highgpu-1g": frozenset({PurchaseOption.SPOT}),
    "a3-highgpu-2g": frozenset({PurchaseOption.SPOT}),
    "a3-highgpu-4g": frozenset({PurchaseOption.SPOT}),
}


def sold(instance_type: str) -> frozenset[PurchaseOption]:
    """The purchase options in which Google sells a machine type."""
    series = "-".join(instance_type.split("-")[:2])
    return WITHOUT_ON_DEMAND.get(instance_type) or WITHOUT_ON_DEMAND.get(series) or ALL


SOURCE = "Google Cloud Billing Catalog"
TPU_MACHINES = ("ct", "tpu")  # single hosts of slices, which are offered whole


class MachineType(Struct, frozen=True):
    """A machine type in one zone, as Compute Engine lists it; `accelerator_type` is empty for a plain host."""

    name: str
    zone: str
    vcpus: int
    memory_gib: float
    accelerator_type: str = ""
    accelerators: int = 0


@dataclass(frozen=True, slots=True)
class Inventory:
    """What Compute Engine lists: machine types, and the most that a machine may hold of an accelerator, by type and zone."""

    machine_types: tuple[MachineType, ...]
    attachable: Mapping[tuple[str, str], int] = field(default_factory=dict)


Gaps = tuple[str, ...]  # sentences about what is missing


def packaged_shapes(packaged: Mapping[str, Machine]) -> tuple[Shape, ...]:
    """The packaged machine types, offered wherever their parts are priced."""
    with_gpus = [built_in(name, kind, machine) for name, machine in packaged.items() if (kind := family(name))]
    hosts = [n1_with_gpus(name, machine, parts) for name, machine in packaged.items() if (parts := attached(name))]
    return (*with_gpus, *hosts)


def listed_shapes(inventory: Inventory, packaged: Mapping[str, Machine]) -> tuple[tuple[Shape, ...], Gaps]:
    """The machine types that Compute Engine lists, in the regions of their zones.

    N1 with attached accelerators isn't a machine type: the packaged combinations are taken where a zone has both.
    """
    zones: defaultdict[str, dict[str, MachineType]] = defaultdict(dict)
    for listed in inventory.machine_types:
        zones[listed.name][listed.zone] = listed
    shapes, unknown = [], []
    for name, by_zone in sorted(zones.items()):
        example = next(iter(by_zone.values()))
        shape = _listed_shape(example, _regions(by_zone))
        if shape:
            shapes.append(shape)
        elif example.accelerators and name not in FRACTIONAL and not name.startswith(TPU_MACHINES):
            unknown.append(f"{name} ({example.accelerators} x {example.accelerator_type})")
    for name, parts in ((name, parts) for name in packaged if (parts := attached(name))):
        most = {zone: inventory.attachable.get((parts.accelerator_type, zone), 0) for zone in zones[parts.host]}
        if with_both := [zone for zone, count in most.items() if count >= parts.accelerators]:
            shapes.append(n1_with_gpus(name, packaged[name], parts, _regions(with_both)))
    gaps = (f"machine types not known here: {first_few(unknown)}",) if unknown else ()
    return tuple(shapes), gaps


def _listed_shape(listed: MachineType, regions: frozenset[str]) -> Shape | None:
    kind = family(listed.name)
    if kind is None or listed.accelerator_type != kind.accelerator_type:
        return None
    gpus = (kind.accelerator, listed.accelerators, kind.accelerator_memory_gib)
    return built_in(listed.name, kind, Machine(*gpus, listed.vcpus, listed.memory_gib), regions)


def _regions(zones: Iterable[str]) -> frozenset[str]:
    return frozenset(zone.rpartition("-")[0] for zone in zones)


def offers(shapes: Iterable[Shape], book: RateBook, now: datetime) -> tuple[tuple[Offer, ...], Gaps]:
    """Every shape in every region and use that Google sells; a gap names machines without the rate of a part."""
    priced: list[Offer] = []
    lacking: defaultdict[str, set[str]] = defaultdict(set)
    for shape in shapes:
        for region in book.regions if shape.regions is None else sorted(shape.regions):
            uses = (use for use in USES if use.option in sold(shape.instance_type))
            rates = {use: price(shape, use, region, book) for use in uses}
            for part in (rate for rate in rates.values() if isinstance(rate, str)):
                lacking[part].add(shape.instance_type)
            whole = ((use, rate) for use, rate in rates.items() if isinstance(rate, Priced))
            priced.extend(_offer(shape, region, use, rate, now) for use, rate in whole)
    gaps = tuple(f"no rate for {part}, a part of {first_few(types)}" for part, types in sorted(lacking.items()))
    return flag_dear_spot(priced), gaps


def _offer(shape: Shape, region: str, use: Use, rate: Priced, now: datetime) -> Offer:
    committed = use.option is PurchaseOption.COMMITTED_USE  # billed by the hour over the whole term, used or not
    return Offer(
        *("gcp", region, shape.instance_type, shape.machine),
        purchase_option=use.option,
        hourly_rate=rate.hourly,
        observed_at=now,
        source=f"{SOURCE}: {', '.join(rate.sku_ids)}",
        term=use.term,
        payment=Payment.NO_UPFRONT if committed else None,
        upfront=Decimal(0) if committed else None,
        recurring_hourly=rate.hourly if committed else None,
        parts=rate.parts,
        **billing("gcp").terms,
    )


def gaps_of_skus(reasons: Iterable[Skipped], book: RateBook) -> Gaps:
    """Sentences about SKUs that a person should look at; free ones and those of other things pass in silence."""
    labels: defaultdict[SkipReason, list[str]] = defaultdict(list)
    for reason in reasons:
        labels[reason.why].append(reason.label)
    told = (SkipReason.OTHER_CURRENCY, SkipReason.UNKNOWN, SkipReason.UNREADABLE)
    gaps = [f"SKUs {why} ({len(labels[why])}): {first_few(labels[why])}" for why in told if labels[why]]
    if book.contradictions:
        gaps.append(f"two SKUs differ on {first_few(book.contradictions)}: the dearer one is taken")
    return tuple(gaps)
