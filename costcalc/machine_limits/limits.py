"""The slowest part of a machine decides: its accelerators, its processors, its disks or its network.

Each part's time is known to a factor, so the time of the slowest is a random number too. Where two parts take about as long, one
of them probably takes longer than expected: the interval is that of the longest of several lognormal times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from costcalc.hardware import Machine
from costcalc.units import Flags, Floats, Indices

Part = Literal["accelerator", "host", "storage", "network"]
PARTS: tuple[Part, ...] = get_args(Part)
LOW, HIGH = 0.1, 0.9  # the ends of an 80 % interval
NORMAL = NormalDist()
HALVINGS = 6  # of at most 0.7 standard deviations

Codes = NDArray[np.int8]
Widths = NDArray[np.floating[Any]]

InstanceType = tuple[str, str, Machine]
"""Provider, name, and what one of them holds."""


class RentedMachines(Struct, frozen=True, eq=False, dict=True):
    """N clusters: `nodes` [N] equal machines of an instance type each, by its position [N] in `types`."""

    types: tuple[InstanceType, ...]
    instance: Indices
    nodes: Indices

    def __len__(self) -> int:
        return len(self.instance)

    def of(self, positions: Indices) -> RentedMachines:
        """The machines at these positions, in this order."""
        return RentedMachines(self.types, self.instance[positions], self.nodes[positions])

    def by_type(self, find: Callable[[InstanceType], float | None]) -> Floats:
        """A figure of each cluster's instance type [N], NaN where it is not known."""
        return np.asarray(np.array([find(kind) for kind in self.types], float)[self.instance])

    def by_accelerator(self, find: Callable[[str], float]) -> Floats:
        """A figure of each cluster's accelerator [N]."""
        names, number = self._accelerators
        return np.array([find(name) for name in names], float)[number]

    @cached_property
    def _accelerators(self) -> tuple[tuple[str, ...], Indices]:
        """The distinct accelerators, and which of them each cluster has [N]."""
        numbers: dict[str, int] = {}
        of_type = [numbers.setdefault(machine.accelerator, len(numbers)) for *_, machine in self.types]
        return tuple(numbers), np.array(of_type, np.int64)[self.instance]

    def without_hosts(self, is_so: Callable[[str], bool]) -> RentedMachines:
        """The same, vCPUs and memory being unknown beside accelerators of whose names `is_so` holds."""
        types = tuple(
            (provider, name, replace(machine, vcpus=None, memory_gib=None) if is_so(machine.accelerator) else machine)
            for provider, name, machine in self.types
        )
        return replace(self, types=types)


class Limit(NamedTuple):
    """What one part allows: the least seconds per epoch of K recipes on C clusters [K, C], 0 where it is not known, and the
    half-width in ln of their 80 % interval, which broadcasts to [K, C]."""

    part: Part
    seconds_per_epoch: Floats
    width_80: Floats

    def of(self, clusters: Indices) -> Limit:
        """The values for only these clusters, in this order."""
        width = np.broadcast_to(self.width_80, self.seconds_per_epoch.shape)
        return Limit(self.part, self.seconds_per_epoch[:, clusters], width[:, clusters])


class LimitedSpeeds(Struct, frozen=True, eq=False):
    """K recipes on C clusters: `seconds_per_epoch` of each phase [K, C] by the slowest part, infinite where refused, 0 where a
    recipe has no such phase.

    `limited_by` [K, C] indexes PARTS: the part that alone would take the most time. The 80 % interval of the seconds reaches from
    seconds x exp(-`width_below`) to seconds x exp(`width_above`) [K, C].
    """

    seconds_per_epoch: tuple[Floats, ...]
    limited_by: Codes
    width_below: Floats
    width_above: Floats

    def no_faster(self, width: Widths) -> LimitedSpeeds:
        """The same where accelerators alone may be faster by no more than this [K, C], in ln."""
        alone = self.limited_by == PARTS.index("accelerator")
        return replace(self, width_below=np.where(alone, np.fmin(self.width_below, width), self.width_below))


def matters(fastest: Floats, limits: Iterable[Limit]) -> Flags:
    """The clusters [C] on which a part may well be slower than the accelerators: the end of its interval lies beyond what these
    are expected to take in their fastest phase, `fastest` seconds per epoch [K, C], infinite where refused."""
    slow = np.zeros(fastest.shape[1], bool)
    for limit in limits:
        slow |= (limit.seconds_per_epoch * np.exp(limit.width_80) > fastest).any(axis=0)
    return slow


def slowest(seconds: Sequence[Floats], width_80: Widths, limits: Sequence[Limit]) -> LimitedSpeeds:
    """What the limits leave of the accelerators' own `seconds` per epoch of each phase [K, C], 0 where there is no such phase,
    which are known to `width_80` [K, C]."""
    width = np.nan_to_num(np.asarray(width_80, float))
    limited_by, ends = np.zeros(width.shape, np.int8), (width, width.copy())
    if not limits:
        return LimitedSpeeds(tuple(seconds), limited_by, *ends)
    phases = np.sum([phase > 0 for phase in seconds], axis=0)
    alone = np.array([np.sum(seconds, axis=0), *(phases * limit.seconds_per_epoch for limit in limits)])
    widths = np.array([width, *(np.broadcast_to(limit.width_80, width.shape) for limit in limits)])
    first = alone.argmax(axis=0)
    limited_by = np.array([0, *(PARTS.index(limit.part) for limit in limits)], np.int8)[first]
    most = np.max([limit.seconds_per_epoch for limit in limits], axis=0)
    within = tuple(np.where(phase > 0, np.maximum(phase, most), 0.0) for phase in seconds)
    return LimitedSpeeds(within, limited_by, *_ends(alone, widths, first))


def _ends(alone: Floats, widths: Floats, first: Indices) -> tuple[Floats, Floats]:
    """How far in ln the 80 % interval of the longest of these times [parts, K, C] reaches below and above the longest of their
    medians, `first` being its part."""
    below = np.take_along_axis(widths, first[None], axis=0)[0]
    above = below.copy()
    longest = alone.max(axis=0)
    near = np.isfinite(longest) & (np.count_nonzero(alone * np.exp(widths) > longest, axis=0) > 1)
    with np.errstate(divide="ignore"):
        logs = np.log(alone[:, near] / longest[near])
    deviations = widths[:, near] / NORMAL.inv_cdf(HIGH)
    below[near], above[near] = -longest_of(logs, deviations, LOW), longest_of(logs, deviations, HIGH)
    return below, above


def longest_of(means: Floats, deviations: Floats, share: float) -> Floats:
    """The value [n] that the largest of several normal numbers stays below with this probability.

    `means` (minus infinity for none) and `deviations` are [numbers, n]. That probability is the product of each number's own:
    the solution lies between the largest of their quantiles for the share itself and for its root, and is found by halving.
    """
    each = share ** (1 / len(means))
    low = (means + NORMAL.inv_cdf(share) * deviations).max(axis=0)
    high = (means + NORMAL.inv_cdf(each) * deviations).max(axis=0)
    spread = np.maximum(deviations, 1e-9)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = _probability((middle - means) / spread).prod(axis=0) >= share
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.asarray((low + high) / 2)


def _probability(deviations: Floats) -> Floats:
    """The normal distribution function, to 0.0003 (Page 1977, Approximations to the cumulative normal function)."""
    x = np.clip(deviations, -8, 8)
    cubed = x * x * x  # `**` takes ten times as long
    return np.asarray((1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * cubed))) / 2)
