"""How far hours lie off where whole trainings say theirs: of language models by the law of tokens, and from chip to chip."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from costcalc.evidence.language import language_rates
from costcalc.evidence.tables import cells, typed
from costcalc.hardware import Accelerator
from costcalc.throughput.chip_hours import WIDTHS, by_data_sheet
from costcalc.throughput.language.law import TokenLaw
from costcalc.throughput.language.networks import LanguageNetwork, TokenWork
from science.fitting.chip_priors import TaskRatio
from science.validation.scores import WIDER, Case

RUNS = Path(__file__).parents[1] / "data" / "language_runs.csv"
SHARE = 0.4
"""Of the peak, at six times the parameters a token, as calculators have it."""


class LanguageRun(Struct, frozen=True):
    """A pretraining whose tokens, hours and chips its authors stated."""

    run: str
    organisation: str
    parameters_millions: float
    active_millions: float
    layers: int
    hidden: int
    length: int
    tokens_billions: float
    hours: float
    accelerators: int
    accelerator: str
    source: str

    @property
    def work(self) -> TokenWork:
        sizes = self.parameters_millions, self.active_millions, self.layers, self.hidden
        return TokenWork(LanguageNetwork(self.run, *sizes), "pretrain", self.length)


def whole_language_runs(chips: Mapping[str, Accelerator]) -> Iterator[Case]:
    """The hours of whole pretrainings, with breaks and restarts, by the law that knows no rate of their organisation."""
    for run in typed(RUNS.name, cells(RUNS.name, RUNS.read_text("utf-8")), LanguageRun):
        chip = chips.get(run.accelerator)
        if chip is None:
            continue
        law = TokenLaw([rate for rate in language_rates() if rate.organisation != run.organisation], chips)
        if rate := law.rate(run.work, chip, run.accelerators):
            seconds, tokens = run.hours * 3600, run.tokens_billions * 1e9
            usual = SHARE * (chip.dense_16bit_tflops or math.nan) * 1e12 / (6e6 * run.active_millions)
            error = math.log(tokens / rate.tokens_per_second / seconds)
            baseline = math.log(tokens / (usual * run.accelerators) / seconds)
            side = rate.slower if error < 0 else rate.width
            yield Case(run.run, run.organisation, error, baseline, (side, side * WIDER))


def ratios(rows: Iterable[TaskRatio], chips: Mapping[str, Accelerator]) -> Iterator[Case]:
    """How many times as fast as another a chip of NVIDIA was in tasks of MLPerf, by data sheets; the baseline is arithmetic."""
    for row in rows:
        pair = chips[row.accelerator], chips[row.against]
        new, old = map(by_data_sheet, pair)
        if new is None or old is None or {chip.vendor for chip in pair} != {"NVIDIA"}:
            continue
        arithmetic = (pair[0].dense_16bit_tflops or math.nan) / (pair[1].dense_16bit_tflops or math.nan)
        true, width = math.log(row.ratio), WIDTHS["any"]
        name = f"{row.task}: {row.accelerator} over {row.against}"
        yield Case(name, row.task, new - old - true, math.log(arithmetic) - true, (width, width * WIDER))
