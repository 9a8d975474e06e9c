"""How fast the tuned ResNet-50 of MLPerf trains on any accelerator: one additive model of ln(images/s per accelerator).

ln X = roofline + accelerator + software year + framework - (1 + batch) ln(1 + OVERHEAD_IMAGES/b) + count + machines.
Every term but the roofline is an effect shrunk to zero; `costcalc.fitting` learns them, docs/method.md says why.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from costcalc.fitting.ridge import Key, Term
from costcalc.hardware import Accelerator
from costcalc.throughput.data_sheets import Chips

FULL_NODE = 8  # accelerators in the machine that effects of count are measured from
OVERHEAD_IMAGES = 20.0  # a step costs as much again as this many images: launches, optimiser, all-reduce
REFERENCE_BATCH = 256.0
REFERENCE_YEAR = 2022
TOOLS = {name: name for name in ("mxnet", "tensorflow", "pytorch", "jax", "paddle", "mindspore", "tinygrad")} | {
    "tensorpack": "tensorflow",
    "torch-neuronx": "pytorch",
}
USUAL_YEAR = 0  # of no year in particular: as the software of the accelerator's published rates was in the middle
SLICED_VENDORS = frozenset({"Google"})  # a slice of any size is one machine to its user


class Setting(NamedTuple):
    """One way of running the reference network; `batch` is images per accelerator and step."""

    accelerator: str
    per_node: int
    nodes: int
    batch: float
    year: int
    framework: str


class Usual(NamedTuple):
    """The middle of an accelerator's published rows: what software adds to ln(rate), images per accelerator and step; and how
    far its rows lie from the model, the middle of all accelerators being 1."""

    software: float
    batch: float
    scatter: float = 1.0


class Line(NamedTuple):
    """ln(images/s per accelerator) = intercept + slope x step_overhead(batch), everything else being fixed."""

    intercept: float
    slope: float


def step_overhead(batch: float) -> float:
    """ln of the share of a step that trains images, relative to a batch of 256 per accelerator."""
    return math.log1p(OVERHEAD_IMAGES / REFERENCE_BATCH) - math.log1p(OVERHEAD_IMAGES / batch)


def tool(framework: str) -> str:
    """The framework's family: the first known name in the text, `other` if there is none."""
    text = framework.casefold()
    found = next((name for word, name in TOOLS.items() if word in text), None)
    return found or ("mxnet" if not text or "ngc" in text else "other")


@dataclass(frozen=True, slots=True)
class Core:
    """The fitted effects, the chips they lean on, and the software years seen on each accelerator.

    `usual` is how each accelerator was run.
    """

    chips: Chips
    effects: Mapping[Key, float]
    years: Mapping[str, tuple[int, int]]
    networked: frozenset[str]
    default_intercept: float
    usual: Mapping[str, Usual] = field(default_factory=dict)

    def line(self, setting: Setting) -> Line:
        """The rate as a function of the batch; the year is held within those seen on the accelerator."""
        place = self.place(setting.accelerator, setting.per_node, setting.nodes)
        software = self.software(setting.accelerator, setting.year, tool(setting.framework))
        return Line(place.intercept + software, place.slope)

    def place(self, accelerator: str, per_node: int, nodes: int) -> Line:
        """The part that the hardware makes, in the reference year with the reference framework."""
        fixed = self._sum(place_terms(self.chips, accelerator, per_node, nodes))
        slope = 1 + sum(self.effects.get(key, 0.0) for key in batch_keys(accelerator))
        return Line(self.offset(accelerator) + fixed, slope)

    def software(self, accelerator: str, year: int, framework: str) -> float:
        """What the software's framework and its year, held within those known of the accelerator, add; USUAL_YEAR is the
        middle of what was published, and of the years that could be for an accelerator never measured."""
        if year == USUAL_YEAR and accelerator in self.usual:
            return self.usual[accelerator].software
        first, last = self.years.get(accelerator) or self._span(accelerator)
        if year == USUAL_YEAR:
            year, framework = (first + last + 1) // 2, "mxnet"
        return self._sum(software_terms(self.chips, accelerator, min(max(year, first), last), framework))

    def scatter(self, accelerator: str) -> float:
        """How much wider than usual the errors of this accelerator are."""
        return self.usual[accelerator].scatter if accelerator in self.usual else 1.0

    def largest_batch(self, accelerator: str) -> float:
        """The images per accelerator beyond which larger steps are not taken to be faster: nobody chose them."""
        if accelerator in self.usual:
            return self.usual[accelerator].batch
        known = sorted(each.batch for each in self.usual.values())
        return known[len(known) // 2] if known else math.inf

    def _span(self, accelerator: str) -> tuple[int, int]:
        """From a chip's introduction to the newest software measured anywhere."""
        newest = max((last for _, last in self.years.values()), default=REFERENCE_YEAR)
        return min(self.chips.table[accelerator].introduced or 0, newest), newest

    def _sum(self, chosen: Iterator[Term]) -> float:
        effects = self.effects
        return sum(effects.get(key, 0.0) * value for key, value, _ in chosen)

    def knows(self, accelerator: str) -> bool:
        """Whether a rate can be given: the accelerator was measured, or its data sheet allows a roofline."""
        return accelerator in self.years or self.chips.roofline(accelerator) is not None

    def resembles_measured(self, accelerator: str) -> bool:
        """Whether its balance of arithmetic and bandwidth lies within that of the measured accelerators, with power enough
        for its arithmetic, and arithmetic enough for its power (games want other circuits)."""
        known = [name for name in self.years if self.chips.roofline(name) is not None]
        measured = [self.chips.balance(name) for name in known]
        between = bool(measured) and min(measured) <= self.chips.balance(accelerator) <= max(measured)
        least = min((self.chips.density(name) for name in known), default=0.0)
        return between and not self.chips.starved(accelerator) and self.chips.density(accelerator) >= least

    def offset(self, accelerator: str) -> float:
        """The roofline, or the typical rate for a chip whose data sheet gives none."""
        roofline = self.chips.roofline(accelerator)
        return self.default_intercept if roofline is None else roofline

    def log_rate(self, setting: Setting) -> float:
        """ln(images/s per accelerator)."""
        line = self.line(setting)
        return line.intercept + line.slope * step_overhead(setting.batch)


def batch_keys(accelerator: str) -> tuple[Key, Key]:
    """The effects that bend the cost of small batches: of all accelerators, and of this one."""
    return ("batch",), ("batch", accelerator)


def terms(setting: Setting, chips: Chips) -> Iterator[Term]:
    """Every effect of a setting as (key, value, prior standard deviation), but those of the batch."""
    yield from place_terms(chips, setting.accelerator, setting.per_node, setting.nodes)
    yield from software_terms(chips, setting.accelerator, setting.year, tool(setting.framework))


def place_terms(chips: Chips, name: str, per_node: int, nodes: int) -> Iterator[Term]:
    """Effects of the accelerator, its data sheet, the count in a machine and the machines."""
    vendor, count = chips.vendor(name), per_node
    if vendor in SLICED_VENDORS:
        count, nodes = per_node * nodes, 1
    yield ("mean",), 1.0, 0.5
    yield ("accelerator", name), 1.0, 0.12 if chips.roofline(name) is not None else 1.0
    if vendor != "NVIDIA":
        yield ("vendor", "other"), 1.0, 0.3
        yield ("vendor", vendor), 1.0, 0.15
    yield from _sheet_terms(chips.table[name])
    if nodes > 1:
        yield ("machines",), 1.0, 0.1
        yield ("machines", name), 1.0, 0.05
    else:
        yield ("count",), math.log2(count / FULL_NODE), 0.03
        yield ("count", name, str(per_node)), 1.0, 0.015


def software_terms(chips: Chips, name: str, year: int, framework: str) -> Iterator[Term]:
    """Effects of the software's year and, on NVIDIA's chips, of a framework other than MXNet."""
    yield ("trend",), float(year - REFERENCE_YEAR), 0.03
    yield ("year", str(year)), 1.0, 0.03
    yield ("year", name, str(year)), 1.0, 0.01
    if framework != "mxnet" and chips.vendor(name) == "NVIDIA":
        yield ("tool", framework), 1.0, 0.15


def _sheet_terms(chip: Accelerator) -> Iterator[Term]:
    yield ("compute",), math.log((chip.dense_16bit_tflops or 300) / 300), 0.05
    yield ("bandwidth",), math.log((chip.memory_bandwidth_gb_per_s or 1500) / 1500), 0.05
