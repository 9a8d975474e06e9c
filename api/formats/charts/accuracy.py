"""Accuracy against money: the least cost of each accuracy, with the recipe that reaches it for that."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from api.formats import words
from api.formats.charts.figure import Figure, Place, Scale, line, nothing, sign, stepped, told_apart
from api.formats.charts.frame import Axis, short
from api.reports.accuracy import AccuracyReport

LENGTH = re.compile(r"-([0-9]+)ep$")


def figure(report: AccuracyReport) -> Figure:
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
        [(Place.of(x.at(tick.value), 0).x, tick.label) for tick in x.ticks()],
        [(Place.of(0, y.at(tick.value)).y, tick.label) for tick in ticks],
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
