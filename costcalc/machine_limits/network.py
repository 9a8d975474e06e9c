"""What several machines wait for one another: a ring all-reduce of the gradients, part of it behind the backward pass.

A ring of n machines sends every gradient 2 (n - 1)/n times (Patarasuk and Yuan 2009). A machine sums the gradients of its
accelerators first, so that its network carries one copy, in the bytes of the code's precision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct

from costcalc.hardware import Cluster
from costcalc.machine_limits.limits import PARTS, LimitedSpeeds, RentedMachines
from costcalc.recipes import Recipe
from costcalc.throughput import global_batch
from costcalc.throughput.fitted_parameters import Overlap
from costcalc.throughput.workloads import REFERENCE_PARAMETERS_MILLIONS, SIXTEEN_BIT, own_rates
from costcalc.training import Model, System, Throughput
from costcalc.units import Floats, Indices

LEAST_SHARE = 1 / 3  # of a measured step: where the law leaves less, its batch was another than the recipe's


class SystemNetwork(Struct, frozen=True):
    """The network between the machines on which an organisation measured an accelerator: Gb/s of one machine."""

    organisation: str
    accelerator: str
    network_gbits_per_second: float
    source: str


class Gradients(Struct, frozen=True, dict=True):
    """What machines exchange in a step, by network and code, and over which networks published systems did."""

    models: Mapping[str, Model]
    systems: tuple[SystemNetwork, ...] = ()

    def gigabits(self, of: Throughput | Recipe) -> float:
        """The gradients of one step."""
        model = self.models.get(of.model)
        millions = (model and model.parameters_millions) or REFERENCE_PARAMETERS_MILLIONS
        return millions * 1e-3 * (16 if of.precision in SIXTEEN_BIT else 32)

    def exchange(self, of: Throughput | Recipe, accelerator: str, nodes: int) -> float:
        """Seconds of an all-reduce at the full rate of the network on which this was measured; 0 where that is not known, or on
        one machine."""
        rate = self._rates.get((of.organisation, accelerator))
        return self.gigabits(of) * float(times_sent(np.array(nodes))) / rate if rate else 0.0

    @cached_property
    def _rates(self) -> dict[tuple[str, str], float]:
        return {(system.organisation, system.accelerator): system.network_gbits_per_second for system in self.systems}


def times_sent(nodes: Floats | Indices) -> Floats:
    """How often a ring of so many machines sends each gradient."""
    return np.asarray(2 * (nodes - 1) / nodes)


def exchanges(recipes: Sequence[Recipe], machines: RentedMachines, gradients: Gradients) -> Floats:
    """Seconds per epoch that the all-reduces of recipes [K] take on machines [N] at the full rate of their network; 0 where that
    is not known, on one machine, or where the speeds of a closed task's results hold them."""
    steps = [0.0 if recipe.is_closed else recipe.samples_per_epoch / global_batch(recipe) for recipe in recipes]
    per_epoch = np.array([gradients.gigabits(each) * many for each, many in zip(recipes, steps, strict=True)], float)
    rate = machines.by_type(lambda kind: kind[2].network_gbits_per_second)
    return np.asarray(per_epoch[:, None] * np.nan_to_num(times_sent(machines.nodes) / rate))


def share_without_waiting(
    recipe: Recipe, system: System | Cluster, images_per_second: float, gradients: Gradients, overlap: Overlap
) -> float:
    """The share of the time in which a recipe at this speed does not wait for the network between its machines, at least
    LEAST_SHARE; 1 if the network is not known."""
    exchange = gradients.exchange(recipe, system.accelerator, system.nodes)
    step = global_batch(recipe) / images_per_second
    if not (exchange and step):
        return 1.0
    return max(float(overlap.compute(np.array(step), np.array(exchange))) / step, LEAST_SHARE)


def own_share(recipe: Recipe, gradients: Gradients, overlap: Overlap) -> float:
    """The same for a recipe on its own system; 1 if its rate is not known."""
    rates = own_rates(recipe)
    if not (recipe.system and rates):
        return 1.0
    return share_without_waiting(recipe, recipe.system, rates[0], gradients, overlap)


def waiting(limited: LimitedSpeeds, own: Sequence[Floats], exchange: Floats, overlap: Overlap) -> LimitedSpeeds:
    """These speeds of K recipes on C clusters where machines wait for their all-reduces too: `own` are the seconds per epoch of
    the accelerators in each phase [K, C], `exchange` those of the all-reduces at the full rate of the network [K, C].

    The interval also reaches from an all-reduce that hides behind the backward pass as long as that lasts to one that does not.
    """
    if not exchange.any():
        return limited
    within = limited.seconds_per_epoch

    def phase(number: int, law: Overlap) -> Floats:
        least = np.maximum(within[number], law.step(own[number], exchange))
        return np.where(own[number] > 0, least, 0.0)

    usual = tuple(phase(number, overlap) for number in range(len(own)))
    best, worst = (phase(0, overlap._replace(hidden=hidden)) for hidden in (1.0, 0.0))
    longest = exchange / overlap.reached > within[0]
    return LimitedSpeeds(
        seconds_per_epoch=usual,
        limited_by=np.where(longest, np.int8(PARTS.index("network")), limited.limited_by),
        width_below=np.hypot(limited.width_below, _apart(best, usual[0])),
        width_above=np.hypot(limited.width_above, _apart(usual[0], worst)),
    )


def _apart(less: Floats, more: Floats) -> Floats:
    """ln(more / less), 0 where both are infinite."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nan_to_num(np.log(more / less)))
