"""Speeds that somebody measured on the same accelerators and machines, for the same model and image size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

import numpy as np

from costcalc.hardware import Cluster
from costcalc.throughput.cluster_features import Field
from costcalc.throughput.data_sheets import Chips, silicon
from costcalc.throughput.memory import densest
from costcalc.throughput.rates import bits, precision_class, training_rate
from costcalc.throughput.reference_model import USUAL_YEAR
from costcalc.training import Model, Recipe, Throughput
from costcalc.units import Floats, Indices


class Cell(NamedTuple):
    """What must be equal before one measurement may stand for another."""

    image_size: int
    accelerator: str
    accelerators: int
    nodes: int


class Match(NamedTuple):
    """Images per second of the whole cluster taken for one phase, and the row nearest to it."""

    images_per_second: float
    row: int


class Others:
    """What anybody's code made of a model in a precision, in one machine: the median of each cell, memory sizes put together.

    Floating point of 32 bits counts as TensorFloat-32, which is what frameworks make of it on chips that have it.
    """

    def __init__(self, throughputs: Iterable[Throughput], recipe: Recipe, field: Field) -> None:
        rates: dict[tuple[int, str, int], list[float]] = defaultdict(list)
        for row in throughputs:
            if row.model == recipe.model and row.nodes == 1 and bits(row.precision) == bits(recipe.precision):
                cell = row.image_size, silicon(row.accelerator), row.accelerators
                rates[cell].append(float(np.log(training_rate(row))))
        alone = [(silicon(key[0]), key[1], where) for key, where in field.at.items() if rates and key[2] == 1]
        middle = {cell: median(found) for cell, found in rates.items()}
        self._found = {size: _placed(alone, size, middle) for size in {cell[0] for cell in rates}}

    def distance(self, recipe: Recipe, log_rate: Floats) -> Floats:
        """How far in ln(rate) the recipe's rates lie from those medians, at most over its phases; 0 where there are none."""
        apart = np.zeros(len(log_rate))
        for number, phase in enumerate(recipe.phases):
            if phase.image_size in self._found:
                where, middle = self._found[phase.image_size]
                apart[where] = np.fmax(apart[where], np.abs(log_rate[where, number] - middle))
        return apart


def _placed(
    alone: Sequence[tuple[str, int, list[int]]], size: int, middle: Mapping[tuple[int, str, int], float]
) -> tuple[Indices, Floats]:
    """The clusters of one machine that were measured at this image size, and the medians there."""
    found = [(c, middle[size, chip, n]) for chip, n, where in alone if (size, chip, n) in middle for c in where]
    return np.array([c for c, _ in found], np.int64), np.array([each for _, each in found])


class Measurements:
    """The throughput rows of one model that one recipe's code and precision made, found by cell."""

    def __init__(self, throughputs: Sequence[Throughput], recipe: Recipe) -> None:
        self._rows = throughputs
        self._model, self._precision = recipe.model, recipe.precision
        self._densest: float | None = None
        self.cells: dict[Cell, list[int]] = defaultdict(list)
        for index, row in enumerate(throughputs):
            if _comparable(row, recipe):
                self.cells[Cell(row.image_size, row.accelerator, row.accelerators, row.nodes)].append(index)

    def match(self, recipe: Recipe, cluster: Cluster) -> tuple[Match, ...] | None:
        """One match per phase of the recipe, or None when any phase has no measurement on this cluster."""
        cells = [
            Cell(phase.image_size, cluster.accelerator, cluster.total_accelerators, cluster.nodes)
            for phase in recipe.phases
        ]
        if not cells or any(cell not in self.cells for cell in cells):
            return None
        return tuple(self._middle(self.cells[cell]) for cell in cells)

    def densest(self, model: Model | None, chips: Chips) -> float:
        """`memory.densest` of the recipe's model and precision, by anybody's code."""
        if self._densest is None:
            same = (row for row in self._rows if row.model == self._model)
            self._densest = densest(same, model, self._precision, chips)
        return self._densest

    def nearest(self, field: Field, year: int) -> Indices:
        """For each cluster the row of the most similar system: same accelerator, alike in having one machine or many, then
        the count, then the year (the newest for USUAL_YEAR). Where the accelerator has none, of any; -1 if nobody measured."""

        def timely(row: int) -> tuple[int, int]:
            then = self._rows[row].year
            return then if year == USUAL_YEAR else -abs(then - year), -row

        best = np.full(len(field.clusters), -1, np.int64)
        latest = sorted(self.cells, key=lambda cell: max(map(timely, self.cells[cell])), reverse=True)
        for name, where in field.of_accelerator.items():
            cells = [cell for cell in latest if cell.accelerator == name] or latest
            if cells:
                several = np.array([cell.nodes > 1 for cell in cells])[:, None] != (field.nodes[where] > 1)
                counts = np.log([max(cell.accelerators, 1) for cell in cells])[:, None]
                distance = 100.0 * several + np.abs(counts - np.log(np.maximum(field.total[where], 1)))
                rows = np.array([max(self.cells[cell], key=timely) for cell in cells])
                best[where] = rows[distance.argmin(axis=0)]
        return best

    def _middle(self, rows: Sequence[int]) -> Match:
        real = [row for row in rows if not self._rows[row].is_synthetic]
        rates = {row: training_rate(self._rows[row]) for row in real or rows}
        middle = float(np.exp(np.median(np.log(list(rates.values())))))
        return Match(middle, min(rates, key=lambda row: abs(np.log(rates[row] / middle))))


def _comparable(row: Throughput, recipe: Recipe) -> bool:
    same = row.model == recipe.model and row.stack == recipe.stack
    return same and precision_class(row.precision) == precision_class(recipe.precision)
