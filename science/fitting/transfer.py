"""Learns how other networks and implementations compare with the reference, from every measured rate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from costcalc.hardware import Accelerator
from costcalc.throughput.data_sheets import part, twin
from costcalc.throughput.reference_model import Doubling, ReferenceModel, Term, step_overhead, terms_of, total
from costcalc.throughput.work_on_clusters import ANY
from costcalc.throughput.workloads import (
    Transfer,
    Workload,
    batch_terms,
    count_steps,
    hardware_terms,
    silicon_terms,
    software_terms,
    training_rate,
    workload,
)
from costcalc.training import Model, Throughput
from science.fitting.reference_model import observation
from science.fitting.ridge import fit

LOOPS_NOISE = 0.2  # of ln(rate) from one way of running a loop to another: layouts, attention
NOISE, DEGREES = 0.047, 3.0  # of ln(rate); degrees of freedom of the t distribution that makes outliers count less


class Ratio(Struct, frozen=True):
    """A measured row and ln of its rate over what the reference model and the workload's offset say."""

    row: Throughput
    workload: Workload
    value: float


def ratios(rows: Iterable[Throughput], reference: ReferenceModel, models: Mapping[str, Model]) -> tuple[Ratio, ...]:
    """The rows whose accelerator the reference model knows, with what is left to explain."""
    of_chips = reference.of_chips()
    return tuple(
        _ratio(row, of_chips, models) for row in rows if row.accelerators > 0 and of_chips.knows(row.accelerator)
    )


def _ratio(row: Throughput, reference: ReferenceModel, models: Mapping[str, Model]) -> Ratio:
    done = workload(row, row.image_size, models)
    measured = math.log(training_rate(row) / row.accelerators)
    name = twin(reference.data_sheets.accelerators, row.accelerator)
    setup = observation(row).setup._replace(accelerator=name)
    return Ratio(row, done, measured - reference.log_rate(setup) - done.offset)


def terms(ratio: Ratio, transfer: Transfer) -> Iterator[Term]:
    """Every effect of a workload where a row measured it."""
    row, accelerators = ratio.row, transfer.accelerators
    yield from software_terms(ratio.workload)
    yield from hardware_terms(
        ratio.workload, part(accelerators, row.accelerator), transfer.memory_share(row.accelerator)
    )
    yield from terms_of(_count_steps(ratio, accelerators))
    overhead = step_overhead(observation(row).setup.batch)
    yield from ((key, overhead, deviation) for key, _, deviation in batch_terms(row))
    yield from _benchmark_terms(row)


def _benchmark_terms(row: Throughput) -> Iterator[Term]:
    """What a code gains while it neither reads nor decodes an image. No training has it."""
    if row.is_synthetic:
        yield ("synthetic", row.stack), 1.0, 0.2


def _count_steps(ratio: Ratio, accelerators: Mapping[str, Accelerator]) -> Iterator[Doubling]:
    row = ratio.row
    return count_steps(ratio.workload, part(accelerators, row.accelerator), row.accelerators // row.nodes)


def fit_transfer(
    found: Sequence[Ratio], models: Mapping[str, Model], accelerators: Mapping[str, Accelerator]
) -> Transfer:
    """The effects that explain the ratios."""
    unfitted = Transfer(models, accelerators, {})
    rows = [list(terms(ratio, unfitted)) for ratio in found]
    sharing = [step.terms for ratio in found for step in _count_steps(ratio, accelerators)]
    target = [ratio.value - unfitted.balance(ratio.workload, ratio.row.accelerator) for ratio in found]
    learned = fit(rows, np.array(target), NOISE, DEGREES, sharing)
    return Transfer(models, accelerators, learned.effects)


def with_loops(transfer: Transfer, timed: Sequence[Ratio]) -> Transfer:
    """The same beside what plain loops make of the dies on which these were timed; their own code says nothing of others, so all
    else stays."""
    transfer = replace(transfer, effects={key: value for key, value in transfer.effects.items() if key[0] != "loop"})
    loops = [replace(ratio, workload=replace(ratio.workload, implementation=ANY)) for ratio in timed]
    known = [ratio for ratio in loops if transfer.knows(ratio.row.model)]
    rows = [[*silicon_terms(one.workload, part(transfer.accelerators, one.row.accelerator))] for one in known]
    left = np.array([residual(ratio, transfer) for ratio in known])
    learned = fit(rows, left, LOOPS_NOISE, DEGREES).effects if known else {}
    return replace(transfer, effects={**transfer.effects, **learned})


def residual(ratio: Ratio, transfer: Transfer) -> float:
    """ln of the measured rate over the predicted one, where the row was measured."""
    row = ratio.row
    steeper = transfer.slope(row) * step_overhead(observation(row).setup.batch)
    hardware = transfer.hardware(ratio.workload, row.accelerator, row.accelerators // row.nodes)
    benchmark = total(transfer.effects, _benchmark_terms(row))
    return ratio.value - transfer.software(ratio.workload) + ratio.workload.offset - hardware - steeper - benchmark
