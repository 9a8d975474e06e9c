"""How far the laws of language models lie off published rates and memory, every organisation left out in turn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median

from msgspec.structs import replace

from costcalc.evidence.language import find_language_network, language_rates
from costcalc.hardware import Accelerator
from costcalc.throughput.language.law import TokenLaw, TokenRate
from costcalc.throughput.language.memory import needed_gib, shards
from costcalc.training import Method
from science.validation.scores import WIDER, Case

EVERYBODYS = 0.4
"""The share of the peak that calculators assume, six times the parameters a token."""
MEMORY_WIDTH = math.log(1.27)
"""Nobody is shown a range of memory; nine of ten rows lie within this."""
METHODS: Mapping[str, tuple[Method, ...]] = {
    "pretraining": ("pretrain",), "full fine-tuning": ("full",), "LoRA": ("lora",), "QLoRA": ("qlora",),
}  # fmt: skip


def token_cases(chips: Mapping[str, Accelerator]) -> Iterator[tuple[str, list[Case]]]:
    """By method the rates of language models, organisation left out, and all of fine-tuning together."""
    cases = {name: [case for _, case in left_out(methods, chips)] for name, methods in METHODS.items()}
    yield from ((f"language models, {name}, organisation left out", of) for name, of in cases.items())
    yield (
        "language models, all fine-tuning, organisation left out",
        [case for name, of in cases.items() if name != "pretraining" for case in of],
    )
    yield "language models, memory of fine-tuning", [case for _, case in memory(chips)]


def left_out(methods: Sequence[Method], chips: Mapping[str, Accelerator]) -> Iterator[tuple[TokenRate, Case]]:
    """The rates of these methods, each with what the law learned from other organisations says of it."""
    rates = [rate for rate in language_rates() if rate.accelerator in chips]
    for organisation in sorted({rate.organisation for rate in rates if rate.method in methods}):
        law = TokenLaw([rate for rate in rates if rate.organisation != organisation], chips)
        yield from _cases(
            law, (each for each in rates if each.organisation == organisation and each.method in methods), chips
        )


def _cases(
    law: TokenLaw, rates: Iterable[TokenRate], chips: Mapping[str, Accelerator]
) -> Iterator[tuple[TokenRate, Case]]:
    for rate in rates:
        chip, many = chips[rate.accelerator], rate.accelerators or 1
        batch = round(rate.micro_batch * many) if rate.micro_batch else None
        found = law.rate(replace(rate.work, batch=batch), chip, many)
        if found is None:
            continue
        usual = EVERYBODYS * (chip.dense_16bit_tflops or math.nan) * 1e12 / (6e6 * rate.active_millions)
        true = rate.tokens_per_second
        error, baseline = math.log(true * many / found.tokens_per_second), math.log(true / usual)
        name = f"{rate.model} {rate.length} {rate.precision} on {many} {rate.accelerator}"
        yield rate, Case(name, rate.organisation, error, baseline, (found.width, found.width * WIDER))


def memory(chips: Mapping[str, Accelerator]) -> Iterator[tuple[TokenRate, Case]]:
    """The memory that rows with recomputation state; the baseline is what the states alone take."""
    rows = [
        rate
        for rate in language_rates()
        if rate.accelerator in chips and rate.memory_gib and rate.method != "pretrain" and rate.recomputed
    ]
    for rate in rows:
        work = replace(rate.work, network=find_language_network(rate.model) or rate.network)
        parts = shards(work, rate.accelerators or 1, chips[rate.accelerator].memory_gib or 0.0)
        found, states = (needed_gib(work, each, parts) for each in (rate.micro_batch or 1, 0.0))
        known = rate.memory_gib or math.nan
        errors = math.log(found / known), math.log(states / known)
        case = Case(f"{rate.model} {rate.length}", rate.organisation, *errors, (MEMORY_WIDTH, MEMORY_WIDTH * WIDER))
        yield rate, case


def middle(cases: Sequence[Case]) -> float:
    """The median error as a fraction."""
    return math.expm1(median(abs(case.error) for case in cases))
