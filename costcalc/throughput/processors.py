"""How fast processors train without an accelerator: carried over by their cores, clock and vector width.

core-seconds x GHz of an image = ARITHMETIC x G operations / operations a cycle + PASSES x G numbers that the layers put out

Training takes six operations for each multiply-add. Numbers pass through a core at a pace of their own, so that wider units help
with the arithmetic alone. `science.fitting.processors` fits both constants. A processor of which rates are known makes, of what
it does more or less than that, the part that so many rates tell (n of n + 1).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from msgspec import Struct, field

from costcalc.hardware import Cluster
from costcalc.throughput.memory import most_images
from costcalc.throughput.prediction import REFUSALS
from costcalc.throughput.speed_model import PROCESSOR, TIERS, SpeedTable
from costcalc.throughput.work_on_clusters import global_batch
from costcalc.throughput.workloads import FORWARD, bits
from costcalc.training import Model, Tier
from costcalc.units import Flags, Floats, Indices

ARITHMETIC, PASSES = 2.92, 17.8
LN_WIDTH_80 = 0.765
"""Half-width in ln of the 80 % interval: as wide as it must be to hold 8 in 10 of the rates, each predicted from those of other
organisations, and each organisation counted once. A test compares all three with the rates."""
OPERATIONS_PER_MAC = 6
MEASURED, MODELLED = TIERS.index(Tier.MEASURED), TIERS.index(Tier.MODELLED)
HOST_GIB = 1.0
"""Of the system and a process that prepares images: one with PyTorch and Pillow loaded held 0.52 GiB (PyTorch 2.15, 2026-11-22).
There the training of ResNet-50 itself held 1.11 GiB with one image and 2.68 with 16, 1.07 and 2.44 by the model of memory."""
FEWEST_IMAGES = 32  # of a step on each of several machines: the fewest that were measured, by DAWNBench's


class Processor(Struct, frozen=True):
    """A processor, or a graphics processor that computes in the host's memory, with its data-sheet figures.

    `cores` are those of one, `threads_per_core` the vCPUs that a cloud makes of each, `ghz` is the base clock. A core multiplies
    and adds `operations_per_cycle` in 32 bits, `operations_per_cycle_16bit` in 16 bits, None where that is no faster. `like`
    names the processor whose measured rates tell of this one, where that is another. `memory_gib` is that of its machine, None
    where every machine to rent has enough: the smallest has 32 GiB.
    """

    name: str
    vendor: str
    cores: int
    threads_per_core: int
    ghz: float
    operations_per_cycle: float
    operations_per_cycle_16bit: float | None
    introduced: int
    source: str
    like: str | None = None
    memory_gib: float | None = None

    def operations(self, precision: str | None) -> float:
        """What a core multiplies and adds in a cycle."""
        in_32_bits = bits(precision) == "32bit" or self.operations_per_cycle_16bit is None
        return self.operations_per_cycle if in_32_bits else self.operations_per_cycle_16bit or 0.0


class ProcessorSpeed(Struct, frozen=True):
    """Images per second that somebody measured on `nodes` machines with so many cores each."""

    name: str
    model: str
    image_size: int
    processor: str
    cores: int
    nodes: int
    precision: str
    images_per_second: float
    organisation: str
    year: int
    source: str
    note: str


class ProcessorLaw(Struct, frozen=True):
    """The two constants of all processors."""

    arithmetic: float = ARITHMETIC
    passes: float = PASSES

    def work(self, model: Model | None, image_size: int, operations: float) -> float:
        """Core-seconds x GHz of an image; NaN for a network of which arithmetic or layers are not known."""
        if model is None or not (model.gmacs and model.activations_millions and model.image_size):
            return math.nan
        arithmetic = self.arithmetic * OPERATIONS_PER_MAC * model.gmacs / operations
        return (arithmetic + self.passes * model.activations_millions / 1000) * (image_size / model.image_size) ** 2


LAW = ProcessorLaw()


class Range(NamedTuple):
    """A figure, and the ends of the range that holds 8 in 10 cases."""

    low: float
    middle: float
    high: float


class Processors(Struct, frozen=True, dict=True):
    """All that is known of processors: by name, and the rates that were measured on some."""

    named: Mapping[str, Processor] = field(default_factory=dict)
    rates: tuple[ProcessorSpeed, ...] = ()
    models: Mapping[str, Model] = field(default_factory=dict)

    def cores(self, cluster: Cluster) -> float:
        """The cores of one machine, 0 where it has no such processor or their number is not known."""
        processor = self.named.get(cluster.accelerator)
        if processor is None:
            return 0.0
        return cluster.accelerators * processor.cores or cluster.vcpus / processor.threads_per_core

    def error(self, rate: ProcessorSpeed, law: ProcessorLaw = LAW) -> float:
        """ln of how many times as fast as the law says a rate was."""
        processor = self.named[rate.processor]
        work = law.work(self.models[rate.model], rate.image_size, processor.operations(rate.precision))
        return math.log(rate.images_per_second * work / (rate.cores * rate.nodes * processor.ghz))

    @cached_property
    def effects(self) -> Mapping[str, float]:
        """ln of how many times as fast as the law says each processor is that was measured."""
        errors: dict[str, list[float]] = defaultdict(list)
        for rate in self.rates:
            errors[rate.processor].append(self.error(rate))
        return {name: sum(found) / (len(found) + 1) for name, found in errors.items()}

    def is_measured(self, cluster: Cluster) -> bool:
        """Whether a rate of just such machines is known."""
        system = cluster.accelerator, self.cores(cluster), cluster.nodes
        return any(system == (rate.processor, rate.cores, rate.nodes) for rate in self.rates)

    def pace(self, cluster: Cluster) -> float:
        """Cores x GHz of all machines together, as many times more as such processors are faster than the law says."""
        processor = self.named[cluster.accelerator]
        cores = self.cores(cluster) * cluster.nodes * processor.ghz
        return cores * math.exp(self.effects.get(processor.like or processor.name, 0.0))

    def images_per_second(self, cluster: Cluster, model: Model, image_size: int, precision: str | None) -> Range | None:
        """How fast a cluster of processors trains a network; None where that does not follow."""
        operations = self.named[cluster.accelerator].operations(precision)
        rate = self.pace(cluster) / LAW.work(model, image_size, operations)
        return None if math.isnan(rate) else Range(rate * math.exp(-LN_WIDTH_80), rate, rate * math.exp(LN_WIDTH_80))


def with_processor_speeds(speeds: SpeedTable, processors: Processors, barred: Flags) -> SpeedTable:
    """The same speeds [R, C], and those of processors carried over, where no rate of just such machines is known and nothing
    says that the recipe's code does not run there, `barred` [R, C]."""
    where = np.array([c for c, cluster in enumerate(speeds.clusters) if processors.cores(cluster)], np.int64)
    clusters = [speeds.clusters[c] for c in where]
    nodes = np.array([cluster.nodes for cluster in clusters], np.int64)
    pace = np.array([processors.pace(cluster) for cluster in clusters], float)
    room = (
        np.array([processors.named[cluster.accelerator].memory_gib or np.inf for cluster in clusters], float) - HOST_GIB
    )
    measured = np.array([processors.is_measured(cluster) for cluster in clusters], bool)

    @cache
    def work(model: str, sizes: tuple[int, ...], precision: str | None) -> Floats:
        """Core-seconds x GHz of an image of each size on these clusters [C, P]."""
        operations = [processors.named[cluster.accelerator].operations(precision) for cluster in clusters]
        network = processors.models.get(model)
        return np.array([[LAW.work(network, size, operation) for size in sizes] for operation in operations], float)

    for r, recipe in enumerate(speeds.recipes if clusters else ()):
        sizes = tuple(phase.image_size for phase in recipe.phases)
        done = work(recipe.model, sizes, recipe.precision)
        if recipe.teacher:
            done = done + FORWARD * work(recipe.teacher, sizes, recipe.precision)
        seconds = recipe.samples_per_epoch * done / pace[:, None]
        known = (measured | (speeds.tier[r, where] == MEASURED)) & (speeds.refusal[r, where] == 0)
        carried = ~known & ~barred[r, where] & np.isfinite(seconds).all(axis=1)
        few = (nodes > 1) & (global_batch(recipe) / nodes < FEWEST_IMAGES)
        full = most_images(room, processors.models.get(recipe.model), max(sizes), recipe.precision) < 1
        speeds.refusal[r, where[carried & few]] = REFUSALS.index("batch_too_small")
        speeds.refusal[r, where[carried & full]] = REFUSALS.index("does_not_fit_memory")
        _fill(speeds, r, where[carried & ~few & ~full], seconds[carried & ~few & ~full])
    return speeds


def _fill(speeds: SpeedTable, r: int, clusters: Indices, seconds: Floats) -> None:
    """Writes the speeds [c, P] of one recipe on these clusters [c]."""
    speeds.seconds_per_epoch[r, clusters, : seconds.shape[1]] = seconds
    speeds.refusal[r, clusters], speeds.beside_larger[r, clusters] = 0, 0
    speeds.tier[r, clusters], speeds.kind[r, clusters] = MODELLED, PROCESSOR
    speeds.steps[r, clusters], speeds.row[r, clusters] = 1, -1
    speeds.width_80[r, clusters] = speeds.width_faster[r, clusters] = LN_WIDTH_80
    speeds.usual_low[r, clusters] = speeds.usual_high[r, clusters] = np.nan
