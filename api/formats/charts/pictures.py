"""The pictures of accuracies by cost, commitments by hours of use, a recipe's curve, and rates over time."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from api.formats import words
from api.formats.charts.figure import (
    Figure,
    Place,
    Scale,
    across,
    line,
    nothing,
    sign,
    stepped,
    text,
    told_apart,
    up,
)
from api.formats.charts.frame import Axis, days, months, short
from api.questions.suggestions import many
from api.reports.accuracy import AccuracyReport
from api.reports.commitments import CommitmentsReport
from api.reports.cost import EstimateReport
from api.reports.decision import cheapest_first
from api.reports.prices.history import HistoryReport
from costcalc.costing.commitments import PurchaseChoice
from costcalc.offers import PurchaseOption
from costcalc.units import HOURS_PER_MONTH

LENGTH = re.compile(r"-([0-9]+)ep$")
ON_DEMAND, OWNED = "on demand", PurchaseOption.OWNED
ROOM = 0.05


def accuracy_figure(report: AccuracyReport) -> Figure:
    """The picture of a model's accuracies."""
    ladder, query = report.ladder(), report.query
    if not ladder:
        return nothing("No estimate reaches any accuracy.")
    costs = [float(each.cost(query.basis).cost) for each in ladder]
    x = Scale.around([each.target for each in ladder])
    y = Axis.around(costs) if min(costs) > 0 else Scale.around(costs, 0.0)
    ticks = y.amounts(query.currency) if isinstance(y, Axis) else y.ticks()
    places = [Place.of(x.at(each.target), y.at(cost)) for each, cost in zip(ladder, costs, strict=True)]
    kinds = _kinds(each.recipe for each in ladder)
    recipes = told_apart(kinds.values())
    signs = (
        sign(
            place,
            recipes[kinds[each.recipe]].sign,
            f"p{recipes[kinds[each.recipe]].colour}",
            f"{each.target:g}: {short(cost, query.currency)}, {words.hours(each.hours)} h, {words.machine(each)}, {each.recipe}",
        )
        for place, each, cost in zip(places, ladder, costs, strict=True)
    )
    return Figure(
        f"{query.model}: the least cost of each accuracy",
        "each point is the cheapest estimate that reaches it",
        across(x.at, x.ticks()),
        up(y.at, ticks),
        words.measure(query.metric),
        query.currency,
        line(stepped(places[::-1])[::-1], "ink faint") + "".join(signs),
        list(recipes.values()),
    )


def _kinds(recipes: Iterable[str]) -> dict[str, str]:
    """What the legend calls each recipe: those that differ in their length alone are one, `ffcv-rn50, 16 to 88 epochs`."""
    lengths: dict[str, list[str]] = defaultdict(list)
    for recipe in dict.fromkeys(recipes):
        lengths[LENGTH.sub("", recipe)].append(recipe)
    kinds: dict[str, str] = {}
    for kind, alike in lengths.items():
        epochs = sorted(int(found[1]) for found in map(LENGTH.search, alike) if found)
        name = f"{kind}, {epochs[0]} to {epochs[-1]} epochs" if len(epochs) == len(alike) > 1 else ""
        kinds |= {recipe: name or recipe for recipe in alike}
    return kinds


def commitments_figure(report: CommitmentsReport) -> Figure:
    """The picture of the machine with the cheapest commitment: a month costs a flat amount and an amount per hour of use."""
    document = report.document()
    machines = cheapest_first(document.machines, document.runs_per_month)
    if not machines:
        return nothing("No reserved, committed or monthly offer matches.")
    machine = machines[0]
    ways = {words.bought(way): _flat_and_hourly(way) for way in machine.choices}
    if machine.on_demand:
        ways = {ON_DEMAND: (0.0, float(machine.on_demand.hourly_rate)), **ways}
    x, y = (
        Scale(0.0, float(HOURS_PER_MONTH)),
        Scale.around([flat + rate * HOURS_PER_MONTH for flat, rate in ways.values()], 0.0),
    )
    entries = told_apart(ways)
    lines = (
        line(
            [Place.of(x.at(hours), y.at(flat + rate * hours)) for hours in (0, HOURS_PER_MONTH)],
            f"p{entries[way].colour}",
        )
        for way, (flat, rate) in ways.items()
    )
    rings = []
    for way in machine.choices:
        if way.break_even_hours_per_month is not None:
            (flat, rate), hours = _flat_and_hourly(way), float(way.break_even_hours_per_month)
            cost = flat + rate * hours
            told = f"{words.bought(way)}: {hours:,.0f} h a month, {cost:,.2f} {machine.currency}"
            rings.append(sign(Place.of(x.at(hours), y.at(cost)), "ring", "ink", told))
    return Figure(
        f"{words.machine(machine)}, {machine.region}: what a month costs",
        "rings: above this it costs less than on demand",
        across(x.at, x.ticks()),
        up(y.at, y.ticks()),
        f"hours of use in a month of {HOURS_PER_MONTH}",
        f"{machine.currency} per month",
        "".join(lines) + "".join(rings),
        list(entries.values()),
    )


def _flat_and_hourly(way: PurchaseChoice) -> tuple[float, float]:
    """What a month costs unused, and what each hour of use adds, which is nothing but for a machine of one's own."""
    flat = way.total / way.months
    return float(flat), float(way.hourly_rate - flat / HOURS_PER_MONTH) if way.purchase_option is OWNED else 0.0


def curve_figure(report: EstimateReport) -> Figure:
    """The picture of an estimate's curve."""
    estimate, recipe = report.estimate, report.recipe
    if estimate is None or recipe is None:
        return nothing()
    points = [(each.epochs, each.in_metric(estimate.metric)) for each in recipe.evaluations]
    known = [(epochs, accuracy) for epochs, accuracy in points if accuracy is not None]
    values = [estimate.target, *(accuracy for _, accuracy in known)]
    lowest = min(values)
    x = Scale.around([estimate.epochs, *(epochs for epochs, _ in known)], 0.0)
    y = Scale.around(values, max(lowest - ROOM, min(lowest, 0.0)))
    places = [Place.of(x.at(epochs), y.at(accuracy)) for epochs, accuracy in known]
    right, high = x.at(estimate.epochs), y.at(estimate.target)
    signs = (
        sign(place, "circle", "p1", f"{accuracy:.4g} after {epochs:g} epochs")
        for place, (epochs, accuracy) in zip(places, known, strict=True)
    )
    measure = words.measure(estimate.metric)
    return Figure(
        f"{recipe.name}: {measure} by epoch",
        f"{many(len(recipe.evaluations), 'point')}, {recipe.organisation}, {recipe.year}",
        across(x.at, x.ticks()),
        up(y.at, y.ticks()),
        "epochs",
        measure,
        line(places, "p1 faint")
        + "".join(signs)
        + line([Place.of(0, high), Place.of(1, high)], "ink dashed")
        + text(Place.of(0, high), f"target {estimate.target:g}", "ink", 6, -5)
        + line([Place.of(right, 0), Place.of(right, 1)], "ink dashed")
        + sign(Place.of(right, high), "circle", "ink")
        + text(Place.of(right, 0), f"{estimate.epochs:.4g} epochs", "ink end", -7, -8),
    )


def history_figure(report: HistoryReport) -> Figure:
    """The picture of a history."""
    rows = list(report.rows())
    if not rows:
        return nothing("No rate of such a machine was ever observed.")
    x = Scale.around([days(moment) for row in rows for moment in (row.observed_at, row.last_seen_at)])
    y = Scale.around([float(row.hourly_rate) for row in rows], 0.0)
    ways = told_apart(words.bought(row) for row in rows)
    lines: dict[tuple[str, ...], list[Place]] = {}
    marks = []
    for row in rows:
        way = ways[words.bought(row)]
        first, last = (
            Place.of(x.at(days(at)), y.at(float(row.hourly_rate))) for at in (row.observed_at, row.last_seen_at)
        )
        lines.setdefault((row.provider, row.instance_type, row.region, way.name), []).append(first)
        dates = f"from {row.observed_at:%Y-%m-%d} to {row.last_seen_at:%Y-%m-%d}"
        told = f"{float(row.hourly_rate):,.6g} {row.currency} per hour {dates}"
        marks.append(line([first, last], f"p{way.colour}"))
        marks.append(sign(first, way.sign, f"p{way.colour}", f"{told}: {row.provider} {row.region}, {way.name}"))
    thin = (line(stepped(places), f"p{ways[key[-1]].colour} thin faint") for key, places in lines.items())
    return Figure(
        f"{', '.join(sorted({f'{row.provider} {row.instance_type}' for row in rows}))}: rates per hour",
        "each line lasts from the first to the last day on which a rate was seen",
        across(x.at, months(x)),
        up(y.at, y.ticks()),
        "",
        f"{rows[0].currency} per hour, effective",
        "".join((*thin, *marks)),
        list(ways.values()),
    )
