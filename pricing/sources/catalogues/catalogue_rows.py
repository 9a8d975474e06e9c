"""A row of SkyPilot's catalogue, and which machine it means, or why nobody can tell."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache

from msgspec import Struct, field

from costcalc.hardware import Machine
from pricing.packaged.machine_facts import data_sheet_memory_gib, filled, packaged_machines
from pricing.packaged.names import UnknownName, accelerator
from pricing.sources.common.rows import LeftOut

MIB_IN_GIB = 1024
GPU_MEMORY = re.compile(r"'MemoryInfo': \{'SizeInMiB': (\d+)")
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


packaged = cache(packaged_machines)


class CatalogueRow(Struct, rename="pascal"):
    """A machine, an accelerator without a host, or a host without accelerators; empty texts where a part is missing."""

    region: str
    instance_type: str = ""
    accelerator_name: str = ""
    accelerator_count: float = 0
    availability_zone: str = ""
    gpu_info: str = ""
    memory_gib: float | None = field(default=None, name="MemoryGiB")
    vcpus: float | None = field(default=None, name="vCPUs")
    price: Decimal | None = None
    spot_price: Decimal | None = None

    @property
    def accelerator_gib(self) -> float | None:
        """The memory of one accelerator; Shadeform's SizeInMiB is in GiB."""
        memory = GPU_MEMORY.search(self.gpu_info)
        size = int(memory[1]) if memory else 0
        return (size / MIB_IN_GIB if size >= MIB_IN_GIB else size) or None


def machine(provider: str, row: CatalogueRow) -> Machine | None:
    """The machine: as packaged if it is, else as listed. None for a fraction of an accelerator.

    Raises UnknownName, and LeftOut where the name covers two accelerators and nothing tells which.
    """
    stated = packaged(provider).get(row.instance_type)
    if stated is not None and stated.accelerators == row.accelerator_count:
        return stated
    if row.accelerator_count < 1 or row.accelerator_count % 1:
        return None
    name, memory_gib = _accelerator(provider, row), row.accelerator_gib
    sheet = data_sheet_memory_gib(name)
    if sheet and memory_gib and memory_gib < LEAST_SHARE * sheet:
        return None
    vcpus = int(row.vcpus) if row.vcpus else None
    return filled(Machine(name, int(row.accelerator_count), None, vcpus, row.memory_gib))


def _accelerator(provider: str, row: CatalogueRow) -> str:
    """The canonical name behind "A100-80GB", "H100NVL", "RTX4090"."""
    named = NAMED_MEMORY.fullmatch(row.accelerator_name)
    base = named["base"] if named else row.accelerator_name
    memory = float(named["memory"]) if named else row.accelerator_gib
    if base in TOLD_APART:
        base += " " + ((named and named["form"]) or _form(provider, row.instance_type))
    canonical = _looked_up(provider, base, memory)
    if isinstance(canonical, UnknownName):
        raise canonical
    return canonical


@cache
def _looked_up(provider: str, spelling: str, memory_gib: float | None) -> str | UnknownName:
    """Once for each spelling: the files have a hundred thousand rows, and looking for the nearest name takes its time."""
    try:
        return accelerator(provider, spelling, memory_gib)
    except UnknownName as unknown:
        return unknown


def _form(provider: str, instance_type: str) -> str:
    named_forms = [form for text, form in FORMS.items() if text in instance_type.casefold()]
    if named_forms:
        return named_forms[0]
    if provider in SXM_ONLY:
        return "SXM"
    raise LeftOut("machines that don't say SXM or PCIe left out", f"{provider} {instance_type}")
