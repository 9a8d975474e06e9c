"""All limits that are known of rented machines, part by part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from costcalc.hardware import Accelerator
from costcalc.machine_limits.host import Feed, PipelineTables, host_limit
from costcalc.machine_limits.limits import Limit, RentedMachines
from costcalc.machine_limits.storage import Volume, storage_limit
from costcalc.throughput.data_sheets import part


@dataclass(frozen=True, eq=False, slots=True)
class LimitTables:
    """What was measured of the parts around accelerators, and facts about these, by name."""

    pipelines: PipelineTables = field(default_factory=PipelineTables)
    volumes: tuple[Volume, ...] = ()
    accelerators: Mapping[str, Accelerator] = field(default_factory=dict)

    def has_own_host(self, accelerator: str) -> bool:
        """Whether data hosts come with the accelerator, so that the vCPUs that one rents beside it feed nothing, as with Cloud
        TPU."""
        return part(self.accelerators, accelerator).rented_in_slices

    def rate(self, feed: Feed, accelerator: str) -> float:
        """Images per second per vCPU that the pipeline prepares beside this accelerator."""
        return feed.rate(accelerator, part(self.accelerators, accelerator).introduced)


NOTHING_AROUND = LimitTables()


def known_limits(tables: LimitTables, feeds: Sequence[Feed | None], machines: RentedMachines) -> tuple[Limit, ...]:
    """The limit of each part, of recipes with these data pipelines [K] on these machines [N]; none of a part of which nothing is
    known."""
    if not any(feeds):
        return ()
    fed = machines.without_hosts(tables.has_own_host)
    return (host_limit(feeds, tables.accelerators, fed), storage_limit(feeds, tables.volumes, fed))
