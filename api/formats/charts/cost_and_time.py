"""Cost against time as a Vega-Lite specification: every estimate a point with its range, and the frontier drawn through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from api.formats import words
from api.formats.charts.frame import MOST_COLOURS, REST, SHAPES, Axis, Frame
from api.formats.charts.theme import INK, MONEY, PALETTE, QUIET, Json, chart, nothing
from api.reports.cost import CostReport, Point
from costcalc.answers import Answer
from costcalc.assumptions import in_words

CLOCK = (
    "datum.value < 1 ? format(datum.value * 60, '.2~r') + ' min' : datum.value < 24 ? format(datum.value, '.2~r') + ' h' : "
    "format(datum.value / 24, '.2~r') + ' d'"
)

ZOOM = {"name": "zoom", "select": {"type": "interval", "zoom": "wheel![event.ctrlKey]"}, "bind": "scales"}
MOST_DRAWN = 3000  # a library that draws half a million needs more memory than it has
TOLD = ("machine", "bought", "time", "price", "rank")


def spec(report: CostReport) -> Json:
    """The picture of a question's estimates; words in its place where there are none."""
    answer, points = report.answer, report.glance.points
    query, front, may = answer.query, points.figures.on_frontier, np.flatnonzero(points.figures.pickable)
    one_in = 1 + len(may) // MOST_DRAWN
    drawn = points.at(may[front[may] | (np.arange(len(may)) % one_in == 0)])
    left_out = f"; one in {one_in:,} of the others is drawn" if one_in > 1 else ""
    if not len(points):
        return nothing()
    return chart(
        f"{query.model} to {query.target:g} {words.metric(query.metric)}: cost against time",
        f"{front.sum():,} of {len(may):,} to pick from are on the frontier{left_out}; prices of {answer.prices.as_of:%Y-%m-%d}",
        **_layers(answer, Frame.of(points, [each.calendar_hours for each in answer.free]), drawn),
    )


def _layers(answer: Answer, frame: Frame, points: Iterable[Point]) -> Json:
    """Everything that is drawn between the axes. What is free or costs far more than the frontier stands at an end."""
    query = answer.query
    share = "share of use" if query.basis == "effective" else "to pay"
    x, y = (
        _axis("hours", "time on the calendar", frame.hours),
        _axis("cost", f"{query.currency} {share}", _with_room(frame.cost, len(answer.free))),
    )
    x["axis"] = {"values": [tick.value for tick in frame.hours.times()], "labelExpr": CLOCK, "labelOverlap": True}
    every: Json = {"values": [_row(frame, point) for point in points]}
    front = {"filter": "datum.frontier"}
    stress = {"condition": {"test": "datum.frontier", "value": 1}, "value": 0.4}
    hidden = {"condition": {"test": "datum.frontier", "value": 0.6}, "value": 0.12}
    rule = {"type": "rule", "color": QUIET, "opacity": 1, "aria": False}  # its point tells a screen reader the range
    return {
        "data": every,
        "layer": [
            {"mark": rule, "encoding": {"x": _end(x, "low"), "x2": {"field": "hours_high"}, "y": y, "strokeOpacity": hidden}},
            {"mark": rule, "encoding": {"x": x, "y": _end(y, "low"), "y2": {"field": "cost_high"}, "strokeOpacity": hidden}},
            {"transform": [front], "mark": {"type": "line", "interpolate": "step-after", "color": INK, "strokeWidth": 1.5},
             "encoding": {"x": x, "y": y, "order": {"field": "hours"}}},
            {"mark": {"type": "point", "filled": True, "size": 42, "opacity": 1},
             "params": [ZOOM], "encoding": {"x": x, "y": y, "color": _colour(frame), "shape": _shape(), "fillOpacity": stress,
                          "tooltip": [{"field": name} for name in TOLD]}},
            *_free(answer, x),
            {"data": {"values": _named(answer)}, "encoding": {"x": x, "y": y, "text": {"field": "name"}},
             "mark": {"type": "text", "align": "left", "dx": 7, "dy": -7, "color": INK, "fontSize": 11}},
        ],
    }  # fmt: skip


def _with_room(cost: Axis, free: int) -> Axis:
    """The axis with room below it for what is free."""
    return Axis(cost.low * (cost.low / cost.high) ** (0.05 * free), cost.high)


def _free(answer: Answer, x: Json) -> Iterator[Json]:
    """What is free stands below all costs, at the time at which it ends on the calendar."""
    for place, each in enumerate(answer.free):
        told = f"{words.machine(each)}, free: {in_words(each.calendar_hours)}"
        below = {"expr": f"height - {8 + 13 * place}"}
        yield {
            "data": {"values": [{"hours": each.calendar_hours, "words": told}]},
            "encoding": {"x": x},
            "layer": [
                {"mark": {"type": "point", "color": QUIET, "strokeWidth": 2, "size": 40, "y": below, "opacity": 1}},
                {
                    "mark": {"type": "text", "align": "left", "dx": 8, "color": QUIET, "y": below, "fontSize": 10},
                    "encoding": {"text": {"field": "words"}},
                },
            ],
        }


def _axis(name: str, title: str, axis: Axis) -> Json:
    scale = {"type": "log", "nice": False, "domain": [axis.low, axis.high], "clamp": True}
    return {
        "field": name,
        "type": "quantitative",
        "title": title,
        "scale": scale,
        "axis": MONEY,
    }


def _end(channel: Json, end: str) -> Json:
    return {**channel, "field": f"{channel['field']}_{end}"}


def _colour(frame: Frame) -> Json:
    names = [*frame.providers, REST]
    colours = [*PALETTE[: len(frame.providers)], PALETTE[MOST_COLOURS]]
    return {"field": "colour", "type": "nominal", "title": None, "scale": {"domain": names, "range": colours}}


def _shape() -> Json:
    drawn = ["circle" if shape == "stroke" else shape for shape in SHAPES.values()]
    return {"field": "bought", "type": "nominal", "legend": None,
            "scale": {"domain": [name.replace("_", " ") for name in SHAPES], "range": drawn}}  # fmt: skip


def _row(frame: Frame, point: Point) -> Json:
    lowest = frame.cost.low
    nodes = f"{point.nodes} × " if point.nodes > 1 else ""
    return {
        "rank": point.rank, "hours": point.hours, "hours_low": point.hours_low, "hours_high": point.hours_high,
        "cost": max(point.cost, lowest), "cost_low": max(point.cost_low, lowest), "cost_high": max(point.cost_high, lowest),
        "frontier": point.frontier, "bought": point.purchase_option.replace("_", " "), "colour": frame.name(point.provider),
        "machine": f"{point.provider} {nodes}{point.instance_type}, {point.accelerators} × {point.accelerator}, {point.region}",
        "time": f"{words.hours(point.hours)} h ({words.hours(point.hours_low)} to {words.hours(point.hours_high)})",
        "price": f"{point.cost:,.2f} ({point.cost_low:,.2f} to {point.cost_high:,.2f})",
    }  # fmt: skip


def _named(answer: Answer) -> list[Json]:
    """The picks by name; those of one estimate share it."""
    named: dict[int, Json] = {}
    for pick in answer.picks:
        cost = float(pick.estimate.cost(answer.query.basis).cost)
        if cost:
            row = named.setdefault(
                pick.estimate.rank, {"hours": pick.estimate.calendar_hours, "cost": cost, "name": ""}
            )
            row["name"] = ", ".join(filter(None, [row["name"], pick.name]))
    return list(named.values())
