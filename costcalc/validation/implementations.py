"""Other networks and other people's code: rates of which a whole group is held out and told from all others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from costcalc.fitting.reference_model import is_reference_row
from costcalc.fitting.transfer import Ratio, fit_transfer, ratios, residual
from costcalc.throughput.data_sheets import part
from costcalc.throughput.rates import bits
from costcalc.throughput.reference_model import ReferenceModel
from costcalc.throughput.workloads import Implementation
from costcalc.validation.additive_baseline import additive
from costcalc.validation.published import Published
from costcalc.validation.scores import Case

FOLDS = 20
EXAMPLES = Implementation("nvidia-pytorch", "pytorch", "NVIDIA")
RERUN, RERUN_BY = "lambda-pytorch", "Lambda"  # runs of those examples, on other cards


class Implementations:
    """Every rate outside the reference model, and what is told of it when it and its group are held out."""

    def __init__(self, published: Published, reference: ReferenceModel) -> None:
        self._models = published.evidence.models
        self._accelerators = published.evidence.accelerators
        self._found = ratios(published.evidence.throughputs, reference, self._models)
        self._outside = [item for item in self._found if not is_reference_row(item.row)]

    def accelerators(self) -> list[Case]:
        """All rates of a stack on an accelerator held out together.

        The plain method takes the middle ratio to the reference model of the same stack and network on other accelerators.
        """
        folds = self._folds(lambda item: (item.workload.implementation.stack, item.row.accelerator))
        return [case for fold in folds for case in self._middle_beside(fold, fold)]

    def networks(self) -> list[tuple[str, Case]]:
        """All rates of one network by one code in 16 or 32 bits on one chip held out together, all others of that code on
        that chip being known; with the bits. The plain method adds up an effect of the network and one of the system."""
        plain = additive(self._outside, self._cell)
        folds = [[item for item in fold if item.row.name in plain] for fold in self._folds(self._cell)]
        found = [told for fold in folds for told in self._without(fold, fold)]
        return [(bits(item.row.precision) or "", _case(item, error, plain[item.row.name])) for item, error in found]

    def homes(self) -> list[Case]:
        """All rates of a code held out but those on one chip, and those on another told: the one before it in the alphabet.

        The plain method takes the middle ratio to the reference model of the same network at home.
        """
        cases = []
        for many in _grouped(self._outside, lambda item: item.workload.implementation):
            chips = _grouped(many, self._chip)
            for home, told in zip(chips[-1:] + chips, chips, strict=False):
                cases += self._middle_beside([item for item in many if item not in home], told) if home != told else []
        return cases

    def reruns(self, widths: tuple[float, ...]) -> list[tuple[str, Case]]:
        """Lambda's rates of NVIDIA's PyTorch examples, predicted as NVIDIA's own without any rate of Lambda's; with the bits.

        The plain method takes the middle ratio to the reference model of NVIDIA's rates of the network in the same precision.
        """
        held = [item for item in self._found if item.row.organisation == RERUN_BY]
        runs = [item for item in held if item.workload.implementation.stack == RERUN]
        cases = self._middle_beside(
            held, [replace(item, workload=replace(item.workload, implementation=EXAMPLES)) for item in runs]
        )
        return [
            (bits(item.row.precision) or "", replace(c, widths=widths)) for item, c in zip(runs, cases, strict=True)
        ]

    def _folds(self, key: Callable[[Ratio], Hashable]) -> list[list[Ratio]]:
        groups = _grouped(self._outside, key)
        return [[item for group in groups[start::FOLDS] for item in group] for start in range(FOLDS)]

    def _without(self, held: Sequence[Ratio], told: Sequence[Ratio]) -> Iterator[tuple[Ratio, float]]:
        """ln of measured over predicted of some rates, all those held out being unknown."""
        learned = fit_transfer(self._but(held), self._models, self._accelerators)
        for item in told:
            if learned.knows(item.workload.model):
                yield item, residual(item, learned)

    def _middle_beside(self, held: Sequence[Ratio], told: Sequence[Ratio]) -> list[Case]:
        """The same beside the middle ratio of what is left of the same stack, where there is any."""
        kept = self._but(held)
        beside = [(item, error, _middle(item, kept)) for item, error in self._without(held, told)]
        return [_case(item, error, item.value - middle) for item, error, middle in beside if middle is not None]

    def _cell(self, item: Ratio) -> Hashable:
        return item.workload.implementation, item.workload.model, self._chip(item), bits(item.row.precision)

    def _chip(self, item: Ratio) -> str:
        return part(self._accelerators, item.row.accelerator).chip

    def _but(self, held: Sequence[Ratio]) -> list[Ratio]:
        names = {item.row.name for item in held}
        return [item for item in self._found if item.row.name not in names]


def _case(item: Ratio, error: float, plain: float) -> Case:
    return Case(item.row.name, f"{item.row.stack} {item.row.accelerator}", error, plain)


def _grouped(found: Sequence[Ratio], key: Callable[[Ratio], Hashable]) -> list[list[Ratio]]:
    groups: dict[Hashable, list[Ratio]] = defaultdict(list)
    for item in found:
        groups[key(item)].append(item)
    return [groups[name] for name in sorted(groups, key=str)]


def _middle(item: Ratio, kept: Sequence[Ratio]) -> float | None:
    """The middle of the same stack's ratios for the network, in the same precision if there are any."""
    wanted = item.workload.implementation.stack, item.workload.model
    same = [o for o in kept if (o.workload.implementation.stack, o.workload.model) == wanted]
    chosen = [o for o in same if o.workload.precision == item.workload.precision] or same
    return float(np.median([other.value for other in chosen])) if chosen else None
