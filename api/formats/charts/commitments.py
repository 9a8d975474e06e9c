"""What a month of use costs on demand, by each commitment and on a machine of one's own, with a slider for the hours and the
break-even points."""

from __future__ import annotations

from collections.abc import Iterator

from api.formats import words
from api.formats.charts.theme import INK, PALETTE, QUIET, Json, chart, nothing
from api.reports.commitments import CommitmentsReport, Compared
from costcalc.costing.commitments import PurchaseChoice
from costcalc.offers import PurchaseOption
from costcalc.units import HOURS_PER_MONTH

ON_DEMAND, OWNED = "on demand", PurchaseOption.OWNED
CHEAPEST = "format(hours, 'd') + ' h: least is ' + datum.bought + ', ' + format(datum.now, ',.2f')"


def spec(report: CommitmentsReport) -> Json:
    """The picture of the first machine of the answer."""
    machines = report.document().machines
    if not machines:
        return nothing("No reserved, committed or monthly offer matches.")
    return of(machines[0])


def of(machine: Compared) -> Json:
    """The picture of one machine: a month costs a flat amount and an amount per hour of use."""
    x: Json = {"field": "hours", "type": "quantitative", "title": f"hours of use in a month of {HOURS_PER_MONTH}",
               "scale": {"domain": [0, HOURS_PER_MONTH], "nice": False}}  # fmt: skip
    y: Json = {"field": "cost", "type": "quantitative", "title": f"{machine.currency} per month"}
    colour = {"field": "bought", "type": "nominal", "sort": None, "scale": {"range": PALETTE}, "title": None}  # fmt: skip
    slider = {"input": "range", "min": 0, "max": HOURS_PER_MONTH, "step": 1, "name": "Hours of use a month "}
    told = [{"field": name} for name in ("bought", "hours", "cost")]
    at_slider = [{"calculate": "datum.flat + datum.per_hour * hours", "as": "now"}, {"filter": "datum.hours == 0"},
                 {"window": [{"op": "row_number", "as": "place"}], "sort": [{"field": "now"}]}, {"filter": "datum.place == 1"},
                 {"calculate": CHEAPEST, "as": "words"}]  # fmt: skip
    return chart(
        f"{words.machine(machine)}, {machine.region}: what a month costs",
        "rings: from there on it costs less than on demand",
        params=[{"name": "hours", "value": HOURS_PER_MONTH // 2, "bind": slider}],
        data={"values": list(_ends(machine))},
        layer=[
            {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"x": x, "y": y, "color": colour, "tooltip": told}},
            {"data": {"values": list(_break_even(machine))},
             "mark": {"type": "point", "size": 90, "color": INK, "strokeWidth": 2, "opacity": 1},
             "encoding": {"x": x, "y": y, "tooltip": told}},
            {"data": {"values": [{}]}, "transform": [{"calculate": "hours", "as": "hours"}],
             "mark": {"type": "rule", "color": QUIET, "strokeDash": [4, 3]}, "encoding": {"x": x}},
            {"transform": at_slider, "mark": {"type": "text", "align": "left", "x": 0, "y": -8, "color": INK},
             "encoding": {"text": {"field": "words"}}},
        ],
    )  # fmt: skip


def _ends(machine: Compared) -> Iterator[Json]:
    """Both ends of the line of each way to buy."""
    ways = [(words.bought(way), *_flat_and_hourly(way)) for way in machine.choices]
    if machine.on_demand:
        ways.insert(0, (ON_DEMAND, 0.0, float(machine.on_demand.hourly_rate)))
    for bought, flat, rate in ways:
        for hours in (0, HOURS_PER_MONTH):
            yield {"bought": bought, "flat": flat, "per_hour": rate, "hours": hours, "cost": flat + rate * hours}


def _break_even(machine: Compared) -> Iterator[Json]:
    for way in machine.choices:
        if way.break_even_hours_per_month is not None:
            (flat, rate), hours = _flat_and_hourly(way), float(way.break_even_hours_per_month)
            yield {"bought": words.bought(way), "hours": hours, "cost": flat + rate * hours}


def _flat_and_hourly(way: PurchaseChoice) -> tuple[float, float]:
    """What a month costs unused, and what each hour of use adds, which is nothing but for a machine of one's own."""
    flat = way.total / way.months
    return float(flat), float(way.hourly_rate - flat / HOURS_PER_MONTH) if way.purchase_option is OWNED else 0.0
