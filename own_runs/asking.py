"""The user's own runs as models to ask about: their names, and the targets that they reach."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np
from msgspec import Struct

from costcalc.convergence.curves import monotone
from costcalc.evidence import Evidence, normalised
from costcalc.training import Crossing, Model
from own_runs.evidence import evidence_of
from own_runs.runs import RUN, Run, stored_run
from pricing.store.local_file import OwnRun

NEARLY = 1e-5  # as far as a value may be rounded where it is shown


class OwnModel(Struct, frozen=True, eq=False, dict=True):
    """A run as a model, and what answers about it are made from beside other evidence."""

    run: Run
    beside: Evidence

    @cached_property
    def evidence(self) -> Evidence:
        return evidence_of(self.run, self.beside)

    @property
    def model(self) -> Model:
        return self.evidence.models[self.run.name]

    def values(self, crossing: Crossing) -> tuple[float, ...]:
        """The values that its curve passes by this rule, worst first."""
        sign = -1 if self.run.lower_is_better else 1
        values = np.array([sign * point.value for point in self.run.curve])
        return tuple(dict.fromkeys((sign * monotone(values, crossing)).tolist()))

    def reached(self, crossing: Crossing) -> float:
        """The best value that its curve reaches by this rule."""
        return self.values(crossing)[-1]

    def reaches(self, target: float, crossing: Crossing) -> bool:
        """Whether its curve reaches a target by this rule."""
        reached = self.reached(crossing)
        better = target >= reached if self.run.lower_is_better else target <= reached
        return better or math.isclose(target, reached, rel_tol=NEARLY)


def own_models(rows: Iterable[OwnRun], beside: Evidence) -> Mapping[str, OwnModel]:
    """The runs among stored rows by their `normalised` names. The user's own takes the place of a shared one of that name."""
    runs = sorted((row for row in rows if row.kind == RUN), key=lambda row: row.owner is not None)
    return {normalised(run.name): OwnModel(run, beside) for run in map(stored_run, runs)}
