"""Machines of which a list names the accelerator, and neither it nor a packaged table says how many there are.

They are offered with none, flagged: their rates are listed, and no training is timed on them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress

from costcalc.hardware import Machine
from pricing.packaged.machine_facts import data_sheet_memory_gib
from pricing.packaged.names import UnknownName, accelerator

NOT_COUNTED = "types whose number of accelerators is not stated"
_PARTS = re.compile(r"[._-]")


def uncounted(
    provider: str,
    instance_type: str,
    known: Mapping[str, Machine],
    vcpus: int | None = None,
    memory_gib: float | None = None,
) -> Machine | None:
    """The machine, as far as its name says: `g7.16xlarge` has what all `known` machines of its family have, and
    `Standard_ND96isr_MI350X_v6` what it says. None for a name that says nothing."""
    family, dot, _ = instance_type.partition(".")
    chips = {each.accelerator for name, each in known.items() if name.startswith(f"{family}.") and each.accelerators}
    chip = chips.pop() if dot and len(chips) == 1 else None
    for part in () if chip else _PARTS.split(instance_type)[1:]:  # after the family: AWS's `p4` is no Tesla P4
        with suppress(UnknownName):
            chip = chip or accelerator(provider, part)
    return Machine(chip, 0, data_sheet_memory_gib(chip), vcpus, memory_gib) if chip else None
