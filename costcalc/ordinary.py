"""The script that most people train with on the chips of a vendor, beside whatever else an answer names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from costcalc.answers import Missed
from costcalc.catalogue.catalogue import Catalogue
from costcalc.convergence.eligibility import EligibleRecipes
from costcalc.costing.candidates import Candidates, within_limits
from costcalc.costing.rentals import AllowedOffers, Risks, costs, rentals
from costcalc.costing.storage_and_egress import Market
from costcalc.duration.running import NO
from costcalc.duration.training_matrix import TrainingMatrix
from costcalc.duration.training_times import Course, TrainingTimes, training_times
from costcalc.programs import UsualScript
from costcalc.query import EstimateQuery
from costcalc.training import Recipe
from costcalc.units import Flags, Indices

WORTH_TELLING = 0.05
"""The chance of reaching the target below which nobody expects it of a script."""


def ordinary_groups(recipes: Sequence[Recipe], usual: UsualScript | None) -> tuple[Flags, ...]:
    """Ordinary recipes in groups, of which the first that reaches the target has the one to name: those of the script that people
    begin with, those of the usual ones, those of their framework, all."""
    ordinary = np.array([one.kind == "ordinary" for one in recipes], bool)
    if usual is None:
        return np.zeros_like(ordinary), ordinary
    patterns = usual.recipes.split()
    alike = [one.framework_family == usual.framework_family for one in recipes]
    named = ([one.is_named(some) for one in recipes] for some in (patterns[:1], patterns))
    return *(ordinary & np.array(each, bool) for each in (*named, alike)), ordinary


@dataclass(frozen=True, eq=False)
class OrdinaryScript:
    """The ordinary script for one offer, `row` [1] of the catalogue, on one cluster [1] of the matrix; `groups` are those of
    `ordinary_groups`, `eligible` the recipes that reach the target, whatever their care, and `course` how long these run."""

    query: EstimateQuery
    catalogue: Catalogue
    matrix: TrainingMatrix
    row: Indices
    cluster: Indices
    groups: tuple[Flags, ...]
    eligible: EligibleRecipes
    course: Course

    def found(self, market: Market, risks: Risks) -> tuple[TrainingTimes, Candidates] | None:
        """What it takes; None where none that runs there reaches the target."""
        for group in self.groups:
            usable = self.eligible.usable & group
            if not usable.any():
                continue
            times, candidates = self._of(replace(self.eligible, eligible=usable), market, risks)
            runs = self.matrix.runs.at(times.recipe[candidates.time], times.cluster[candidates.time])
            if len(runs) and runs[0] != NO:
                return times, candidates
        return None

    @property
    def missed(self) -> Missed | None:
        """The script that people begin with, where it reaches the target in fewer runs than the question wants."""
        begins = np.flatnonzero(self.groups[0])
        if not len(begins):
            return None
        best = int(begins[self.eligible.success_probability[begins].argmax()])
        chance = float(self.eligible.success_probability[best])
        name = self.matrix.recipes.recipes[best].name
        return Missed(name, chance) if WORTH_TELLING <= chance < self.query.confidence else None

    def _of(self, eligible: EligibleRecipes, market: Market, risks: Risks) -> tuple[TrainingTimes, Candidates]:
        query = replace(self.query, recipes="best", max_hours=None, max_cost=None)
        clusters = np.bincount(self.cluster, minlength=len(self.matrix.clusters)).astype(bool)
        times = training_times(self.course, query, eligible, clusters)
        offers = AllowedOffers(self.row, self.cluster, clusters, {}, self.row)
        times, rented = rentals(self.catalogue, self.matrix, offers, times, query, risks)
        rentable, free, _ = within_limits(query, rented, costs(self.catalogue, query, rented, market))
        return times, rentable if len(rentable.row) else free
