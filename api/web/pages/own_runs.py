"""`/recipes` as a page: the user's own runs with their curves and machines, and the speeds that were measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from flask import render_template

from api.reports.own_runs import OwnRecipe, OwnRecipesReport, TriedRun, own_recipe
from own_runs.runs import CurvePoint

FACTS = {"accelerator": "ran on, as 4xA100-80GB", "dataset": "data set", "metric": "metric", "batch_size": "batch, all together",
         "samples_per_epoch": "samples of the data set", "hours": "hours of the log", "steps_are": "steps are epochs or batches",
         "better": "better: lower or higher", "model": "network", "name": "name"}  # fmt: skip
"""What a form asks of a log, in this order."""
EXAMPLE = "epoch,minutes,val_accuracy\n" + "".join(
    f"{epoch},{epoch * 12},{0.76 * (1 - 0.6**epoch):.4f}\n" for epoch in range(1, 9)
)
WIDE, HIGH, MOST_POINTS = 200, 48, 100


class Shown(NamedTuple):
    """A run, its curve as the points of an SVG line, and whether the user may remove it."""

    run: OwnRecipe
    line: str
    is_own: bool


class Sent(NamedTuple):
    """A log that was pasted, what was said of it, and how it was read, or what is missing."""

    given: Mapping[str, Sequence[str]]
    log: str
    tried: TriedRun | None = None
    errors: Mapping[str, Sequence[str]] | None = None

    @property
    def line(self) -> str:
        return _line(self.tried.curve) if self.tried else ""

    @property
    def ends(self) -> tuple[float, float]:
        values = [point.value for point in self.tried.curve] if self.tried else [0.0]
        return min(values), max(values)


def own_runs_page(report: OwnRecipesReport, owner: str | None, may_remove: bool, sent: Sent | None = None) -> str:
    """The page of what this owner sees, with a log that was just sent."""
    return render_template(
        "own_runs.html",
        sent=sent or Sent({}, EXAMPLE),
        facts=FACTS,
        runs=[Shown(own_recipe(own), _line(own.run.curve), own.row.owner == owner) for own in report.runs],
        speeds=report.document().speeds,
        may_remove=may_remove,
        size=(WIDE, HIGH),
    )


def _line(curve: tuple[CurvePoint, ...]) -> str:
    """At most so many points of a curve, stretched over the drawing."""
    points = curve[:: -(-len(curve) // MOST_POINTS)]
    epochs, values = [point.epochs for point in points], [point.value for point in points]
    wide, high = max(epochs) or 1, (max(values) - min(values)) or 1
    return " ".join(
        f"{WIDE * point.epochs / wide:.1f},{HIGH - HIGH * (point.value - min(values)) / high:.1f}" for point in points
    )
