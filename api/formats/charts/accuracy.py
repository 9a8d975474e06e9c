"""Accuracy against money: the least cost of each accuracy, with the recipe that reaches it for that."""

from __future__ import annotations

from api.formats import words
from api.formats.charts.frame import Axis
from api.formats.charts.theme import MONEY, QUIET, Json, chart, nothing, told_apart
from api.reports.accuracy import AccuracyReport


def spec(report: AccuracyReport) -> Json:
    """The picture of a model's accuracies."""
    ladder, query = report.ladder(), report.query
    if not ladder:
        return nothing("No estimate reaches any accuracy.")
    rows: list[Json] = [
        {"accuracy": each.target, "cost": float(each.cost(query.basis).cost), "hours": round(each.hours, 2),
         "recipe": each.recipe, "machine": words.machine(each)}
        for each in ladder
    ]  # fmt: skip
    costs = [row["cost"] for row in rows]
    scale, ticks = ("log", Axis.around(costs).amounts(query.currency)) if min(costs) > 0 else ("linear", [])
    axis = {**MONEY, "values": [tick.value for tick in ticks]} if ticks else MONEY
    x: Json = {
        "field": "accuracy",
        "type": "quantitative",
        "scale": {"zero": False},
        "title": words.measure(query.metric),
    }
    y: Json = {"field": "cost", "type": "quantitative", "scale": {"type": scale, "nice": False, "padding": 10},
               "title": query.currency, "axis": axis}  # fmt: skip
    colour, shape = told_apart("recipe", (row["recipe"] for row in rows))
    told = [{"field": name} for name in rows[0]]
    return chart(
        f"{query.model}: the least cost of each accuracy",
        "each point is the cheapest estimate that reaches it",
        data={"values": rows},
        layer=[
            {"mark": {"type": "line", "interpolate": "step-before", "color": QUIET}, "encoding": {"x": x, "y": y}},
            {"mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
             "encoding": {"x": x, "y": y, "color": colour, "shape": shape, "tooltip": told}},
        ],
    )  # fmt: skip
