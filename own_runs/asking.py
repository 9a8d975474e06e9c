"""The user's own runs as models to ask about: their names, and the targets that they reach."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from costcalc.convergence.curves import monotone
from costcalc.evidence import Evidence, normalised
from costcalc.training import Crossing, Model
from own_runs.evidence import evidence_of
from own_runs.runs import RUN, Run, stored_run
from pricing.store.local_file import OwnRun

Sharer = Callable[[OwnRun], str | None]
NEARLY = 1e-5  # as far as a value may be rounded where it is shown


class OwnModel(Struct, frozen=True, eq=False, dict=True):
    """A stored run as a model, and what answers about it are made from beside other evidence.

    The name of its `run` is what questions call it; `row` has the one that it was given. `shared_by` says whose it is; None where
    it is the asker's own.
    """

    row: OwnRun
    run: Run
    beside: Evidence
    shared_by: str | None = None

    @property
    def given_name(self) -> str:
        return stored_run(self.row).name

    @cached_property
    def evidence(self) -> Evidence:
        return evidence_of(self.run, self.beside, self.shared_by)

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


def own_models(
    rows: Iterable[OwnRun], beside: Evidence, sharer: Sharer, is_built_in: Callable[[str], bool]
) -> Mapping[str, OwnModel]:
    """The runs among stored rows by the `normalised` names that questions call them by.

    The asker's own keep theirs. A name that is built in, or that several others share runs under, means none of these: each is
    called by its id.
    """
    runs = [(sharer(row), row, stored_run(row)) for row in rows if row.kind == RUN]
    of_others = Counter(normalised(run.name) for shared_by, _, run in runs if shared_by)
    models: dict[str, OwnModel] = {}
    for shared_by, row, run in sorted(runs, key=lambda each: each[0] is not None):
        is_clear = not shared_by or of_others[normalised(run.name)] == 1
        names = [*([run.name] if is_clear else []), row.id, f"run-{row.id}"]
        free = (name for name in names if normalised(name) not in models and not is_built_in(name))
        if name := next(free, None):
            models[normalised(name)] = OwnModel(row, replace(run, name=name), beside, shared_by)
    return models
