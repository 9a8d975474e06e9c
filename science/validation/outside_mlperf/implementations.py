"""Other networks and other people's implementations: groups of rates are held out and predicted from all others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import chain

import numpy as np
from msgspec.structs import replace

from costcalc.throughput.data_sheets import part
from costcalc.throughput.reference_model import ReferenceModel
from costcalc.throughput.work_on_clusters import of_any_code
from costcalc.throughput.workloads import Implementation, bits
from costcalc.training import Throughput
from science.fitting.reference_model import is_reference_row
from science.fitting.transfer import Ratio, fit_transfer, ratios, residual
from science.validation.baselines import additive_errors
from science.validation.published import Published
from science.validation.scores import Case

FOLDS = 20
ORGANISATION_FOLDS = 8
EXAMPLES = Implementation("nvidia-pytorch", "pytorch", "NVIDIA")
Widths = tuple[float, ...]
RERUN, RERUN_BY = "lambda-pytorch", "Lambda"  # runs of those examples, on other accelerators


class Implementations:
    """Every rate as a ratio to the reference model, and predictions of those outside it when groups of them are held out.

    The baseline, unless another is named, is the median ratio of the same stack and network among the rates not held out.
    Of many small groups only one in so many (`one_in`) is held out and predicted.
    """

    def __init__(self, published: Published, reference: ReferenceModel, one_in: int = 1) -> None:
        self._one_in = one_in
        self._models = published.evidence.models
        self._accelerators = published.evidence.accelerators
        self._ratios = ratios(published.evidence.throughputs, reference, self._models)
        self._outside = [ratio for ratio in self._ratios if not is_reference_row(ratio.row)]

    def unseen_accelerators(self) -> list[Case]:
        """All rates of a stack on an accelerator are held out together."""
        folds = self._folds(lambda ratio: (ratio.workload.implementation.stack, ratio.row.accelerator))
        return [case for fold in folds for case in self._beside_median(fold, fold)]

    def other_networks(self) -> list[tuple[str, Case]]:
        """All rates of one network by one implementation in 16 or 32 bits on one chip are held out together; all others of
        that implementation on that chip are known. With the bits. The baseline is additive in network and system."""
        baseline_errors = additive_errors(self._outside, self._network_on_chip)
        folds = [
            [ratio for ratio in fold if ratio.row.name in baseline_errors]
            for fold in self._folds(self._network_on_chip)
        ]
        return [
            (_bits(ratio), _case(ratio, error, baseline_errors[ratio.row.name]))
            for fold in folds
            for ratio, error in self._errors(fold, fold)
        ]

    def measured_on_one_chip(self) -> list[Case]:
        """All rates of an implementation are held out but those on one chip; predicted are those on the next chip in the
        alphabet, after the last one those on the first."""
        pairs = []
        for rates in _grouped(self._outside, lambda ratio: ratio.workload.implementation):
            chips = _grouped(rates, self._chip)
            pairs += [(rates, *pair) for pair in zip(chips[-1:] + chips, chips, strict=False) if len(chips) > 1]
        return [
            case
            for rates, known, predicted in pairs[:: self._one_in]
            for case in self._beside_median([ratio for ratio in rates if ratio not in known], predicted)
        ]

    def reruns(self, same_chip: Widths, other_chip: Widths) -> list[tuple[str, Case]]:
        """Lambda's rates of NVIDIA's PyTorch examples, predicted as NVIDIA's own without any rate of Lambda's; with the bits.

        The half-widths, at SCORED_LEVELS, are those of answers: on a chip that NVIDIA ran them on, and on any other.
        """
        held_out = [ratio for ratio in self._ratios if ratio.row.organisation == RERUN_BY]
        reruns = [ratio for ratio in held_out if ratio.workload.implementation.stack == RERUN]
        examples = [replace(ratio, workload=replace(ratio.workload, implementation=EXAMPLES)) for ratio in reruns]
        ran = {self._chip(ratio) for ratio in self._ratios if ratio.workload.implementation == EXAMPLES}
        cases = self._beside_median(held_out, examples)
        return [
            (_bits(ratio), replace(case, half_widths=same_chip if self._chip(ratio) in ran else other_chip))
            for ratio, case in zip(reruns, cases, strict=True)
        ]

    def code_never_measured(self) -> list[tuple[Throughput, Case]]:
        """Each rate as that of a code of which nothing is known, without any rate of its organisation, with its row.

        The baseline is MLPerf's code. No two of the largest organisations are in one fold.
        """
        organisations = sorted(_grouped(self._outside, lambda ratio: ratio.row.organisation), key=len, reverse=True)
        folds = [list(chain(*organisations[start::ORGANISATION_FOLDS])) for start in range(ORGANISATION_FOLDS)]
        return [
            (ratio.row, Case(ratio.row.name, ratio.row.organisation, error, ratio.value))
            for fold in folds
            for ratio, error in self._errors(
                fold, [replace(ratio, workload=of_any_code(ratio.workload)) for ratio in fold]
            )
        ]

    def _folds(self, key: Callable[[Ratio], Hashable]) -> list[list[Ratio]]:
        """Every rate in one of FOLDS folds, those of one group together; of the folds one in so many."""
        groups = _grouped(self._outside, key)
        return [[ratio for group in groups[start::FOLDS] for ratio in group] for start in range(0, FOLDS, self._one_in)]

    def _errors(self, held_out: Sequence[Ratio], predicted: Sequence[Ratio]) -> Iterator[tuple[Ratio, float]]:
        """ln(measured / predicted rate) of some rates, learned without what is held out; none of unknown networks."""
        transfer = fit_transfer(self._without(held_out), self._models, self._accelerators)
        for ratio in predicted:
            if transfer.knows(ratio.workload.model):
                yield ratio, residual(ratio, transfer)

    def _beside_median(self, held_out: Sequence[Ratio], predicted: Sequence[Ratio]) -> list[Case]:
        """The same as cases, where the baseline has any rate to go by."""
        alike: dict[Hashable, list[Ratio]] = defaultdict(list)
        for ratio in self._without(held_out):
            alike[_stack_and_network(ratio)].append(ratio)
        errors = self._errors(held_out, predicted)
        found = [(ratio, error, _median(ratio, alike[_stack_and_network(ratio)])) for ratio, error in errors]
        return [_case(ratio, error, ratio.value - median) for ratio, error, median in found if median is not None]

    def _network_on_chip(self, ratio: Ratio) -> Hashable:
        return ratio.workload.implementation, ratio.workload.model, self._chip(ratio), bits(ratio.row.precision)

    def _chip(self, ratio: Ratio) -> str:
        return part(self._accelerators, ratio.row.accelerator).chip

    def _without(self, held_out: Sequence[Ratio]) -> list[Ratio]:
        names = {ratio.row.name for ratio in held_out}
        return [ratio for ratio in self._ratios if ratio.row.name not in names]


def _case(ratio: Ratio, error: float, baseline_error: float) -> Case:
    return Case(ratio.row.name, f"{ratio.row.stack} {ratio.row.accelerator}", error, baseline_error)


def _bits(ratio: Ratio) -> str:
    return bits(ratio.row.precision) or ""


def _grouped(found: Sequence[Ratio], key: Callable[[Ratio], Hashable]) -> list[list[Ratio]]:
    groups: dict[Hashable, list[Ratio]] = defaultdict(list)
    for ratio in found:
        groups[key(ratio)].append(ratio)
    return [groups[name] for name in sorted(groups, key=str)]


def _median(ratio: Ratio, alike: Sequence[Ratio]) -> float | None:
    """The median of the same stack's ratios for the network, in the same precision if there are any; None without any."""
    chosen = [other for other in alike if other.workload.precision == ratio.workload.precision] or alike
    return float(np.median([other.value for other in chosen])) if chosen else None


def _stack_and_network(ratio: Ratio) -> tuple[str, str]:
    return ratio.workload.implementation.stack, ratio.workload.model
