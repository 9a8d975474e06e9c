"""All limits that are known of rented machines, part by part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct, field

from costcalc.hardware import Accelerator
from costcalc.machine_limits.host import Feed, PipelineTables, feeds_of, host_limit
from costcalc.machine_limits.limits import Limit, LimitedSpeeds, RentedMachines, Widths, matters, slowest
from costcalc.machine_limits.network import Gradients, exchanges, waiting
from costcalc.machine_limits.storage import Volume, storage_limit
from costcalc.recipes import Recipe
from costcalc.throughput.data_sheets import part
from costcalc.throughput.fitted_parameters import Overlap
from costcalc.training import PipelineAsked
from costcalc.units import Flags, Floats, Indices


class LimitTables(Struct, frozen=True, eq=False):
    """What was measured of the parts around accelerators, and facts about these, by name."""

    pipelines: PipelineTables = field(default_factory=PipelineTables)
    volumes: tuple[Volume, ...] = ()
    accelerators: Mapping[str, Accelerator] = field(default_factory=dict)

    def has_own_host(self, accelerator: str) -> bool:
        """Whether data hosts come with the accelerator, as with Cloud TPU, so that the vCPUs rented beside it feed nothing."""
        return part(self.accelerators, accelerator).rented_in_slices


NOTHING_AROUND = LimitTables()
NO_WIDTH = np.zeros(())  # of what is known exactly


class KnownLimits(NamedTuple):
    """What the parts around the accelerators allow K recipes on N machines: their data pipelines [K], None where not known or not
    counted, the `parts` that may be the slowest, and the all-reduces that a step may wait for."""

    feeds: tuple[Feed | None, ...]
    parts: tuple[Limit, ...]
    exchange: Limit

    def all(self) -> tuple[Limit, ...]:
        return (*self.parts, self.exchange)

    def of(self, machines: Indices) -> KnownLimits:
        """The limits of the machines at these positions, in this order."""
        parts = tuple(limit.of(machines) for limit in self.parts)
        return self._replace(parts=parts, exchange=self.exchange.of(machines))

    def matter(self, fastest: Floats) -> Flags:
        """The machines [N] that the limits may slow down, where accelerators take `fastest` seconds per epoch [K, N]."""
        return np.asarray(matters(fastest, self.parts) | self.exchange.seconds_per_epoch.any(axis=0))

    def limited(self, own: Sequence[Floats], width_80: Widths, overlap: Overlap) -> LimitedSpeeds:
        """What the limits leave of the accelerators' `own` seconds per epoch of each phase [K, N], known to `width_80` [K, N]."""
        return waiting(slowest(own, width_80, self.parts), own, self.exchange.seconds_per_epoch, overlap)


def known_limits(
    tables: LimitTables,
    gradients: Gradients,
    recipes: Sequence[Recipe],
    pipeline: PipelineAsked,
    machines: RentedMachines,
) -> KnownLimits:
    """The limits of each part of these machines [N] for recipes [K] that this data pipeline feeds."""
    feeds = feeds_of(recipes, tables.pipelines, pipeline, machines)
    exchange = Limit("network", exchanges(recipes, machines, gradients), NO_WIDTH)
    return KnownLimits(feeds, data_limits(tables, feeds, machines), exchange)


def data_limits(tables: LimitTables, feeds: Sequence[Feed | None], machines: RentedMachines) -> tuple[Limit, ...]:
    """What host and storage allow; nothing is limited if no pipeline is known."""
    if not any(feeds):
        return ()
    fed = machines.without_hosts(tables.has_own_host)
    return (host_limit(feeds, tables.accelerators, fed), storage_limit(feeds, tables.volumes, fed))
