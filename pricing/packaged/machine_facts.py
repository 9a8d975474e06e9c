"""Facts about machines that a provider does not state: packaged instance types, and the memory of accelerators."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources.abc import Traversable

from msgspec.structs import replace

from costcalc.evidence import load_evidence
from costcalc.hardware import Accelerator, Machine
from pricing.packaged.tables import Key, Table, machine

INSTANCE_TYPES = Table(
    "instance_types.csv",
    "provider instance_type",
    "accelerator accelerators accelerator_memory_gib vcpus memory_gib source",
)


def read_machines(folder: Traversable | None = None) -> dict[Key, Machine]:
    """The packaged machines by provider and instance type. Raises TableError."""
    return INSTANCE_TYPES.read(machine, folder)


_machines = cache(read_machines)


@cache
def packaged_machines(provider: str) -> dict[str, Machine]:
    """The packaged machines of one provider, by instance type. Raises TableError."""
    return {name: machine for (owner, name), machine in _machines().items() if owner == provider}


def filled(machine: Machine, packaged: Machine | None = None) -> Machine:
    """The machine with what its provider does not state, from the packaged machine if that has the same accelerators.

    Otherwise only the memory of an accelerator is filled in, from its data sheet.
    """
    if packaged is None or (packaged.accelerator, packaged.accelerators) != (machine.accelerator, machine.accelerators):
        memory = machine.accelerator_memory_gib or data_sheet_memory_gib(machine.accelerator)
        return replace(machine, accelerator_memory_gib=memory)
    return replace(
        machine,
        accelerator_memory_gib=machine.accelerator_memory_gib or packaged.accelerator_memory_gib,
        vcpus=machine.vcpus or packaged.vcpus,
        memory_gib=machine.memory_gib or packaged.memory_gib,
    )


def data_sheet_memory_gib(accelerator: str) -> float | None:
    """GiB of one accelerator; None if unknown."""
    listed = _accelerators().get(accelerator)
    return listed.memory_gib if listed else None


def known_accelerators() -> tuple[str, ...]:
    """The canonical names of all accelerators."""
    return tuple(_accelerators())


@cache
def _accelerators() -> Mapping[str, Accelerator]:
    return load_evidence().accelerators
