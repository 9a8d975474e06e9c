"""All limits that are known of rented machines, part by part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from costcalc.machine_limits.host import Feed, PipelineTables, host_limit
from costcalc.machine_limits.limits import Limit, RentedMachines
from costcalc.machine_limits.storage import Volume, storage_limit


@dataclass(frozen=True, eq=False, slots=True)
class LimitTables:
    """What was measured of the parts around accelerators.

    `own_hosts` names the accelerators whose data hosts come with them and are not the vCPUs that one rents, as Cloud TPU's.
    """

    pipelines: PipelineTables = field(default_factory=PipelineTables)
    volumes: tuple[Volume, ...] = ()
    own_hosts: frozenset[str] = frozenset()


NOTHING_AROUND = LimitTables()


def known_limits(tables: LimitTables, feeds: Sequence[Feed | None], machines: RentedMachines) -> tuple[Limit, ...]:
    """The limit of each part, of recipes with these data pipelines [K] on these machines [N]; none of a part of which nothing is
    known."""
    if not any(feeds):
        return ()
    fed = machines.without_hosts(tables.own_hosts)
    return (host_limit(feeds, fed), storage_limit(feeds, tables.volumes, fed))
