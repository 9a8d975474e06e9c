"""All limits that are known of rented machines, part by part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from costcalc.machine_limits.limits import Limit, RentedMachines
from costcalc.training import Recipe


@dataclass(frozen=True, slots=True)
class LimitTables:
    """What was measured of the parts around accelerators."""


NOTHING_AROUND = LimitTables()


def known_limits(tables: LimitTables, recipes: Sequence[Recipe], machines: RentedMachines) -> tuple[Limit, ...]:
    """The limit of each part, of these recipes [K] on these machines [N]; none of a part of which nothing is known."""
    return ()
