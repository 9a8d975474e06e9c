"""Speeds that somebody measured on the same accelerators and machines, for the same model and image size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from costcalc.hardware import Cluster
from costcalc.training import Recipe, Throughput

SIXTEEN_BIT = frozenset({"amp", "fp16", "bf16"})
EVALUATION_SHARE = 0.006  # of the elapsed time, median of MLPerf logs that state both rates


class Cell(NamedTuple):
    """What must be equal before one measurement may stand for another."""

    image_size: int
    accelerator: str
    accelerators: int
    nodes: int


class Match(NamedTuple):
    """The rate taken for one phase, the row nearest to it, and whether it comes from the recipe's own stack."""

    images_per_second: float
    row: int
    same_stack: bool


def training_rate(row: Throughput) -> float:
    """Images per second of training alone: rates that include evaluation are raised by its usual share."""
    return row.images_per_second * (1 + EVALUATION_SHARE * row.includes_evaluation)


def precision_class(precision: str | None) -> str | None:
    """`16bit` for amp, fp16 and bf16; the precision itself otherwise."""
    return "16bit" if precision in SIXTEEN_BIT else precision


class Measurements:
    """The throughput rows of one model, found by cell."""

    def __init__(self, throughputs: Sequence[Throughput], model: str) -> None:
        self._rows = throughputs
        self._cells: dict[Cell, list[int]] = defaultdict(list)
        for index, row in enumerate(throughputs):
            if row.model == model:
                self._cells[Cell(row.image_size, row.accelerator, row.accelerators, row.nodes)].append(index)

    def match(self, recipe: Recipe, cluster: Cluster) -> tuple[Match, ...] | None:
        """One match per phase of the recipe, or None when any phase has no measurement on this cluster."""
        matches = tuple(self._phase(recipe, cluster, phase.image_size) for phase in recipe.phases)
        found = tuple(match for match in matches if match is not None)
        return found if found and len(found) == len(matches) else None

    def _phase(self, recipe: Recipe, cluster: Cluster, image_size: int) -> Match | None:
        cell = Cell(image_size, cluster.accelerator, cluster.total_accelerators, cluster.nodes)
        rows = [row for row in self._cells.get(cell, ()) if self._same_precision(row, recipe)]
        own = [row for row in rows if self._rows[row].stack == recipe.stack]
        real = [row for row in own or rows if not self._rows[row].is_synthetic]
        return self._middle(real or own or rows, bool(own)) if rows else None

    def _same_precision(self, row: int, recipe: Recipe) -> bool:
        return precision_class(self._rows[row].precision) == precision_class(recipe.precision)

    def _middle(self, rows: Iterable[int], same_stack: bool) -> Match:
        rates = {row: training_rate(self._rows[row]) for row in rows}
        middle = float(np.exp(np.median(np.log(list(rates.values())))))
        nearest = min(rates, key=lambda row: abs(np.log(rates[row] / middle)))
        return Match(middle, nearest, same_stack)
