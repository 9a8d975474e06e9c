"""Learns the effects of `costcalc.throughput.reference_model` from measured rows: a robust ridge fit, in closed form."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from costcalc.hardware import Accelerator
from costcalc.throughput.data_sheets import REFERENCE_VENDOR, DataSheets
from costcalc.throughput.reference_model import (
    Doubling,
    ReferenceModel,
    Setup,
    Term,
    TypicalUse,
    batch_keys,
    count_steps,
    hardware_terms,
    software_terms,
    step_overhead,
    terms_of,
)
from costcalc.throughput.workloads import training_rate
from costcalc.training import Throughput
from costcalc.units import Floats
from science.fitting.ridge import fit

NOISE = 0.02  # standard deviation of ln(rate) between equal systems of one organisation
MACHINE = 16  # most accelerators of one machine; a slice of more is a pod
ALIKE = 5.0  # rows' worth of belief that accelerators scatter alike
FARTHEST = 0.3  # in ln(rate)
DEGREES = 3.0  # of the t distribution that its weights come from: outliers count less
START = (0.0412, 0.329)  # TFLOP and GB per image: where the roofline stands before anything is fitted


class Observation(Struct, frozen=True):
    """A measured rate of the reference network: where, how, by whom, and ln(images/s per accelerator)."""

    setup: Setup
    organisation: str
    log_rate: float


def observations(rows: Iterable[Throughput], accelerators: Mapping[str, Accelerator]) -> tuple[Observation, ...]:
    """The rows of MLPerf's closed ResNet-50 that the reference model learns from."""
    return tuple(observation(row) for row in rows if is_reference_row(row) and row.accelerator in accelerators)


def is_reference_row(row: Throughput) -> bool:
    """Whether a row belongs to the reference stack, network and image size."""
    return row.stack == "mlperf" and row.model == "resnet50" and row.image_size == 224 and row.accelerators > 0


def observation(row: Throughput) -> Observation:
    """A throughput row as the reference model sees it; an unknown batch is taken as 256 images per accelerator."""
    batch = (row.global_batch_size or 256 * row.accelerators) / row.accelerators
    setup = Setup(row.accelerator, row.accelerators // row.nodes, row.nodes, batch, row.year, row.framework_family)
    return Observation(setup, row.organisation.casefold(), math.log(training_rate(row) / row.accelerators))


def fit_reference_model(rows: Sequence[Observation], accelerators: Mapping[str, Accelerator]) -> ReferenceModel:
    """The reference model learnt from these observations, less the effects of who measured. Raises ValueError without any."""
    if not rows:
        raise ValueError("no MLPerf ResNet-50 throughput to learn from: check throughputs.csv")
    typical = _typical(rows, DataSheets(accelerators, *START))
    sheets = DataSheets(accelerators, *_roofline(typical, accelerators), _per_joule(typical, accelerators))
    middle = float(np.median([row.log_rate for row in rows]))
    target = [row.log_rate - _offset(row.setup, sheets, middle) for row in rows]
    sharing = [step.terms for row in rows for step in _count_steps(row.setup, sheets)]
    found = fit([list(terms(row, sheets)) for row in rows], np.array(target), NOISE, DEGREES, sharing)
    networked = frozenset(row.setup.accelerator for row in rows if row.setup.nodes > 1)
    lasting = {key: effect for key, effect in found.effects.items() if key[0] != "organisation"}
    reference = ReferenceModel(sheets, lasting, _years(rows), networked, middle)
    scatter = _scatter(rows, found.left_out([row.organisation for row in rows]))
    return replace(reference, typical=_typical_use(rows, reference, scatter))


def _typical_use(
    rows: Sequence[Observation], reference: ReferenceModel, scatter: Mapping[str, float]
) -> dict[str, TypicalUse]:
    """How each accelerator was run, in the median of its rows."""
    setups: dict[str, list[Setup]] = defaultdict(list)
    for row in rows:
        setups[row.setup.accelerator].append(row.setup)
    return {
        name: TypicalUse(_software(reference, many), _batch(many), scatter.get(name, 1.0))
        for name, many in setups.items()
    }


def _scatter(rows: Sequence[Observation], missed: Floats) -> dict[str, float]:
    """How far each accelerator's rows of one machine lie from what other organisations' rows say, relative to all rows, as if
    ALIKE more rows lay at 1. One row counts for no more than FARTHEST."""
    sizes: dict[str, list[float]] = defaultdict(list)
    for row, error in zip(rows, np.minimum(np.abs(missed), FARTHEST).tolist(), strict=True):
        if row.setup.nodes == 1:
            sizes[row.setup.accelerator].append(error)
    everywhere = float(np.mean([each for many in sizes.values() for each in many] or [1.0])) or 1.0
    return {name: round((sum(many) / everywhere + ALIKE) / (len(many) + ALIKE), 4) for name, many in sizes.items()}


def _software(reference: ReferenceModel, setups: Sequence[Setup]) -> float:
    added = [reference.software(where.accelerator, where.year, where.framework_family) for where in setups]
    return float(np.median(added))


def _batch(setups: Sequence[Setup]) -> float:
    """Of a machine; pods split theirs, so where only pods are known the largest."""
    alone = [where.batch for where in setups if where.nodes == 1 and where.per_node <= MACHINE]
    return float(np.median(alone)) if alone else max(where.batch for where in setups)


def _offset(setup: Setup, sheets: DataSheets, middle: float) -> float:
    roofline = sheets.roofline(setup.accelerator)
    return (middle if roofline is None else roofline) + step_overhead(setup.batch)


def _count_steps(setup: Setup, sheets: DataSheets) -> Iterator[Doubling]:
    return count_steps(sheets, setup.accelerator, setup.per_node, setup.nodes)


def terms(row: Observation, sheets: DataSheets) -> Iterator[Term]:
    """The effects of a setup, and those of who measured it, which predictions leave out."""
    setup, who = row.setup, row.organisation
    yield from hardware_terms(sheets, setup.accelerator)
    yield from terms_of(_count_steps(setup, sheets))
    yield from software_terms(sheets.part(setup.accelerator), setup.year, setup.framework_family)
    for key, spread in zip(batch_keys(setup.accelerator), (0.3, 0.25), strict=True):
        yield key, step_overhead(setup.batch), spread
    yield ("organisation", who), 1.0, 0.02
    yield ("organisation", who, setup.accelerator), 1.0, 0.02
    yield ("organisation", who, setup.accelerator, str(setup.per_node), str(setup.nodes)), 1.0, 0.02
    if setup.nodes > 1:
        yield ("organisation", who, "machines"), 1.0, 0.05


def _typical(rows: Sequence[Observation], start: DataSheets) -> dict[str, float]:
    """Each accelerator's typical one-machine ln(rate), as if at a batch of 256 per accelerator."""
    rates: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row.setup.nodes == 1 and start.roofline(row.setup.accelerator) is not None:
            rates[row.setup.accelerator].append(row.log_rate - step_overhead(row.setup.batch))
    return {name: float(np.median(values)) for name, values in rates.items()}


def _per_joule(typical: Mapping[str, float], accelerators: Mapping[str, Accelerator]) -> tuple[tuple[int, float], ...]:
    """By year of introduction, the most images per joule that NVIDIA's measured accelerators made up to then."""
    measured = sorted(
        (chip.introduced, math.exp(rate) / chip.power_watts)
        for name, rate in typical.items()
        if (chip := accelerators[name]).vendor == REFERENCE_VENDOR and chip.introduced and chip.power_watts
    )
    best = itertools.accumulate((each for _, each in measured), max)
    return tuple({year: round(most, 4) for (year, _), most in zip(measured, best, strict=True)}.items())


def _roofline(typical: Mapping[str, float], accelerators: Mapping[str, Accelerator]) -> tuple[float, float]:
    """TFLOP and GB per image: least absolute error over the accelerators' typical one-machine rates."""
    rates = np.exp(list(typical.values()))
    sheet = [accelerators[name] for name in typical]
    costs = np.array(
        [[1 / (chip.dense_16bit_tflops or 1), 1 / (chip.memory_bandwidth_gb_per_s or 1)] for chip in sheet]
    )
    solution = np.array(START)
    for _ in range(10 * (len(typical) > 2)):
        weights = 1 / np.sqrt(np.maximum(np.abs(costs @ solution * rates - 1), 0.02))
        trial = np.linalg.lstsq(costs * (rates * weights)[:, None], weights, rcond=None)[0]
        solution = np.clip(trial, np.array(START) / 3, np.array(START) * 3)  # a few chips alike tell neither
    return float(solution[0]), float(solution[1])


def _years(rows: Sequence[Observation]) -> dict[str, tuple[int, int]]:
    seen: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        seen[row.setup.accelerator].append(row.setup.year)
    return {name: (min(years), max(years)) for name, years in seen.items()}
