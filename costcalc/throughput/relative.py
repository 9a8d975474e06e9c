"""How other networks, stacks, precisions and image sizes compare with the reference network on the same accelerators."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from costcalc.throughput.chips import silicon, twin
from costcalc.throughput.core import Core
from costcalc.throughput.fit import observation
from costcalc.throughput.rates import precision_class, training_rate
from costcalc.throughput.ridge import Key, Term, fit
from costcalc.training import Model, Throughput

NOISE, DEGREES = 0.05, 3.0
SIZE_EXPONENT = 1.6  # images/s falls with the side of the image to this power: less than its area
GMACS_EXPONENT = 0.7  # and with the network's multiply-adds to this: small networks use an accelerator badly
REFERENCE_SIZE, REFERENCE_GMACS = 224, 4.1


@dataclass(frozen=True, slots=True)
class Work:
    """What is computed: a network at an image size, in a precision, by somebody's code."""

    model: str
    image_size: int
    precision: str | None
    stack: str


@dataclass(frozen=True, slots=True)
class Relative:
    """Effects on ln(rate) relative to the core model's rate on the same cluster; `bare` are the chips without matrix units."""

    models: Mapping[str, Model]
    effects: Mapping[Key, float]
    bare: frozenset[str] = frozenset()

    def knows(self, model: str) -> bool:
        """Whether any rate of the network was measured."""
        return ("model", model) in self.effects

    def software(self, work: Work) -> float:
        """The part of ln(rate / reference rate) that the network, its size, precision and code make."""
        return self._sum(software_terms(work)) + offset(work, self.models)

    def hardware(self, work: Work, accelerator: str, per_node: int) -> float:
        """The part that changes with the accelerator and the count in a machine."""
        return self._sum(hardware_terms(work, accelerator, per_node, accelerator not in self.bare))

    def effects_of(self, work: Work, accelerator: str, per_node: int) -> float:
        """Everything but the offset of image size and multiply-adds."""
        return self._sum(software_terms(work)) + self.hardware(work, accelerator, per_node)

    def _sum(self, chosen: Iterable[Term]) -> float:
        known = self.effects
        return sum([known[key] * value for key, value, _ in chosen if key in known])


def offset(work: Work, models: Mapping[str, Model]) -> float:
    """What image size and multiply-adds alone would make of ln(rate)."""
    size = -SIZE_EXPONENT * math.log(work.image_size / REFERENCE_SIZE)
    model = models.get(work.model)
    return size - GMACS_EXPONENT * math.log(model.gmacs / REFERENCE_GMACS) if model and model.gmacs else size


def software_terms(work: Work) -> Iterator[Term]:
    """Effects of network, precision and code as (key, value, prior standard deviation)."""
    precision = precision_class(work.precision) or "unknown"
    yield ("model", work.model), 1.0, 0.4
    yield ("precision", precision), 1.0, 0.5
    yield ("model", work.model, precision), 1.0, 0.15
    yield from stack_terms(work)


def stack_terms(work: Work) -> Iterator[Term]:
    """Effects of whose code it is."""
    yield ("stack", work.stack), 1.0, 0.4
    yield ("stack", work.stack, precision_class(work.precision) or "unknown"), 1.0, 0.2
    yield ("stack", work.stack, "model", work.model), 1.0, 0.15


def hardware_terms(work: Work, accelerator: str, per_node: int, matrix_units: bool) -> Iterator[Term]:
    """Effects that change with the chip, whatever its memory, or the count in a machine.

    Without matrix units 32 bits are no slower than the data sheet's figure, so what precision adds is taken back.
    """
    chip, precision = silicon(accelerator), precision_class(work.precision) or "unknown"
    yield ("accelerator", chip), 1.0, 0.3
    yield ("accelerator", chip, precision), 1.0, 0.15
    yield ("accelerator", chip, "stack", work.stack), 1.0, 0.1
    yield ("accelerator", chip, precision, "model", work.model), 1.0, 0.2
    if not matrix_units:
        yield ("precision", precision), -1.0, 0.5
    if per_node > 1:
        yield from _count_terms(work, chip, precision, per_node)


def _count_terms(work: Work, chip: str, precision: str, per_node: int) -> Iterator[Term]:
    doublings = math.log2(per_node)
    yield ("count", work.stack), doublings, 0.05
    yield ("count", "on", chip), doublings, 0.1
    yield ("count", work.stack, chip), doublings, 0.05
    yield ("count", "model", work.model), doublings, 0.03
    yield ("count", chip, precision, "model", work.model, str(per_node)), 1.0, 0.25


@dataclass(frozen=True, slots=True)
class Ratio:
    """A measured row and ln of its rate over what the core model and the offset say."""

    row: Throughput
    work: Work
    value: float


def ratios(rows: Iterable[Throughput], core: Core, models: Mapping[str, Model]) -> tuple[Ratio, ...]:
    """The rows whose accelerator the core model knows, with what is left to explain."""
    return tuple(_ratio(row, core, models) for row in rows if row.accelerators > 0 and core.knows(row.accelerator))


def _ratio(row: Throughput, core: Core, models: Mapping[str, Model]) -> Ratio:
    work = Work(row.model, row.image_size, row.precision, row.stack)
    measured = math.log(training_rate(row) / row.accelerators)
    setting = observation(row).setting._replace(accelerator=twin(row.accelerator))
    return Ratio(row, work, measured - core.log_rate(setting) - offset(work, models))


def fit_relative(found: Sequence[Ratio], models: Mapping[str, Model], bare: frozenset[str]) -> Relative:
    """The effects that explain the ratios; `bare` are the chips without matrix units."""
    rows = [[*software_terms(item.work), *_hardware(item.work, item.row, bare)] for item in found]
    return Relative(models, fit(rows, np.array([item.value for item in found]), NOISE, DEGREES).effects, bare)


def _hardware(work: Work, row: Throughput, bare: frozenset[str]) -> Iterator[Term]:
    return hardware_terms(work, row.accelerator, row.accelerators // row.nodes, row.accelerator not in bare)
