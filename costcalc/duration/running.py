"""Where the published programs of recipes run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from costcalc.hardware import Accelerator, Cluster
from costcalc.programs import ProgramSupport, UsualScript
from costcalc.recipes import Recipe, StatedRecipe
from costcalc.units import Flags, Floats, Indices

UNKNOWN, NO, YES = -1, 0, 1
ANSWERS = {None: UNKNOWN, False: NO, True: YES}
OTHER_FRAMEWORK = 2  # steps from what most people run
LAST_RESORT = 1e6  # how many times as long code counts that does not run: any other goes before it


class Runs(NamedTuple):
    """Whether published code of R recipes runs on the accelerators of C clusters: YES, NO or UNKNOWN in `answers`, a row for each
    program and a column for each accelerator; `program` [R] and `accelerator` [C] are the row and the column of each. `logged_on`
    [R] is the column of the accelerator on which a recipe was logged, -1 for any other. Whether a training of stated hours fits
    clusters that are `too_small` [C] nobody knows; None where none is stated."""

    answers: NDArray[np.int8]
    program: Indices
    accelerator: Indices
    logged_on: Indices
    too_small: Flags | None = None

    @classmethod
    def of(
        cls,
        support: ProgramSupport,
        recipes: Sequence[Recipe],
        clusters: Sequence[Cluster],
        sheets: Mapping[str, Accelerator],
    ) -> Runs:
        """The answers for these recipes on these clusters, of whose accelerators these are the data sheets."""
        programs = list(dict.fromkeys(map(_program, recipes)))
        accelerators = [cluster.accelerator for cluster in clusters]
        names = list(dict.fromkeys(accelerators))
        known = [support.runs(*program, name) if program else None for program in programs for name in names]
        answers = np.array([ANSWERS[answer] for answer in known], np.int8).reshape(len(programs), len(names))
        answers[[program == OWN for program in programs]] = YES
        rows, columns = ({value: number for number, value in enumerate(every)} for every in (programs, names))
        return cls(
            answers,
            np.array([rows[_program(recipe)] for recipe in recipes], np.int64),
            np.array([columns[name] for name in accelerators], np.int64),
            np.array([columns.get(recipe.home.accelerator, -1) for recipe in recipes], np.int64),
            _too_small(recipes, clusters, sheets),
        )

    def at(self, recipes: Indices, clusters: Indices) -> NDArray[np.int8]:
        """The answers for pairs of a recipe and a cluster."""
        answers = self.answers[self.program.take(recipes), self.accelerator.take(clusters)]
        return answers if self.too_small is None else np.where(self.too_small.take(clusters), UNKNOWN, answers)

    def were_logged(self, recipes: Indices, clusters: Indices) -> Flags:
        """Which pairs are of a recipe and the accelerator on which it was logged."""
        return np.asarray(self.logged_on.take(recipes) == self.accelerator.take(clusters))

    def last_resorts(self, recipes: Indices, clusters: Indices) -> Floats:
        """How many times as long each of these recipes counts on each of these clusters [r, c]: many where it is known not to
        run."""
        program, accelerator = self.program.take(recipes), self.accelerator.take(clusters)
        return np.where(self.answers == NO, LAST_RESORT, 1.0).take(program, axis=0).take(accelerator, axis=1)


def _too_small(
    recipes: Sequence[Recipe], clusters: Sequence[Cluster], accelerators: Mapping[str, Accelerator]
) -> Flags | None:
    """Which clusters have less memory, each accelerator or all together, than where a training of stated hours ran, or than the
    largest where none has as much; None where none is stated."""
    home = next((recipe.ran_on for recipe in recipes if isinstance(recipe, StatedRecipe)), None)
    if home is None:
        return None
    gib = {name: accelerator.memory_gib or 0 for name, accelerator in accelerators.items()}
    each = np.array([gib.get(cluster.accelerator, 0) for cluster in clusters])
    total = each * [cluster.total_accelerators for cluster in clusters]
    needed = gib.get(home.accelerator, 0)
    most = total[each >= needed].max(initial=0)
    return np.asarray((each < needed) | (total < min(most, needed * home.total_accelerators)))


class Usual(NamedTuple):
    """How far R recipes are from what most people run on the accelerators of C clusters: in `steps` [R, V], for each vendor with
    a usual script, 0 for that and those like it, 1 for others of its framework, 2 for other code. `vendor` [C] is the column of
    each cluster, that of the last, all 0, where nobody knows what is usual."""

    steps: NDArray[np.int8]
    vendor: Indices

    @classmethod
    def of(cls, scripts: Sequence[UsualScript], recipes: Sequence[Recipe], vendors: Sequence[str]) -> Usual:
        """The steps of these recipes on clusters of these vendors' chips."""
        steps = [
            [0 if recipe.is_own else script.steps_to(recipe.name, recipe.framework_family) for script in scripts]
            for recipe in recipes
        ]
        known = {script.vendor: number for number, script in enumerate(scripts)}
        return cls(
            np.array([[*row, 0] for row in steps], np.int8).reshape(len(recipes), len(scripts) + 1),
            np.array([known.get(vendor, len(scripts)) for vendor in vendors], np.int64),
        )

    def between(self, recipes: Indices, clusters: Indices) -> NDArray[np.int8]:
        """The steps of each of these recipes on each of these clusters [r, c]."""
        return self.steps[np.ix_(recipes, self.vendor[clusters])]


OWN = ("own", "own")


def _program(recipe: Recipe) -> tuple[str, str] | None:
    """What decides where a recipe runs; None where its code is not published."""
    if recipe.is_own:
        return OWN
    return (recipe.stack, recipe.framework_family) if recipe.is_public else None
