"""How fast the reference network, MLPerf's tuned ResNet-50, trains on any accelerator: one additive model of ln(rate).

ln X = roofline + accelerator + software year + framework - (1 + batch) ln(1 + OVERHEAD_IMAGES/b) + count + machines, X being
images/s of one accelerator and b images per accelerator and step. Every term but the roofline is an effect shrunk to zero;
`science.fitting.reference_model` learns them, docs/method.md says why.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from costcalc.hardware import Accelerator
from costcalc.recipes import Recipe
from costcalc.throughput.data_sheets import REFERENCE_VENDOR, DataSheets
from costcalc.units import Flags, Floats, Indices

Key = tuple[str, ...]
Term = tuple[Key, float, float]
"""The effect's key, the value it is multiplied by, and its prior standard deviation, which only fitting reads."""
Counts = int | Indices

FULL_NODE = 8  # accelerators of a full machine
OVERHEAD_IMAGES = 20.0  # a step costs as much again as this many images: launches, optimiser, all-reduce
REFERENCE_BATCH = 256.0
REFERENCE_FRAMEWORK = "mxnet"
REFERENCE_YEAR = 2022
REFERENCE_TFLOPS, REFERENCE_GB_PER_S = 300, 1500
LEAST_SCATTER = 0.4  # by rule: that an accelerator's entries ran alike says less of the next one
UNDATED = 0  # instead of a year: as the software of the accelerator's published rates was in the median


def total(effects: Mapping[Key, float], terms: Iterable[Term]) -> float:
    """The sum of the fitted effects times their values; an effect that was never fitted counts as 0."""
    return sum([effects[key] * value for key, value, _ in terms if key in effects])


class Doubling(NamedTuple):
    """A doubling of the accelerators that work together: how much of it is done, the last one less than 1, and the effects of it
    all. They sum to 0 at most, for no count makes an accelerator faster."""

    share: float
    terms: list[Term]


def doublings(count: int) -> tuple[tuple[str, float], ...]:
    """Each doubling from 1 to a count: the number that it leads to, and its share."""
    whole = range(math.ceil(math.log2(max(count, 1))))
    return tuple((str(2 ** (before + 1)), min(math.log2(count) - before, 1.0)) for before in whole)


def never_faster(steps: Iterable[float]) -> list[float]:
    """What none, one, two, ... doublings add to ln(rate) together, each less or nothing."""
    return list(itertools.accumulate((min(step, 0.0) for step in steps), initial=0.0))


def shared(by_doublings: Sequence[float] | Floats, count: Counts) -> Floats:
    """What that comes to for counts of accelerators; a part of a doubling has its share."""
    return np.asarray(np.interp(np.log2(np.maximum(count, 1)), range(len(by_doublings)), by_doublings))


def steepest(by_doublings: Sequence[float] | Floats) -> Floats:
    """The most that any doubling up to each one takes off [..., doublings]."""
    return np.asarray(np.maximum.accumulate(-np.diff(by_doublings), axis=-1))


def next_doubling(count: Counts) -> Indices:
    """Which doubling, counted from 0, leads from so many accelerators to twice as many; between powers of two the later one."""
    return np.asarray(np.ceil(np.log2(np.maximum(count, 1))), np.int64)


def terms_of(steps: Iterable[Doubling]) -> Iterator[Term]:
    """The terms of doublings as a row of data has them."""
    for step in steps:
        yield from ((key, step.share * value, deviation) for key, value, deviation in step.terms)


def together(chip: Accelerator, per_node: Counts, nodes: Counts) -> tuple[Indices, Flags]:
    """How many accelerators share gradients as those of one machine do, and whether several machines do it.

    Those of several machines share as much as those of a full one. A slice of accelerators that are rented by the slice is one
    machine, however many hosts it has.
    """
    if chip.rented_in_slices:
        return np.multiply(per_node, nodes), np.less(nodes, 1)
    several = np.greater(nodes, 1)
    return np.where(several, np.maximum(per_node, FULL_NODE), per_node), several


class Setup(NamedTuple):
    """One way of running the reference network; `batch` is images per accelerator and step."""

    accelerator: str
    per_node: int
    nodes: int
    batch: float
    year: int
    framework_family: str


class TypicalUse(NamedTuple):
    """How an accelerator was run in the median of its published rows: what software adds to ln(rate), and images per
    accelerator and step. `scatter` is how far its rows lie from the model, relative to those of all accelerators."""

    software: float
    batch: float
    scatter: float = 1.0


class ChipPrior(NamedTuple):
    """Of an accelerator that nobody measured: what is added to ln(rate) by its data sheet, and how much slower and faster than
    that it may be in 8 of 10 cases. `tasks` are those of MLPerf in which it was measured."""

    shift: float
    slower: float
    faster: float
    tasks: tuple[str, ...] = ()


NO_PRIOR = ChipPrior(0.0, 0.0, 0.0)


class BatchLine(NamedTuple):
    """ln(images/s of one accelerator) = intercept + slope x step_overhead(batch), everything else being fixed. `steepest` is the
    most that twice as many in a second machine take off the intercept."""

    intercept: Floats
    slope: float
    steepest: Floats


def is_reference(recipe: Recipe) -> bool:
    """Whether the reference model speaks of this recipe's own implementation, network and image size."""
    return recipe.stack == "mlperf" and recipe.model == "resnet50" and {p.image_size for p in recipe.phases} == {224}


def step_overhead(batch: float) -> float:
    """ln of the share of a step that trains images, relative to a batch of 256 per accelerator."""
    return math.log1p(OVERHEAD_IMAGES / REFERENCE_BATCH) - math.log1p(OVERHEAD_IMAGES / batch)


class ReferenceModel(Struct, frozen=True):
    """The fitted effects and the data sheets they lean on.

    `years` are the first and last software year seen on each measured accelerator, `networked` those measured on several
    machines, `typical` how each was run. `default_intercept` stands for the roofline where a data sheet gives none.
    """

    data_sheets: DataSheets
    effects: Mapping[Key, float]
    years: Mapping[str, tuple[int, int]]
    networked: frozenset[str]
    default_intercept: float
    typical: Mapping[str, TypicalUse] = field(default_factory=dict)
    priors: Mapping[str, ChipPrior] = field(default_factory=dict)

    def prior(self, accelerator: str) -> ChipPrior:
        """What stands for measurements of an accelerator that has none."""
        return self.priors.get(accelerator, NO_PRIOR)

    def log_rate(self, setup: Setup, steeper: float = 0.0) -> float:
        """ln(images/s of one accelerator); the year is held within those seen on the accelerator.

        `steeper` is what another network adds to the cost of small batches. No chip is slower than it is with less memory.
        """
        rates = []
        for name in self.data_sheets.no_better(setup.accelerator):
            line = self.hardware(name, setup.per_node, setup.nodes)
            software = self.software(name, setup.year, setup.framework_family)
            each = float(line.intercept) + software + max(line.slope + steeper, 0.0) * step_overhead(setup.batch)
            rates.append(min(each, self.roof(name)))
        return max(rates)

    def of_chips(self) -> ReferenceModel:
        """The same where parts that differ in memory alone lose as much by small batches: the mean of what they lose.

        MLPerf ran A100s of 40 GB with small batches in its early rounds and of 80 GB in later ones, so what each of them loses
        holds their software's age, which says nothing of another network.
        """
        lost: dict[str, list[float]] = defaultdict(list)
        parts = self.data_sheets.accelerators.values()
        for part in parts:
            lost[part.chip] += [self.effects[key] for key in batch_keys(part.name)[1:] if key in self.effects]
        means = {batch_keys(part.name)[1]: fmean(lost[part.chip]) for part in parts if lost[part.chip]}
        return replace(self, effects={**self.effects, **means})

    def hardware(self, accelerator: str, per_node: Counts, nodes: Counts) -> BatchLine:
        """The part that the hardware makes, in the reference year with the reference framework.

        The intercepts are those of so many accelerators in so many machines, numbers or arrays of them.
        """
        count, several = together(self.data_sheets.part(accelerator), per_node, nodes)
        alone = total(self.effects, hardware_terms(self.data_sheets, accelerator))
        sharing = never_faster(
            total(self.effects, count_terms(accelerator, size)) for size, _ in doublings(2 * int(count.max()))
        )
        machines = min(total(self.effects, machine_terms(accelerator)), 0.0)
        slope = 1 + sum(self.effects.get(key, 0.0) for key in batch_keys(accelerator))
        start = self.offset(accelerator) + self.prior(accelerator).shift
        intercept = start + alone + shared(sharing, count) + several * machines
        return BatchLine(intercept, slope, steepest(sharing)[next_doubling(count)] - machines)

    def roof(self, accelerator: str) -> float:
        """The most that ln(rate) of an accelerator is taken to be that nobody measured: what its memory allows."""
        return math.inf if accelerator in self.years else self.data_sheets.memory_roof(accelerator)

    def software(self, accelerator: str, year: int, framework_family: str) -> float:
        """What the software's framework and year add to ln(rate), the year held within those known of the accelerator.

        For UNDATED the median of what was published; the middle of the possible years where nothing was.
        """
        if year == UNDATED and accelerator in self.typical:
            return self.typical[accelerator].software
        first, last = self.years.get(accelerator) or self._possible_years(accelerator)
        if year == UNDATED:
            year, framework_family = (first + last + 1) // 2, REFERENCE_FRAMEWORK
        within = min(max(year, first), last)
        return total(self.effects, software_terms(self.data_sheets.part(accelerator), within, framework_family))

    def scatter(self, accelerator: str) -> float:
        """How much wider than usual the errors of this accelerator are."""
        return max(self.typical[accelerator].scatter, LEAST_SCATTER) if accelerator in self.typical else 1.0

    def largest_batch(self, accelerator: str) -> float:
        """The images per accelerator beyond which larger steps are not taken to be faster: nobody chose them."""
        if accelerator in self.typical:
            return self.typical[accelerator].batch
        known = sorted(use.batch for use in self.typical.values())
        return known[len(known) // 2] if known else math.inf

    def knows(self, accelerator: str) -> bool:
        """Whether a rate can be given: the accelerator was measured, or its data sheet allows a roofline."""
        return accelerator in self.years or self.data_sheets.roofline(accelerator) is not None

    def is_known_or_predicted(self, accelerator: str) -> bool:
        """Whether a rate may be answered: an accelerator never measured only if it was made for training."""
        trusted = accelerator in self.years or self.data_sheets.part(accelerator).predicted_unmeasured
        return trusted and self.knows(accelerator)

    def is_networked(self, accelerator: str) -> bool:
        """Whether many machines may be answered: some were measured, or it is sold with a cluster network."""
        return accelerator in self.networked or self.data_sheets.part(accelerator).cluster_network

    def resembles_measured(self, accelerator: str) -> bool:
        """Whether its balance of arithmetic and bandwidth lies within that of the measured accelerators, with power enough
        for its arithmetic, and arithmetic enough for its power (games want other circuits)."""
        sheets = self.data_sheets
        measured = [name for name in self.years if sheets.roofline(name) is not None]
        balances = [sheets.flops_per_byte(name) for name in measured]
        between = bool(balances) and min(balances) <= sheets.flops_per_byte(accelerator) <= max(balances)
        least = min((sheets.tflops_per_watt(name) for name in measured), default=0.0)
        return between and not sheets.is_limited_by_power(accelerator) and sheets.tflops_per_watt(accelerator) >= least

    def offset(self, accelerator: str) -> float:
        """The roofline, or the typical rate of an accelerator whose data sheet gives none."""
        roofline = self.data_sheets.roofline(accelerator)
        return self.default_intercept if roofline is None else roofline

    def _possible_years(self, accelerator: str) -> tuple[int, int]:
        """From an accelerator's introduction, or the oldest software measured anywhere where it is unknown, to the newest."""
        firsts, lasts = zip(*self.years.values(), strict=True) if self.years else ((REFERENCE_YEAR,),) * 2
        introduced, newest = self.data_sheets.part(accelerator).introduced, max(lasts)
        return min(min(firsts) if introduced is None else introduced, newest), newest


def batch_keys(accelerator: str) -> tuple[Key, Key]:
    """The effects that bend the cost of small batches: of all accelerators, and of this one."""
    return ("batch",), ("batch", accelerator)


def hardware_terms(sheets: DataSheets, name: str) -> Iterator[Term]:
    """Effects of the accelerator and its data sheet."""
    chip = sheets.part(name)
    yield ("mean",), 1.0, 0.5
    yield ("accelerator", name), 1.0, 0.12 if sheets.roofline(name) is not None else 1.0
    if chip.vendor != REFERENCE_VENDOR:
        yield ("vendor", "other"), 1.0, 0.3
        yield ("vendor", chip.vendor), 1.0, 0.15
    yield ("compute",), math.log((chip.dense_16bit_tflops or REFERENCE_TFLOPS) / REFERENCE_TFLOPS), 0.05
    yield ("bandwidth",), math.log((chip.memory_bandwidth_gb_per_s or REFERENCE_GB_PER_S) / REFERENCE_GB_PER_S), 0.05


def count_steps(sheets: DataSheets, name: str, per_node: int, nodes: int) -> Iterator[Doubling]:
    """Effects of the count in a machine and of several machines."""
    count, several = together(sheets.part(name), per_node, nodes)
    for size, share in doublings(int(count)):
        yield Doubling(share, [*count_terms(name, size)])
    if several:
        yield Doubling(1.0, [*machine_terms(name)])


def count_terms(name: str, size: str) -> Iterator[Term]:
    """Effects of the doubling to this number of accelerators."""
    yield ("count",), 1.0, 0.03
    yield ("count", name, size), 1.0, 0.021


def machine_terms(name: str) -> Iterator[Term]:
    """Effects of several machines."""
    yield ("machines",), 1.0, 0.1
    yield ("machines", name), 1.0, 0.05


def software_terms(chip: Accelerator, year: int, framework_family: str) -> Iterator[Term]:
    """Effects of the software's year and, on the reference vendor's parts, of a framework other than the reference's."""
    yield ("trend",), float(year - REFERENCE_YEAR), 0.03
    yield ("year", str(year)), 1.0, 0.03
    yield ("year", chip.name, str(year)), 1.0, 0.01
    if framework_family != REFERENCE_FRAMEWORK and chip.vendor == REFERENCE_VENDOR:
        yield ("framework", framework_family), 1.0, 0.15
