"""What the importers of other people's price collections share: which machine a row means, or why nobody can tell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from costcalc.hardware import Machine
from costcalc.offers import Gap, Offer
from pricing.checks import ListingRefused, SourceListing, sound, told
from pricing.packaged.machine_facts import data_sheet_memory_gib, filled, known_accelerators, packaged_machines
from pricing.packaged.names import UnknownName, accelerator
from pricing.scope import Scope
from pricing.sources.common.rows import LeftOut
from pricing.sources.source import Collected, SourceError

SXM_ONLY = frozenset({"aws", "gcp", "jarvislabs", "oci"})
TOLD_APART = frozenset({"A100", "H100"})  # two cards of different speed bear these names
FORMS = {
    "pcie": "PCIe",
    "sxm": "SXM",
    "nvl": "NVL",
    "hbm3": "SXM",
}  # of the H100s, only SXM has HBM3 and that in its name
NAMED_MEMORY = re.compile(r"(?P<base>[A-Z]+\d+)-(?P<memory>\d+)GB(?:-(?P<form>SXM|PCIe))?")
LEAST_SHARE = 0.85  # of the data sheet's memory, for a whole accelerator


@dataclass(frozen=True, slots=True)
class ListedMachine:
    """What a collection says of a machine; `memory_gib` is one accelerator's, `host_memory_gib` the machine's."""

    provider: str
    instance_type: str
    accelerator: str
    accelerators: float
    memory_gib: float | None = None
    vcpus: int | None = None
    host_memory_gib: float | None = None


def machine(listed: ListedMachine) -> Machine | None:
    """The machine: as packaged if it is, else as listed. None for a fraction of an accelerator, or one without figures.

    Raises UnknownName, and LeftOut where the name covers two accelerators and nothing tells which.
    """
    known = packaged(listed.provider).get(listed.instance_type)
    if known is not None and known.accelerators == listed.accelerators:
        return known
    if listed.accelerators < 1 or listed.accelerators % 1:
        return None
    name = _accelerator(listed)
    sheet = data_sheet_memory_gib(name) if name else None
    if name is None or (sheet and listed.memory_gib and listed.memory_gib < LEAST_SHARE * sheet):
        return None
    return filled(Machine(name, int(listed.accelerators), None, listed.vcpus, listed.host_memory_gib))


def _accelerator(listed: ListedMachine) -> str | None:
    """The canonical name behind "A100-80GB", "H100NVL", "RTX4090"."""
    named = NAMED_MEMORY.fullmatch(listed.accelerator)
    base = named["base"] if named else listed.accelerator
    memory = float(named["memory"]) if named else listed.memory_gib
    if base in TOLD_APART:
        base += " " + ((named and named["form"]) or _form(listed))
    canonical = _looked_up(listed.provider, base, memory)
    if isinstance(canonical, UnknownName):
        raise canonical
    return canonical


@cache
def _looked_up(provider: str, spelling: str, memory_gib: float | None) -> str | UnknownName | None:
    """Once for each spelling: the files have a hundred thousand rows, and looking for the nearest name takes its time."""
    try:
        return accelerator(provider, spelling, memory_gib)
    except UnknownName as unknown:
        return unknown


def _form(listed: ListedMachine) -> str:
    named_forms = [form for text, form in FORMS.items() if text in listed.instance_type.casefold()]
    if named_forms:
        return named_forms[0]
    if listed.provider in SXM_ONLY:
        return "SXM"
    raise LeftOut("machines that don't say SXM or PCIe left out", f"{listed.provider} {listed.instance_type}")


@cache
def packaged(provider: str) -> Mapping[str, Machine]:
    """The packaged machine types of a provider."""
    return packaged_machines(provider)


def collect_parts(source: str, parts: Iterable[str], read: Callable[[str], Collected], now: datetime) -> Collected:
    """Every part of a collection; one that can't be read or is refused is a fault and costs the others nothing.

    Raises SourceError if no part is left.
    """
    offers: list[Offer] = []
    gaps: list[Gap] = []
    faults: list[Gap] = []
    whole: list[Scope] = []
    for part in parts:
        try:
            collected = read(part)
            kept, odd = sound(SourceListing(collected.offers, frozenset(known_accelerators()), {}, now))
        except (SourceError, ListingRefused) as error:
            faults.append(Gap(source, f"{part}: {str(error).removeprefix(f'{source}: ')}"))
        else:
            offers += kept
            gaps += collected.gaps
            left_out = frozenset(offer.instance_type for offer in {*collected.offers} - {*kept})
            whole += [scope.without(left_out) for scope in collected.whole]
            gaps += [Gap(source, f"{part}: looks odd, left out: {told(odd)}")] if odd else []
    if not offers:
        raise SourceError(f"{source}: nothing could be taken over: " + "; ".join(gap.reason for gap in faults))
    return Collected(tuple(offers), tuple(gaps), tuple(faults), tuple(whole))


def start_of_day(moment: datetime) -> datetime:
    """When a second-hand rate counts as observed: what the provider itself said on that day comes after it, and holds."""
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
