"""What strangers' plain loops took, who name their epochs: the runs and rates of each organisation are asked about without
anything that it published."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from costcalc import EstimateQuery, answer
from costcalc.answers import Estimate
from costcalc.evidence import Evidence
from costcalc.memory import Memory
from costcalc.query import EPOCHS
from costcalc.throughput.workloads import bits, training_rate
from costcalc.training import IMAGES_PER_EPOCH, PrecisionAsked, Throughput
from costcalc.units import SECONDS_PER_HOUR
from own_runs.by_word import Described
from science.fitting.transfer import ratios
from science.validation.answered_runs import TODAY, made_up_offers
from science.validation.chosen_answers import without
from science.validation.published import Published
from science.validation.scores import WIDER, Case

NAMED = 90.0  # epochs, of whatever: hours are in proportion
PRECISIONS: Mapping[str, PrecisionAsked] = {"16bit": "amp", "32bit": "fp32"}


def strangers(published: Published) -> list[Case]:
    """Their runs and rates in one machine, on images that were read; the baseline is the middle of all codes."""
    evidence = published.evidence
    rows = [row for row in evidence.throughputs if _is_strangers(row)]
    measured = ratios(evidence.throughputs, evidence.fitted.reference, evidence.models)
    return [
        case
        for organisation in sorted({row.organisation for row in rows})
        for case in _asked(
            without(evidence, frozenset({organisation}), measured),
            [row for row in rows if row.organisation == organisation],
        )
    ]


def _is_strangers(row: Throughput) -> bool:
    in_one_machine = row.nodes == 1 and row.accelerators > 0
    return row.plain and row.code == "ordinary_user" and not row.is_synthetic and in_one_machine


def _asked(known: Evidence, rows: Sequence[Throughput]) -> Iterator[Case]:
    for row in rows:
        precision = PRECISIONS[bits(row.precision) or ""]
        query = EstimateQuery(
            row.model, NAMED, EPOCHS, epochs=NAMED, overheads="none", pipeline="none", precision=precision
        )
        described = Described.of(query)
        if described and known.fitted.transfer.knows(row.model):
            offers = made_up_offers(known.accelerators, {(row.accelerator, row.accelerators)})
            found = answer(query, described.evidence(known), offers, TODAY, memory=Memory())
            yield from (_case(row, shown) for shown in found.estimates)


def _case(row: Throughput, shown: Estimate) -> Case:
    """ln(predicted / true hours), from the middle of the range that is shown."""
    true = math.log(NAMED * IMAGES_PER_EPOCH / training_rate(row) / SECONDS_PER_HOUR)
    low, high = math.log(shown.hours_low) - true, math.log(shown.hours_high) - true
    others = math.log((shown.usual_hours_low or math.nan) * (shown.usual_hours_high or math.nan)) / 2 - true
    wide = (high - low) / 2
    return Case(row.name, row.organisation, (low + high) / 2, others, (wide, wide * WIDER))
