"""Speeds outside MLPerf that the frozen splits of November 2026 hold out: other counts, several machines, transformers.

A rate of a code that was measured elsewhere is scaled by the model's ratio, as `/cost` scales a recipe's own. Half of the rates
are rows of `unseen_speeds.csv`, which nothing was fitted to.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec.structs import replace

from costcalc.throughput.data_sheets import part
from costcalc.throughput.reference_model import ReferenceModel
from costcalc.throughput.work_on_clusters import of_any_code
from costcalc.throughput.workloads import Transfer, bits, training_rate
from costcalc.training import Throughput
from science.fitting.network import fit_overlap, over_networks, scaling_error
from science.fitting.transfer import Ratio, fit_transfer, ratios, residual
from science.validation.held_out import HeldOut, Learner
from science.validation.published import USUAL_MAKERS
from science.validation.scores import Case


class ScaledSpeeds:
    """Every rate outside MLPerf and the unseen ones as ratios to the reference model, by name.

    Of many small groups only one in so many (`one_in`) is held out and predicted.
    """

    def __init__(self, learner: Learner, one_in: int = 1) -> None:
        self._one_in = one_in
        self._learner, self.published = learner, learner.published
        self._evidence = learner.published.evidence
        reference = learner.reference_model(HeldOut())
        self._learned = self._ratios(self._evidence.throughputs, reference)
        self._known = self._learned | self._ratios(learner.published.unseen_speeds, reference)
        self._transfer_without = lru_cache(maxsize=None)(self._fit_without)

    def scaled(self, split: str) -> list[Case]:
        """The rates of a split, each from the rate that the split names for it, without the other rates of the same code that
        the split holds. The baseline is that rate in proportion to the accelerators.

        Codes are the groups; where all rates are of one code, each is its own.
        """
        pairs = self._learner.published.groups.get(split, {})
        codes: dict[object, list[str]] = defaultdict(list)
        for name in pairs:
            if name in self._known and pairs[name] in self._known:
                codes[self._known[name].workload.implementation].append(name)
        cases = [case for names in list(codes.values())[:: self._one_in] for case in self._scaled(names, pairs)]
        return cases if len(codes) > 1 else [replace(case, group=case.name) for case in cases]

    def transformers(self, *, measured: bool) -> list[Case]:
        """The rates of transformers and their kin, without any of the same organisation; where the accelerator shall not be
        `measured`, without any rate of its chip. The baseline does as many multiply-adds a second as ResNet-50 would."""
        groups: dict[tuple[str, str | None], list[str]] = defaultdict(list)
        for name, organisation in self._scored_transformers.items():
            if name in self._known:
                groups[organisation, None if measured else self._known[name].row.accelerator].append(name)
        return [
            case
            for (organisation, accelerator), names in list(groups.items())[:: self._one_in]
            for case in self._transformers(organisation, names, accelerator)
        ]

    def best_without_the_code(self) -> list[Case]:
        """The rates of transformers that several codes trained on one chip in the same bits, beside the one prediction that errs
        least on all of them: no model can do better that does not know the code.

        Only chips of makers that ranges come from. What counts and batches cost is taken from the fit. The baseline is the rate
        of one accelerator that errs least.
        """
        transfer = self._transfer_without(frozenset())
        alike: dict[object, list[Ratio]] = defaultdict(list)
        for ratio in self._known.values():
            trained = self._is_transformer(ratio.row) and not ratio.row.is_synthetic
            if trained and self._is_of_usual_maker(ratio.row) and transfer.knows(ratio.row.model):
                alike[self._work_on_chip(ratio)].append(ratio)
        several = {key: found for key, found in alike.items() if len({ratio.row.stack for ratio in found}) > 1}
        return [
            Case(ratio.row.name, str(key), error, rate)
            for key, found in several.items()
            for ratio, error, rate in zip(
                found,
                _beside_best(
                    [residual(replace(ratio, workload=of_any_code(ratio.workload)), transfer) for ratio in found]
                ),
                _beside_best([_log_rate(ratio) for ratio in found]),
                strict=True,
            )
        ]

    def is_synthetic(self, case: Case) -> bool:
        """Whether the rate is one of a benchmark on synthetic images and not of training."""
        return self._known[case.name].row.is_synthetic

    def is_of_usual_maker(self, case: Case) -> bool:
        """Whether several chips of the maker entered MLPerf's ResNet-50: others are hardly for rent, or run ported code."""
        return self._is_of_usual_maker(self._known[case.name].row)

    def _is_of_usual_maker(self, row: Throughput) -> bool:
        return part(self._evidence.accelerators, row.accelerator).vendor in USUAL_MAKERS

    def _scaled(self, names: Sequence[str], pairs: Mapping[str, str]) -> Iterator[Case]:
        hidden = frozenset(names).intersection(self._learned)
        transfer, gradients = self._transfer_without(hidden), self._evidence.gradients
        learned = [ratio for name, ratio in self._learned.items() if name not in hidden]
        overlap = fit_overlap(over_networks(learned, gradients), transfer, gradients)
        for name in names:
            ratio, base = self._known[name], self._known[pairs[name]]
            if transfer.knows(ratio.workload.model):
                error = scaling_error((ratio, base), transfer, gradients, overlap)
                yield Case(name, ratio.row.stack, error, _log_rate(ratio) - _log_rate(base))

    def _fit_without(self, names: frozenset[str]) -> Transfer:
        learned = [ratio for name, ratio in self._learned.items() if name not in names]
        return fit_transfer(learned, self._evidence.models, self._evidence.accelerators)

    def _transformers(self, organisation: str, names: Sequence[str], accelerator: str | None) -> Iterator[Case]:
        published = self._learner.published.groups
        groups = {**self._scored_transformers, **published.get("unscored_transformers", {})}
        reference = self._learner.reference_model(HeldOut(accelerator=accelerator))
        accelerators = self._evidence.accelerators
        chip = part(accelerators, accelerator).chip if accelerator else None
        rows = [
            row
            for row in self._evidence.throughputs
            if part(accelerators, row.accelerator).chip != chip
            and groups.get(row.name) != organisation
            and not (row.organisation == organisation and self._is_transformer(row))
        ]
        learned = self._ratios(rows, reference)
        transfer = fit_transfer(list(learned.values()), self._evidence.models, accelerators)
        for ratio in self._ratios((self._known[name].row for name in names), reference).values():
            if transfer.knows(ratio.workload.model):
                yield Case(ratio.row.name, organisation, residual(ratio, transfer), _as_resnet50(ratio))

    @property
    def _scored_transformers(self) -> dict[str, str]:
        """The organisation of each scored rate."""
        published = self._learner.published.groups
        return {**published.get("transformers", {}), **published.get("more_transformers", {})}

    def _work_on_chip(self, ratio: Ratio) -> tuple[object, ...]:
        """What ViT-B/16 and DeiT-B have in common: arithmetic, parameters, image size, bits and chip."""
        done, chip = ratio.workload, part(self._evidence.accelerators, ratio.row.accelerator).chip
        return done.gmacs, done.parameters, done.image_size, bits(done.precision), chip

    def _is_transformer(self, row: Throughput) -> bool:
        model = self._evidence.models.get(row.model)
        return model is not None and model.is_transformer

    def _ratios(self, rows: Iterable[Throughput], reference: ReferenceModel) -> dict[str, Ratio]:
        return {ratio.row.name: ratio for ratio in ratios(rows, reference, self._evidence.models)}


def _beside_best(logs: Sequence[float]) -> list[float]:
    """ln(measured / predicted) of rates, where one prediction errs least: it is one of the rates themselves."""
    best = min(logs, key=lambda one: sum(abs(math.expm1(log - one)) for log in logs))
    return [log - best for log in logs]


def _log_rate(ratio: Ratio) -> float:
    """ln(images/s of one accelerator)."""
    return math.log(training_rate(ratio.row) / ratio.row.accelerators)


def _as_resnet50(ratio: Ratio) -> float:
    """ln(measured / predicted rate), if each multiply-add took as long as one of ResNet-50."""
    return ratio.value + ratio.workload.offset + ratio.workload.gmacs
