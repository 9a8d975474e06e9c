"""How fast a task trains on a cluster, from its own results: a Gaussian process of ln(samples/s of one accelerator).

What chips add leans on the ratios that other tasks of the kind measured, and these on data sheets; what counts, batches and years
add is smooth. Its hyperparameters are the same for all tasks (`kernel.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from costcalc.hardware import Accelerator, Cluster
from costcalc.recipes import ClosedRecipe, Recipe
from costcalc.tasks.kernel import (
    CHIP,
    HALF_OF_80,
    NEWER,
    OLDER,
    SCATTER,
    OfTask,
    Posterior,
    Systems,
    covariance,
    variance,
)
from costcalc.tasks.layouts import Layouts, Work
from costcalc.throughput import REFUSALS, SpeedTable
from costcalc.throughput.data_sheets import part
from costcalc.throughput.fitted_parameters import ACCELERATOR, KINDS, TRANSFERRED, HalfWidth, calibrated
from costcalc.throughput.reference_model import FULL_NODE, UNDATED
from costcalc.throughput.speed_model import TIER_CODES, empty_table
from costcalc.training import Throughput
from costcalc.units import Floats

MIDDLE_YEAR, DAYS_PER_YEAR = 2022.0, 365.2425
USUAL_TFLOPS, USUAL_GB_PER_S = 300.0, 1500.0
BY_TFLOPS, BY_GB_PER_S, BY_COUNT = 0.6, 0.3, -0.1
"""Exponents of the rate of one accelerator in its data sheet's arithmetic and bandwidth, and in the count beyond one full
machine, before any rate."""
MOST_OF_PEAK = 0.6
"""The largest share of its 16-bit peak that a published training of a language model kept an accelerator busy with: 0.57 of an
A100 (Korthikanti et al. 2022, arXiv 2205.05198), 0.58 of a TPU v4 (Chowdhery et al. 2022, arXiv 2204.02311)."""


class Answer(NamedTuple):
    """What a work makes of C clusters: ln(samples/s of all accelerators), NaN where refused; the half-width of its 80 % interval;
    a code of REFUSALS."""

    log_rate: Floats
    width: Floats
    refusal: NDArray[np.int8]


class TaskSpeeds(Struct, frozen=True, eq=False, dict=True):
    """The speeds of one task, from its published `rows` and what was learned of it; `cases` results say how wide ranges are.
    `network_gib` and `recipes` are as in `Layouts`."""

    rows: tuple[Throughput, ...]
    accelerators: Mapping[str, Accelerator]
    of_task: OfTask
    cases: int = 0
    network_gib: float = math.inf
    recipes: tuple[Recipe, ...] = ()
    tflop_per_sample: float | None = None

    def speeds(
        self, recipes: Sequence[Recipe], clusters: Sequence[Cluster], of_larger: Sequence[Recipe] = ()
    ) -> SpeedTable:
        """One table for recipes of the task; every pair is answered or refused with its reason."""
        table = self.refused(recipes, clusters)
        if not (self.rows and recipes):
            return table
        distinct = list(dict.fromkeys(clusters))
        place = {cluster: number for number, cluster in enumerate(distinct)}
        at = np.array([place[cluster] for cluster in clusters], np.int64)
        layouts = self.layouts
        answers = self._answers(list(dict.fromkeys(map(_work, recipes))), distinct, layouts)
        table.kind[:], table.row[:] = layouts.kinds(distinct)[at], layouts.nearest(distinct)[at]
        for r, recipe in enumerate(recipes):
            log_rate, width, refusal = (column[at] for column in answers[_work(recipe)])
            table.seconds_per_epoch[r, :, 0] = recipe.samples_per_epoch / np.exp(log_rate)
            table.width_80[r], table.width_faster[r] = np.hypot(width, OLDER), np.hypot(width, NEWER)
            table.refusal[r] = refusal
            table.tier[r] = np.where(refusal == 0, TIER_CODES[table.kind[r]], -1)
        return table

    def refused(self, recipes: Sequence[Recipe], clusters: Sequence[Cluster]) -> SpeedTable:
        """The table of these recipes before any speed is known."""
        half_width = HalfWidth(0.0, by_rule=False, cases=self.cases)
        widths = {calibrated(kind, undated): half_width for kind in KINDS for undated in (True, False)}
        return empty_table(SpeedTable, self.rows, recipes, clusters, widths=widths)

    def predicted(self, systems: Systems) -> tuple[Floats, Floats]:
        """The mean and the standard deviation of ln(samples/s of one accelerator) of another result of these systems."""
        across = covariance(systems, self.measured)
        left = self._posterior.variance(across, variance(systems)) + SCATTER**2
        return systems.mean + self._posterior.mean(across), np.sqrt(left)

    def half_widths(self, deviation: Floats, kinds: NDArray[np.int8]) -> Floats:
        """The half-widths of 80 % intervals of ln(samples/s), by the codes of the nearest thing measured."""
        unlike = np.where(kinds == ACCELERATOR, self.of_task.other_chip, self.of_task.other_count)
        return HALF_OF_80 * self.of_task.widening * np.where(kinds == TRANSFERRED, 1.0, unlike) * deviation

    def systems(self, clusters: Sequence[Cluster], works: Sequence[Work]) -> Systems:
        """The clusters with their works, as columns."""
        parts = [part(self.accelerators, cluster.accelerator) for cluster in clusters]
        total = np.array([max(cluster.total_accelerators, 1) for cluster in clusters], float)
        counts = zip(works, total.tolist(), strict=True)
        batches = np.array([work.batch or self._middle_batch * many for work, many in counts], float) / total
        most = {name: self._most_at_once(chip) for name, chip in {chip.name: chip for chip in parts}.items()}
        batches = np.minimum(batches, [most[chip.name] for chip in parts])
        days = [work.day or self._newest(chip) for chip, work in zip(parts, works, strict=True)]
        sheets = np.array([_sheet(chip) for chip in parts], float).reshape(-1, 2)
        unknown = 0.0, CHIP
        priors = np.array([self.of_task.chips.get(chip.chip, unknown) for chip in parts], float).reshape(-1, 2)
        log_count = np.log(total / FULL_NODE)
        return Systems(
            part=np.array([chip.name for chip in parts], str),
            chip=np.array([chip.chip for chip in parts], str),
            silicon=np.array([chip.silicon or chip.chip for chip in parts], str),
            log_count=log_count,
            machines=np.log([cluster.nodes for cluster in clusters]),
            batch=-np.log1p(self._middle_batch / batches),
            bandwidth=sheets[:, 1],
            year=np.array(days, float) / DAYS_PER_YEAR - MIDDLE_YEAR,
            mean=sheets @ (BY_TFLOPS, BY_GB_PER_S) + BY_COUNT * log_count.clip(0) + priors[:, 0],
            chip_deviation=priors[:, 1],
        )

    def _answers(self, works: Sequence[Work], clusters: Sequence[Cluster], layouts: Layouts) -> dict[Work, Answer]:
        """The speed of each work on each cluster."""
        beyond = layouts.refusals(clusters)
        allowed, holds = layouts.allowed(works, clusters), layouts.holds(works, clusters)
        may = allowed & holds & (beyond == 0)
        work, cluster = np.nonzero(may)
        here, tried = [clusters[c] for c in cluster.tolist()], [works[w] for w in work.tolist()]
        systems = self.systems(here, tried)
        mean, deviation = self.predicted(systems)
        better = [replace(each, accelerator=self._better_part(each.accelerator)) for each in here]
        mean = np.minimum(mean, self.predicted(self.systems(better, tried))[0])
        log_rate, width = np.full(may.shape, np.nan), np.full(may.shape, np.nan)
        of_one = np.minimum(mean, self._most(clusters)[cluster])
        log_rate[work, cluster] = of_one + systems.log_count + math.log(FULL_NODE)
        width[work, cluster] = self.half_widths(deviation, layouts.kinds(clusters)[cluster])
        otherwise = np.where(holds, REFUSALS.index("batch_too_small"), REFUSALS.index("does_not_fit_memory"))
        refusal = np.where(may, 0, np.where(beyond, beyond, otherwise)).astype(np.int8)
        columns = zip(log_rate, width, refusal, strict=True)
        return {each: Answer(*column) for each, column in zip(works, columns, strict=True)}

    def _better_part(self, name: str) -> str:
        """For a part that nobody trained on, a part of the same chip that somebody did and that is no worse, so no slower."""
        chip, used = part(self.accelerators, name), {row.accelerator for row in self.rows}
        parts = () if name in used else map(self.accelerators.get, sorted(used))
        return next((each.name for each in parts if each and each.is_no_worse_than(chip)), name)

    @cached_property
    def layouts(self) -> Layouts:
        """On what, and with which batches, the task may be trained."""
        return Layouts(self.rows, self.accelerators, self.network_gib, self.recipes)

    @cached_property
    def measured(self) -> Systems:
        """The systems of the rows [N]."""
        clusters = [Cluster(row.accelerator, row.system.accelerators_per_node, row.nodes) for row in self.rows]
        return self.systems(clusters, [Work(row.global_batch_size, row.known_on.toordinal()) for row in self.rows])

    @cached_property
    def rates(self) -> Floats:
        """ln(samples/s of one accelerator) of the rows [N]."""
        return np.log([row.images_per_second / row.accelerators for row in self.rows])

    @cached_property
    def _posterior(self) -> Posterior:
        noise = np.full(len(self.rows), SCATTER**2)
        return Posterior.of(covariance(self.measured, self.measured), self.rates - self.measured.mean, noise)

    def _most(self, clusters: Sequence[Cluster]) -> Floats:
        """ln(samples/s of one accelerator) that arithmetic allows [C]: the share of its 16-bit peak that anybody reached with 16
        bits, or on a chip of eight that nobody trained on, that two others of its time did. Infinite where neither is known."""
        parts = [part(self.accelerators, cluster.accelerator) for cluster in clusters]
        shares = [self._share_of_others(chip) if chip.eight_bit else MOST_OF_PEAK for chip in parts]
        peaks = [(chip.dense_16bit_tflops or np.inf) / (self.tflop_per_sample or np.nan) for chip in parts]
        return np.nan_to_num(np.log(np.multiply(shares, peaks)), nan=np.inf)

    def _share_of_others(self, accelerator: Accelerator) -> float:
        """The share reached by the second busiest chip of eight bits that is no newer, or by the only one. Infinite if there is
        none, or if this chip is among them all."""
        last = accelerator.introduced or math.inf
        older = sorted(share for year, share in self._shares.values() if year <= last)
        return math.inf if accelerator.chip in self._shares or not older else older[-2:][0]

    @cached_property
    def _shares(self) -> dict[str, tuple[int, float]]:
        """The year of each chip with eight bits, and the largest share of its 16-bit peak that it was kept busy with."""
        shares: dict[str, tuple[int, float]] = {}
        for row in self.rows:
            chip = part(self.accelerators, row.accelerator)
            if chip.eight_bit and chip.dense_16bit_tflops and self.tflop_per_sample:
                reached = row.images_per_second / row.accelerators * self.tflop_per_sample / chip.dense_16bit_tflops
                shares[chip.chip] = max(shares.get(chip.chip, (0, 0.0)), (chip.introduced or 0, reached))
        return shares

    def _most_at_once(self, chip: Accelerator) -> float:
        """The largest batch that one such accelerator is known to hold: as trained on its chip, else on any, scaled by memory.
        Larger batches are trained in several steps."""
        every = [(part(self.accelerators, row.accelerator), row) for row in self.rows if row.global_batch_size]
        alike = [(other, row) for other, row in every if other.chip == chip.chip] or every
        held = [(row.global_batch_size or 0) / row.accelerators * _room(chip, other) for other, row in alike]
        return max(held, default=math.inf)

    @cached_property
    def _middle_batch(self) -> float:
        """The median batch of one accelerator; larger ones make it hardly any faster."""
        batches = [row.global_batch_size / row.accelerators for row in self.rows if row.global_batch_size]
        return float(np.median(batches)) if batches else 1.0

    def _newest(self, chip: Accelerator) -> int:
        """The day of the newest software on a part, else on its chip, else on any."""
        return self._days.get(chip.name) or self._days.get(chip.chip) or max(self._days.values())

    @cached_property
    def _days(self) -> dict[str, int]:
        days: dict[str, int] = {}
        for row in sorted(self.rows, key=lambda row: row.known_on):
            for name in (part(self.accelerators, row.accelerator).chip, row.accelerator):
                days[name] = row.known_on.toordinal()
        return days


def _work(recipe: Recipe) -> Work:
    day = UNDATED if recipe.year == UNDATED else recipe.known_on.toordinal()
    memory = recipe.memory_gib if isinstance(recipe, ClosedRecipe) else None
    return Work(recipe.global_batch_size, day, recipe.tuned_to, recipe.home.accelerators or 1, memory)


def _sheet(chip: Accelerator) -> tuple[float, float]:
    """ln of arithmetic and of bandwidth relative to usual ones; 0 if the data sheet lacks it or memory lies on the chip."""
    tflops = math.log(chip.dense_16bit_tflops / USUAL_TFLOPS) if chip.dense_16bit_tflops else 0.0
    bandwidth = chip.memory_bandwidth_gb_per_s if chip.device_memory else None
    return tflops, math.log(bandwidth / USUAL_GB_PER_S) if bandwidth else 0.0


def _room(chip: Accelerator, other: Accelerator) -> float:
    """How much of what another accelerator's memory holds this one's does, as a share; 1 if either has none beside the chip."""
    if not (chip.device_memory and other.device_memory and chip.memory_gib and other.memory_gib):
        return 1.0
    return min(1.0, chip.memory_gib / other.memory_gib)
