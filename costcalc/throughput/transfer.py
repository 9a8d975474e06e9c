"""How other networks, codes, precisions and image sizes compare with the reference network on the same accelerators."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from costcalc.fitting.reference_model import observation
from costcalc.fitting.ridge import Key, Term, fit
from costcalc.throughput.data_sheets import silicon, twin
from costcalc.throughput.rates import training_rate
from costcalc.throughput.reference_model import Core, step_overhead
from costcalc.throughput.workloads import Code, Work, work
from costcalc.training import Model, Throughput

NOISE, DEGREES = 0.047, 3.0
NO_PEERS = re.compile(r"RTX [3-9]0[5-9]0")  # GeForce from 2020 on: cards exchange gradients through the host's memory


@dataclass(frozen=True)
class Relative:
    """Effects on ln(rate) relative to the core model's rate on the same cluster; `bare` are the chips without matrix units."""

    models: Mapping[str, Model]
    effects: Mapping[Key, float]
    bare: frozenset[str] = frozenset()

    def knows(self, model: str) -> bool:
        """Whether any rate of the network was measured."""
        return ("model", model) in self.effects

    @cached_property
    def chips_of(self) -> Mapping[Code, frozenset[str]]:
        """The chips, whatever their memory, on which a code was measured with any network."""
        found: dict[Code, set[str]] = defaultdict(set)
        for key in self.effects:
            if key[0] == "chip" and len(key) > 2:
                found[Code(*key[2:5])].add(key[1])
        return {code: frozenset(chips) for code, chips in found.items()}

    def software(self, work: Work) -> float:
        """The part of ln(rate / reference rate) that the network, its size, precision and code make."""
        return self._sum(software_terms(work)) + work.offset

    def hardware(self, work: Work, accelerator: str, per_node: int) -> float:
        """The part that changes with the accelerator and the count in a machine."""
        return self._sum(hardware_terms(work, accelerator, per_node, accelerator not in self.bare))

    def slope(self, model: str) -> float:
        """What the network adds to the reference's cost of small batches: the factor of `step_overhead`."""
        return self.effects.get(("batch", model), 0.0)

    def effects_of(self, work: Work, row: Throughput) -> float:
        """Everything but the offset of image size and multiply-adds, where the row was measured."""
        return self._sum(terms(work, row, self.bare))

    def _sum(self, chosen: Iterable[Term]) -> float:
        known = self.effects
        return sum([known[key] * value for key, value, _ in chosen if key in known])


def software_terms(work: Work) -> Iterator[Term]:
    """Effects of network, precision and code as (key, value, prior standard deviation).

    These widths and those below maximise the marginal likelihood of all rows, rounded.
    """
    yield ("family", work.family), 1.0, 0.7
    yield ("family", work.family, work.precision), 1.0, 0.11
    yield ("model", work.model), 1.0, 0.26
    yield ("model", work.model, work.precision), 1.0, 0.09
    yield ("precision", work.precision), 1.0, 1.0
    yield ("stack", work.code.stack), 1.0, 0.16
    yield ("stack", work.code.stack, work.precision), 1.0, 0.11
    yield ("code", *work.code), 1.0, 0.09
    yield ("code", *work.code, work.family, work.precision), 1.0, 0.08


def hardware_terms(work: Work, accelerator: str, per_node: int, matrix_units: bool) -> Iterator[Term]:
    """Effects that change with the chip, whatever its memory, or the count in a machine.

    Without matrix units 32 bits are no slower than the data sheet's figure, so what precision adds is taken back.
    """
    chip = silicon(accelerator)
    yield ("chip", chip), 1.0, 0.16
    yield ("chip", chip, *work.code, work.precision), 1.0, 0.06
    if not matrix_units:
        yield ("precision", work.precision), -1.0, 1.0
    if per_node > 1:
        yield from _count_terms(work, chip, per_node)
        if NO_PEERS.match(chip):
            yield ("no peers",), math.log2(per_node), 0.12
            yield ("no peers", "parameters"), math.log2(per_node) * work.parameters, 0.2


def _count_terms(work: Work, chip: str, per_node: int) -> Iterator[Term]:
    """What sharing gradients costs: more where there are more of them to share in the time that a step takes."""
    doublings = math.log2(per_node)
    yield ("count", work.family), doublings, 0.12
    yield ("count", "model", work.model), doublings, 0.06
    yield ("count", "parameters"), doublings * work.parameters, 0.09
    yield ("count", "parameters", chip, str(per_node)), work.parameters, 0.08
    yield ("count", chip, *work.code, work.precision, str(per_node)), 1.0, 0.1


def terms(work: Work, row: Throughput, bare: frozenset[str]) -> Iterator[Term]:
    """Every effect of a work where a row measured it."""
    yield from software_terms(work)
    yield from hardware_terms(work, row.accelerator, row.accelerators // row.nodes, row.accelerator not in bare)
    yield ("batch", work.model), step_overhead(observation(row).setting.batch), 0.3


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
    done = work(row, row.image_size, models)
    measured = math.log(training_rate(row) / row.accelerators)
    setting = observation(row).setting._replace(accelerator=twin(row.accelerator))
    return Ratio(row, done, measured - core.log_rate(setting) - done.offset)


def fit_relative(found: Sequence[Ratio], models: Mapping[str, Model], bare: frozenset[str]) -> Relative:
    """The effects that explain the ratios; `bare` are the chips without matrix units."""
    rows = [list(terms(item.work, item.row, bare)) for item in found]
    learned = fit(rows, np.array([item.value for item in found]), NOISE, DEGREES)
    return Relative(models, learned.effects, bare)
