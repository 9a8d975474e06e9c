"""The accuracy curve of a recipe with the target and the epochs at which it is reached."""

from __future__ import annotations

from api.formats import words
from api.formats.charts.theme import INK, QUIET, STRONG, Json, chart, nothing
from api.reports.cost import EstimateReport
from costcalc.answers import Estimate
from costcalc.training import Recipe

ROOM = 0.05


def spec(report: EstimateReport) -> Json:
    """The picture of an estimate's curve."""
    estimate, recipe = report.estimate, report.recipe
    if estimate is None or recipe is None:
        return nothing()
    return chart(
        f"{recipe.name}: {words.measure(estimate.metric)} by epoch",
        _note(recipe),
        layer=_layers(estimate, recipe),
    )


def _note(recipe: Recipe) -> str:
    return f"{len(recipe.evaluations)} points, {recipe.organisation}, {recipe.year}"


def _layers(estimate: Estimate, recipe: Recipe) -> list[Json]:
    metric = estimate.metric
    points = [(each.epochs, each.in_metric(metric)) for each in recipe.evaluations]
    known = [{"epochs": epochs, "accuracy": accuracy} for epochs, accuracy in points if accuracy is not None]
    lowest = min([estimate.target, *(row["accuracy"] for row in known)])
    x: Json = {"field": "epochs", "type": "quantitative", "title": "epochs", "scale": {"domainMin": 0, "nice": False}}
    y: Json = {"field": "accuracy", "type": "quantitative", "title": words.measure(estimate.metric),
               "scale": {"domainMin": max(lowest - ROOM, min(lowest, 0))}}  # fmt: skip
    tooltip = [{"field": "epochs"}, {"field": "accuracy"}]
    return [
        {"data": {"values": known}, "mark": {"type": "line", "color": QUIET, "point": {"color": STRONG, "size": 30}},
         "encoding": {"x": x, "y": y, "tooltip": tooltip}},
        {"data": {"values": [{"accuracy": estimate.target, "words": f"target {estimate.target:g}"}]},
         "layer": [{"mark": {"type": "rule", "color": INK, "strokeDash": [4, 3]}, "encoding": {"y": y}},
                   {"mark": {"type": "text", "align": "left", "baseline": "bottom", "x": 4, "dy": -3, "color": INK},
                    "encoding": {"y": y, "text": {"field": "words"}}}]},
        {"data": {"values": [{"epochs": estimate.epochs, "accuracy": estimate.target, "words": f"{estimate.epochs:.4g} epochs"}]},
         "layer": [{"mark": {"type": "rule", "color": INK, "strokeDash": [4, 3]}, "encoding": {"x": x}},
                   {"mark": {"type": "point", "filled": True, "color": INK, "size": 70, "opacity": 1},
                    "encoding": {"x": x, "y": y}},
                   {"mark": {"type": "text", "align": "right", "dx": -7, "y": {"expr": "height - 10"}, "color": INK},
                    "encoding": {"x": x, "text": {"field": "words"}}}]},
    ]  # fmt: skip
