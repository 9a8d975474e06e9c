"""The recipes of one model as columns: their curves, ends and seed noise, which depend on no machine and no target."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from costcalc.convergence.curves import Curves
from costcalc.training import Metric, Recipe
from costcalc.units import Flags, Floats, Indices

SEED_SIGMA = {Metric.TOP1: 0.0011, Metric.TOP5: 0.0007}
"""Standard deviation of end accuracy from run to run, on the one recipe whose many seeds were published (MLPerf LARS:
410 runs of 83 systems); top-5 by the ratio of the two metrics' scatter on plateaus. Double it for any other recipe."""
INTERPOLATION_SIGMA = {Metric.TOP1: 0.0009, Metric.TOP5: 0.0009}
"""Standard error of the end accuracy of a schedule between measured lengths, left out one at a time (FFCV ResNet-18)."""


@dataclass(frozen=True, eq=False)
class ModelRecipes:
    """One model's R recipes; every column is an array [R] in their order.

    `interpolated_length_width` is the half-width in ln(epochs), at 80 %, of the length of an interpolated schedule.
    """

    recipes: tuple[Recipe, ...]
    interpolated_length_width: float

    @cached_property
    def curves(self) -> dict[Metric, Curves]:
        """The recipes' accuracy curves by metric."""
        return {metric: Curves(self.recipes, metric) for metric in Metric}

    @cached_property
    def is_interpolated(self) -> Flags:
        """Schedules that nobody ran."""
        return np.array([recipe.is_interpolated for recipe in self.recipes], bool)

    @cached_property
    def published_runs(self) -> Floats:
        """How many runs each recipe's end accuracy rests on."""
        return np.array([recipe.runs for recipe in self.recipes], float)

    @cached_property
    def years(self) -> Indices:
        """The year of each recipe."""
        return np.array([recipe.year for recipe in self.recipes], np.int64)

    @cached_property
    def tuned_to(self) -> Floats:
        """The top-1 accuracy at which each recipe's runs stop, NaN where they end with their schedule."""
        return np.array([recipe.tuned_to or np.nan for recipe in self.recipes], float)

    @cached_property
    def is_mlperf(self) -> Flags:
        """Recipes whose runs stop at a target of MLPerf's."""
        return ~np.isnan(self.tuned_to)

    @cached_property
    def mean_top1(self) -> Floats:
        """The mean end accuracy over all published runs, NaN where only one run's curve is known."""
        return np.array([np.nan if recipe.mean_top1 is None else recipe.mean_top1 for recipe in self.recipes], float)

    @cached_property
    def sigma(self) -> dict[Metric, Floats]:
        """Standard deviation of each recipe's end accuracy from run to run, by metric; doubled where it was never measured."""
        factor = np.where(self.is_mlperf, 1.0, 2.0)
        return {m: np.hypot(factor * SEED_SIGMA[m], self.is_interpolated * INTERPOLATION_SIGMA[m]) for m in Metric}

    @cached_property
    def length_width(self) -> Floats:
        """Half-width in ln(epochs), at 80 %, of the length of each schedule; 0 for one that somebody ran."""
        return np.where(self.is_interpolated, self.interpolated_length_width, 0.0)
