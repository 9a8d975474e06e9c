"""The storage: how fast what does not stay in memory is read again in each epoch.

An epoch reads the whole set. As much of it as fits the memory stays there; the rest is read again from the fastest volume that
holds the set. Machines that work together read as many parts of it at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from math import log

import numpy as np
from msgspec import Struct

from costcalc.machine_limits.host import Feed
from costcalc.machine_limits.limits import InstanceType, Limit, RentedMachines
from costcalc.units import Floats

GB_PER_GIB = 2**30 / 1e9
USABLE_SHARE = 0.8
"""Of a machine's memory for files; the rest is for the programs and what they have prepared."""
WIDTH_80 = log(1.9)  # wide by rule: of 2 to 7 GB/s, local NVMe's, the middle is so far from either end


class Volume(Struct, frozen=True):
    """A disk of an instance type, or of all of a provider: how much it holds, None for any amount, and how fast it reads."""

    provider: str
    instance_type: str | None
    volume: str
    gigabytes: float | None
    megabytes_per_second: float
    source: str

    def holds(self, gigabytes: float) -> bool:
        """Whether a set of this size fits."""
        return self.gigabytes is None or self.gigabytes >= gigabytes


def best_volume(volumes: Iterable[Volume], kind: InstanceType, gigabytes: float) -> Volume | None:
    """The fastest volume of an instance type that holds a set of this size; None where none is known."""
    provider, name, _ = kind
    its_own = (each for each in volumes if each.provider == provider and each.instance_type in (None, name))
    large = (volume for volume in its_own if volume.holds(gigabytes))
    return max(large, key=lambda volume: volume.megabytes_per_second, default=None)


def read_again(kind: InstanceType, gigabytes: float) -> float | None:
    """How many GB of a set of this size an instance type reads again in each epoch; None if its memory is not known."""
    memory = kind[2].memory_gib
    return None if memory is None else max(gigabytes - USABLE_SHARE * memory * GB_PER_GIB, 0.0)


def storage_limit(feeds: Sequence[Feed | None], volumes: Sequence[Volume], machines: RentedMachines) -> Limit:
    """What the disks of these machines [N] allow recipes [K] that read sets of these sizes; no limit if memory or volume is not
    known."""
    sizes = {feed.stored_gb if feed else 0.0 for feed in feeds}
    seconds = {
        size: np.nan_to_num(machines.by_type(partial(_seconds, volumes, size))) / machines.nodes for size in sizes
    }
    per_epoch: Floats = np.array([seconds[feed.stored_gb if feed else 0.0] for feed in feeds])
    return Limit("storage", per_epoch.reshape(len(feeds), len(machines)), np.array(WIDTH_80))


def _seconds(volumes: Sequence[Volume], gigabytes: float, kind: InstanceType) -> float | None:
    again = read_again(kind, gigabytes)
    volume = best_volume(volumes, kind, gigabytes) if again else None
    return 1000 * again / volume.megabytes_per_second if again and volume else 0.0
