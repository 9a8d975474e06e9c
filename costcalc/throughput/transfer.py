"""How other networks, implementations, precisions and image sizes compare with the reference network on the same machines."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from costcalc.hardware import Accelerator
from costcalc.throughput.data_sheets import part
from costcalc.throughput.effects import Key, Term, total
from costcalc.throughput.workloads import Implementation, Workload
from costcalc.training import Model


@dataclass(frozen=True)
class Transfer:
    """Effects on ln(rate) relative to the reference model's rate on the same cluster."""

    models: Mapping[str, Model]
    accelerators: Mapping[str, Accelerator]
    effects: Mapping[Key, float]

    def knows(self, model: str) -> bool:
        """Whether any rate of the network was measured."""
        return ("model", model) in self.effects

    @cached_property
    def chips_of(self) -> Mapping[Implementation, frozenset[str]]:
        """The chips, whatever their memory, on which an implementation was measured with any network."""
        chips: dict[Implementation, set[str]] = defaultdict(set)
        for key in self.effects:
            if key[0] == "chip" and len(key) > 2:
                chips[Implementation(*key[2:5])].add(key[1])
        return {implementation: frozenset(names) for implementation, names in chips.items()}

    def software(self, workload: Workload) -> float:
        """The part of ln(rate / reference rate) that the network, its image size, precision and implementation make."""
        return total(self.effects, software_terms(workload)) + workload.offset

    def hardware(self, workload: Workload, accelerator: str, per_node: int) -> float:
        """The part that changes with the accelerator and the count in a machine."""
        return total(self.effects, hardware_terms(workload, part(self.accelerators, accelerator), per_node))

    def slope(self, model: str) -> float:
        """What the network adds to the reference's cost of small batches: the factor of `step_overhead`."""
        return self.effects.get(("batch", model), 0.0)


def software_terms(workload: Workload) -> Iterator[Term]:
    """Effects of network, precision and implementation.

    These prior deviations and those below maximise the marginal likelihood of all rows, rounded.
    """
    implementation, family, precision = workload.implementation, workload.family, workload.precision
    yield ("family", family), 1.0, 0.7
    yield ("family", family, precision), 1.0, 0.11
    yield ("model", workload.model), 1.0, 0.26
    yield ("model", workload.model, precision), 1.0, 0.09
    yield ("precision", precision), 1.0, 1.0
    yield ("stack", implementation.stack), 1.0, 0.16
    yield ("stack", implementation.stack, precision), 1.0, 0.11
    yield ("implementation", *implementation), 1.0, 0.09
    yield ("implementation", *implementation, family, precision), 1.0, 0.08


def hardware_terms(workload: Workload, accelerator: Accelerator, per_node: int) -> Iterator[Term]:
    """Effects that change with the chip, whatever its memory, or the count in a machine.

    Without matrix units 32 bits are no slower than the data sheet's figure, so what precision adds is taken back.
    """
    chip = accelerator.chip
    yield ("chip", chip), 1.0, 0.16
    yield ("chip", chip, *workload.implementation, workload.precision), 1.0, 0.06
    if not accelerator.matrix_units:
        yield ("precision", workload.precision), -1.0, 1.0
    if per_node > 1:
        yield from _count_terms(workload, chip, per_node)
        if not accelerator.peer_to_peer:
            yield ("no peers",), math.log2(per_node), 0.12
            yield ("no peers", "parameters"), math.log2(per_node) * workload.parameters, 0.2


def _count_terms(workload: Workload, chip: str, per_node: int) -> Iterator[Term]:
    """What sharing gradients costs: more where there are more of them to share in the time that a step takes."""
    doublings = math.log2(per_node)
    yield ("count", workload.family), doublings, 0.12
    yield ("count", "model", workload.model), doublings, 0.06
    yield ("count", "parameters"), doublings * workload.parameters, 0.09
    yield ("count", "parameters", chip, str(per_node)), workload.parameters, 0.08
    yield ("count", chip, *workload.implementation, workload.precision, str(per_node)), 1.0, 0.1
