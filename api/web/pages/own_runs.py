"""`/recipes` as a page: one's own runs with their curves and machines, and the speeds that were measured."""

from __future__ import annotations

from typing import NamedTuple

from flask import render_template

from api.formats import words
from api.reports.own_runs import OwnRecipe, OwnRecipesReport, own_recipe
from costcalc.assumptions import in_words
from own_runs.runs import RUN, CurvePoint, stored_run
from pricing.store.local_file import OwnRun

WIDE, HIGH, MOST_POINTS = 200, 48, 100


class Shown(NamedTuple):
    """A run, its curve as the points of an SVG line, and whether the asker may remove it."""

    run: OwnRecipe
    line: str
    is_own: bool


def own_runs_page(report: OwnRecipesReport, owner: str | None, may_remove: bool) -> str:
    """The page of what this owner sees."""
    return render_template(
        "own_runs.html",
        runs=[_shown(row, owner) for row in reversed(report.rows) if row.kind == RUN],
        speeds=report.document().speeds,
        may_remove=may_remove,
        size=(WIDE, HIGH),
        words=words,
        in_words=in_words,
    )


def _shown(row: OwnRun, owner: str | None) -> Shown:
    return Shown(own_recipe(row), _line(stored_run(row).curve), row.owner == owner)


def _line(curve: tuple[CurvePoint, ...]) -> str:
    """At most so many points of a curve, stretched over the drawing."""
    points = curve[:: -(-len(curve) // MOST_POINTS)]
    epochs, values = [point.epochs for point in points], [point.value for point in points]
    wide, high = max(epochs) or 1, (max(values) - min(values)) or 1
    return " ".join(
        f"{WIDE * point.epochs / wide:.1f},{HIGH - HIGH * (point.value - min(values)) / high:.1f}" for point in points
    )
