"""Networks by the computing that an accuracy takes with each, for questions that name none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from costcalc.convergence.eligibility import ModelRecipes, eligible_recipes
from costcalc.duration.ways import USUAL_WAY
from costcalc.evidence import Evidence
from costcalc.hardware import Cluster
from costcalc.memory import Few
from costcalc.query import EstimateQuery
from costcalc.units import Floats

REFERENCE = Cluster("A100-80GB", 1)
"""The computing is counted in hours of it: most recipes have a measured speed on it, or on a near relative."""
TARGETS_KEPT, NAMES_BYTES = 200, 3000


class Networks(Struct, frozen=True, eq=False):
    """By name the recipes of every network that somebody trained, and the seconds that an epoch of each takes on the reference
    [R]; infinite where it doesn't run there."""

    recipes: Mapping[str, ModelRecipes]
    seconds_per_epoch: Mapping[str, Floats]
    _ordered: Few[EstimateQuery, tuple[str, ...]] = field(default_factory=lambda: Few(TARGETS_KEPT, NAMES_BYTES))
    about_bytes: ClassVar = 2_000_000 + TARGETS_KEPT * NAMES_BYTES

    @classmethod
    def of(cls, evidence: Evidence) -> Networks:
        """The networks on ImageNet. Takes half a second."""
        recipes, seconds, length = dict[str, ModelRecipes](), dict[str, Floats](), evidence.fitted.widths["length"].ln
        for name in sorted({recipe.model for recipe in evidence.recipes}):
            ran = tuple(USUAL_WAY.run(evidence.with_curve(recipe)) for recipe in evidence.recipes_of(name))
            speeds = evidence.speed_model.speeds(ran, (REFERENCE,), evidence.recipes_of_larger(name))
            phases = speeds.seconds_per_epoch[:, 0]
            mean = np.nansum(phases, axis=1) / np.fmax(np.isfinite(phases).sum(axis=1), 1)
            recipes[name] = ModelRecipes(ran, length)
            seconds[name] = np.where(speeds.refusal[:, 0] != 0, np.inf, mean)
        return cls(recipes, seconds)

    def by_computing(self, query: EstimateQuery) -> tuple[str, ...]:
        """The names of those that reach the query's target with its confidence, whatever its model: the one that takes the
        least computing first."""
        return self._ordered.recall(query, self._by_computing, query)

    def _by_computing(self, query: EstimateQuery) -> tuple[str, ...]:
        hours = {}
        for name, recipes in self.recipes.items():
            eligible = eligible_recipes(recipes, replace(query, model=name))
            each = eligible.to_target.epochs * self.seconds_per_epoch[name]
            hours[name] = float(np.nanmin(np.where(eligible.eligible, each, np.inf), initial=np.inf))
        return tuple(sorted((name for name, each in hours.items() if each < np.inf), key=hours.__getitem__))
