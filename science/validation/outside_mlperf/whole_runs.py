"""Whole runs of a framework that no recipe comes from: their epochs by others' recipes of the same network, their hours with
the speeds that a code known with another network promises."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from msgspec.structs import replace

from costcalc.convergence.curves import Curves
from costcalc.recipes import Recipe
from costcalc.training import Crossing, Metric
from science.validation.published import Published, WholeRun
from science.validation.scores import Case


def epochs_by_other_recipes(published: Published) -> list[Case]:
    """The median of the epochs after which other organisations' recipes of the network reach the accuracy a run ended at.

    The baseline is the same median over the recipes of all other networks. Runs that no such recipe reaches are missing.
    """
    groups = published.groups["whole_runs"]
    return [
        Case(run.run, groups[run.run], needed - math.log(run.epochs), usual - math.log(run.epochs))
        for run in published.unseen_runs
        if (needed := _needed(_others(published, run, same=True), run)) is not None
        and (usual := _needed(_others(published, run, same=False), run)) is not None
    ]


def hours(published: Published, epochs: Iterable[Case], speeds: Iterable[Case]) -> list[Case]:
    """The hours of those runs whose rate is known, from the errors of their epochs and of their speeds."""
    by_run, by_rate = ({case.name: case for case in cases} for cases in (epochs, speeds))
    return [
        replace(
            by_run[run.run],
            error=by_run[run.run].error + speed.error,
            baseline_error=by_run[run.run].baseline_error + speed.baseline_error,
        )
        for run in published.unseen_runs
        if run.run in by_run and (speed := by_rate.get(run.throughput or ""))
    ]


def _others(published: Published, run: WholeRun, *, same: bool) -> list[Recipe]:
    recipes = published.evidence.recipes
    return [one for one in recipes if (one.model == run.model) == same and one.organisation != run.organisation]


def _needed(recipes: Sequence[Recipe], run: WholeRun) -> float | None:
    """ln of the median epochs of those recipes that reach the run's accuracy; None where none does."""
    epochs = Curves(recipes, Metric.TOP1).epochs_to(run.top1, Crossing.ISOTONIC).epochs
    reached = epochs[~np.isnan(epochs)]
    return math.log(float(np.median(reached))) if len(reached) else None
