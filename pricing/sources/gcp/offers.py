"""Google Cloud: rates and machine types to offers, and what could not be offered. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from msgspec import Struct

from costcalc.hardware import Machine
from costcalc.offer import Offer, Payment, PurchaseOption
from pricing.packaged.providers import billing
from pricing.sources.common.rows import first_few, flag_dear_spot
from pricing.sources.gcp.machines import (
    FRACTIONAL,
    Priced,
    Shape,
    attached,
    built_in,
    family,
    n1_with_gpus,
    price,
    sold,
)
from pricing.sources.gcp.skus import USES, RateBook, Skipped, SkipReason, Use

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
