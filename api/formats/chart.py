"""Cost against time as a picture: the frontier in front of everything else, drawn here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from api.formats import words
from api.questions.errors import Refused
from api.questions.schemas import Layout
from api.reports.cost import CostReport
from costcalc.answers import Answer, Estimate
from costcalc.query import EstimateQuery

VEGA_LITE = "5.21"
NO_CHARTS = "this server draws no pictures: it needs the package vl-convert-python, run: pip install 'costcalc[charts]'"
LEAST_COST = 0.01  # what is free still has a place on a logarithmic axis
WIDTH, HEIGHT = 640, 360
NAMED = ("cheapest", "fastest", "balanced")
INK, QUIET, STRESS = "#1d1c1d", "#b8b8c0", "#1264a3"

Json = dict[str, Any]

NOTHING: Json = {"data": {"values": [{}]}, "mark": {"type": "text", "text": "No estimate answers this question."}}


def png(report: CostReport, _: Layout) -> bytes:
    """The picture for places that show no SVG."""
    return draw(spec(report.frontier(), report.best()), "png")


def svg(report: CostReport, _: Layout) -> bytes:
    """The same, sharp at any size."""
    return draw(spec(report.frontier(), report.best()), "svg")


def spec(front: Answer, behind: Iterable[Estimate]) -> Json:
    """Vega-Lite: grey dots for all estimates, a line with ranges for those that nothing beats on both cost and time; words in
    their place where there is none."""
    query = front.query
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": {"text": f"{query.model} to {query.target:g} {query.metric.value}: cost against time", "anchor": "start",
                  "subtitle": f"{front.count} on the frontier, in grey the next best; prices of {front.prices.as_of:%Y-%m-%d}"},
        "width": WIDTH, "height": HEIGHT, "background": "white",
        "config": {"font": "sans-serif", "view": {"stroke": None}, "axis": {"gridColor": "#eeeeee", "labelColor": INK}},
        **(_layers(front, behind) if front.estimates else NOTHING),
    }  # fmt: skip


def _layers(front: Answer, behind: Iterable[Estimate]) -> Json:
    """Everything that is drawn between the axes."""
    query = front.query
    cost = "share of use" if query.basis == "effective" else "to pay"
    x = _axis("hours", "hours on the calendar, 80 % range")
    y = _axis("cost", f"{query.currency} {cost}, 80 % range")
    points: Json = {"values": [_point(each, query) for each in front.estimates]}
    return {
        "layer": [
            {"data": {"values": [_point(each, query) for each in behind]},
             "mark": {"type": "circle", "color": QUIET, "size": 24, "opacity": 0.6}, "encoding": {"x": x, "y": y}},
            {"data": points, "mark": {"type": "line", "interpolate": "step-after", "color": STRESS, "strokeWidth": 1},
             "encoding": {"x": x, "y": y, "order": {"field": "hours"}}},
            {"data": points, "mark": {"type": "rule", "color": STRESS, "opacity": 0.35},
             "encoding": {"x": _low(x), "x2": {"field": "hours_high"}, "y": y}},
            {"data": points, "mark": {"type": "rule", "color": STRESS, "opacity": 0.35},
             "encoding": {"x": x, "y": _low(y), "y2": {"field": "cost_high"}}},
            {"data": points, "mark": {"type": "circle", "size": 60},
             "encoding": {"x": x, "y": y, "color": {"field": "bought", "type": "nominal", "title": None}}},
            {"data": {"values": _named(front)}, "encoding": {"x": x, "y": y, "text": {"field": "name"}},
             "mark": {"type": "text", "align": "left", "dx": 7, "dy": -7, "color": INK, "fontSize": 11}},
        ],
    }  # fmt: skip


def _axis(name: str, title: str) -> Json:
    scale = {"type": "log", "nice": False, "padding": 12}
    axis = {"format": "~g", "tickCount": 6}
    return {"field": name, "type": "quantitative", "title": title, "scale": scale, "axis": axis}


def _low(channel: Json) -> Json:
    return {**channel, "field": f"{channel['field']}_low"}


def _point(each: Estimate, query: EstimateQuery) -> Json:
    cost, low, high = (max(float(amount), LEAST_COST) for amount in each.cost(query.basis))
    soonest, latest = each.hours_low, each.hours_high
    if each.calendar_hours > each.hours:  # how long a run waits is known for its expected hours alone
        soonest = latest = each.calendar_hours
    return {
        "hours": each.calendar_hours, "hours_low": soonest, "hours_high": latest,
        "cost": cost, "cost_low": low, "cost_high": high, "bought": each.purchase_option.value.replace("_", " "),
        "name": words.machine(each),
    }  # fmt: skip


def _named(front: Answer) -> list[Json]:
    """The ends of the frontier and the balanced one."""
    points = (_point(pick.estimate, front.query) for pick in front.picks if pick.name in NAMED)
    return list({each["name"]: each for each in points}.values())


def draw(chart: Json, kind: str) -> bytes:
    """The chart as PNG or SVG. Nothing is fetched: the library that draws brings its own code and fonts.

    Raises Refused where that library is not installed.
    """
    try:
        import vl_convert  # a whole JavaScript engine, which only those who ask for pictures pay for
    except ModuleNotFoundError:
        raise Refused(501, NO_CHARTS) from None

    if kind == "svg":
        return str(vl_convert.vegalite_to_svg(chart, vl_version=VEGA_LITE, allowed_base_urls=[])).encode()
    return bytes(vl_convert.vegalite_to_png(chart, vl_version=VEGA_LITE, scale=1.5, allowed_base_urls=[]))
