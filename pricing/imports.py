"""What the importers of other people's price collections share: which machine a row means, or why that can't be told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from costcalc.hardware import Machine
from pricing.adapter import LeftOut, data_sheet_memory_gib, filled
from pricing.naming import accelerator
from pricing.packaged import packaged_machines

SXM_ONLY = frozenset({"aws", "gcp", "oci"})  # clouds whose A100 and H100 are all SXM, as far as they aren't packaged
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
class Row:
    """What a collection says of a machine; `memory_gib` is one accelerator's, `host_memory_gib` the machine's."""

    provider: str
    instance_type: str
    accelerator: str
    accelerators: float
    memory_gib: float | None = None
    vcpus: int | None = None
    host_memory_gib: float | None = None


def machine(row: Row) -> Machine | None:
    """The machine: as packaged if it is, else by the row. None for a fraction of an accelerator, or one without figures.

    Raises UnknownName, and LeftOut where the name covers two accelerators and nothing tells which.
    """
    known = packaged(row.provider).get(row.instance_type)
    if known is not None and known.accelerators == row.accelerators:
        return known
    if row.accelerators < 1 or row.accelerators % 1:
        return None
    name = _accelerator(row)
    sheet = data_sheet_memory_gib(name) if name else None
    if name is None or (sheet and row.memory_gib and row.memory_gib < LEAST_SHARE * sheet):
        return None
    return filled(Machine(name, int(row.accelerators), None, row.vcpus, row.host_memory_gib))


def _accelerator(row: Row) -> str | None:
    """The canonical name behind "A100-80GB", "H100NVL", "RTX4090"."""
    named = NAMED_MEMORY.fullmatch(row.accelerator)
    base = named["base"] if named else row.accelerator
    memory = float(named["memory"]) if named else row.memory_gib
    if base not in TOLD_APART:
        return accelerator(row.provider, base, memory)
    form = (named and named["form"]) or _form(row)
    return accelerator(row.provider, f"{base} {form}", memory)


def _form(row: Row) -> str:
    told = [form for text, form in FORMS.items() if text in row.instance_type.casefold()]
    if told:
        return told[0]
    if row.provider in SXM_ONLY:
        return "SXM"
    raise LeftOut("machines that don't say SXM or PCIe left out", f"{row.provider} {row.instance_type}")


@cache
def packaged(provider: str) -> Mapping[str, Machine]:
    """The packaged machine types of a provider."""
    return packaged_machines(provider)
