"""Our laws of language models beside what calculators say of the same rows: `python -m science.validation.calculators`.

Ours knows no row of the organisation that it is asked about. Of calculators there are the formula that most pages use, six times
the parameters a token at 40 % of the peak, and ftuneai (PyPI, MIT), whose laws are given our networks and data sheets, since its
own lists have few of these. It has no law of pretraining.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from ftuneai.core.memory import MemoryEstimator
from ftuneai.core.models import FineTuneMethod, GPUSpec, ModelSpec, ShardingStrategy, TrainingConfig
from ftuneai.core.time import TimeEstimator

from costcalc.evidence import load_evidence
from costcalc.hardware import Accelerator
from costcalc.throughput.language.law import TokenRate
from costcalc.throughput.language.memory import shards
from costcalc.units import SECONDS_PER_HOUR
from science.validation.language import METHODS, left_out, memory
from science.validation.scores import Case

HEAD, LONGEST = 128, 2**20
OF_MIDDLE = 8 / 3
"""Units between two layers of attention over hidden ones, as of Llama."""
EXAMPLES = 1000
WITHIN = 0.8


class Rivals(NamedTuple):
    """ln of what each says over what was published, row by row."""

    name: str
    ours: list[float]
    formula: list[float]
    ftuneai: list[float]


def rivals(chips: Mapping[str, Accelerator]) -> Iterator[Rivals]:
    """By method, then all fine-tuning, then its memory, of which the formula counts the states alone."""
    scored = {name: [*left_out(methods, chips)] for name, methods in METHODS.items()}
    tuned = [pair for name, pairs in scored.items() if name != "pretraining" for pair in pairs]
    for name, pairs in {**scored, "all fine-tuning": tuned}.items():
        theirs = [] if name == "pretraining" else [_seconds_off(rate, chips[rate.accelerator]) for rate, _ in pairs]
        yield _rivals(name, [case for _, case in pairs], theirs)
    known = [*memory(chips)]
    yield _rivals(
        "memory of fine-tuning",
        [case for _, case in known],
        [_memory_off(rate, chips[rate.accelerator]) for rate, _ in known],
    )


def _rivals(name: str, cases: Sequence[Case], theirs: list[float]) -> Rivals:
    return Rivals(name, [case.error for case in cases], [case.baseline_error for case in cases], theirs)


def _seconds_off(rate: TokenRate, chip: Accelerator) -> float:
    peak = chip.dense_16bit_tflops or math.nan
    card = GPUSpec(chip.name, chip.memory_gib or 0, peak, peak, peak / 2, chip.memory_bandwidth_gb_per_s or 0)
    many = rate.accelerators or 1
    time = TimeEstimator(_network(rate), _asked(rate, chip)).estimate(card, EXAMPLES, 1, many)
    return math.log(time.total_hours * SECONDS_PER_HOUR * rate.tokens_per_second * many / time.total_tokens)


def _memory_off(rate: TokenRate, chip: Accelerator) -> float:
    gib: float = MemoryEstimator(_network(rate), _asked(rate, chip)).estimate().total_gb
    return math.log(gib / (rate.memory_gib or math.nan))


def _network(rate: TokenRate) -> ModelSpec:
    of, heads = rate.network, max(rate.network.hidden // HEAD, 1)
    parameters = round(of.active_millions * 1e6)
    return ModelSpec(
        of.name, parameters, of.hidden, of.layers, heads, heads, round(OF_MIDDLE * of.hidden), of.vocabulary, LONGEST
    )


def _asked(rate: TokenRate, chip: Accelerator) -> TrainingConfig:
    """Its settings, sharded where ours are."""
    many = rate.accelerators or 1
    is_sharded = shards(rate.work, many, chip.memory_gib or 0.0) > 1
    return TrainingConfig(
        method=FineTuneMethod(rate.method),
        batch_size=round(rate.micro_batch or 1),
        seq_length=rate.work.length,
        gradient_checkpointing=rate.recomputed is not False,
        sharding=ShardingStrategy.ZERO_3 if is_sharded else ShardingStrategy.NONE,
        num_gpus=many,
    )


def lines(scores: Sequence[Rivals]) -> Iterator[str]:
    """One for each kind of rows: their number, and of each calculator the median error and what holds 8 of 10."""
    yield f"{'organisation left out':24}{'n':>5}{'ours':>18}{'6 ND at 40 %':>18}{'ftuneai':>18}"
    for each in scores:
        figures = "".join(f"{_figures(errors):>18}" for errors in (each.ours, each.formula, each.ftuneai))
        yield f"{each.name:24}{len(each.ours):5}{figures}"


def _figures(errors: Sequence[float]) -> str:
    if not errors:
        return ""
    sizes = sorted(map(abs, errors))
    within = sizes[math.ceil(WITHIN * len(sizes)) - 1]
    return f"{math.expm1(median(sizes)):.1%} x{math.exp(within):.2f}"


if __name__ == "__main__":
    for line in lines([*rivals(load_evidence().accelerators)]):
        print(line)
