"""`/accuracy`: the highest accuracy within a budget and a time, and what reaches it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from api.formats import words
from api.formats.blocks import Block, Chart, Part, Rows, Say
from api.formats.charts.figure import Figure, Place, Scale, across, line, nothing, sign, stepped, told_apart, up
from api.formats.charts.frame import Axis, short
from api.formats.column import Column
from api.formats.estimates import missing_prices, rests_on
from api.formats.figures import of_an_estimate
from api.formats.sheet import Sheet
from api.formats.sheet_columns import constant, estimate_columns, shared_columns, within
from api.formats.tables import Table
from api.forms.code import Code
from api.reports.accuracy import AccuracyDocument, AccuracyReport, AccuracySchema, accuracy_report

LENGTH = re.compile(r"-([0-9]+)ep$")
TABLE = Table(
    "Which accuracy for how much",
    "The highest accuracy that a budget or a time limit buys.",
    "estimate",
    None,
    (Column("Accuracy", lambda row: f"{row.target:.4g}", is_number=True),),
    ("model", "budget", "max_hours"),
)


def blocks(report: AccuracyReport) -> Iterator[Block]:
    """The highest accuracy within budget and time, the least cost of each accuracy, and what these take."""
    document = report.document()
    rows, basis = document.rows(), document.query.basis
    yield Say([f"{document.query.model}: {document.message}"], leads=True)
    yield Chart()
    if rows:
        table = replace(TABLE, columns=(*TABLE.columns, *of_an_estimate(basis)))
        yield Part("What it takes", [Rows(table, rows), Say([" ".join(words.marks_explained(rows))], small=True)])
        yield rests_on({f"{row.target:.4g}": row for row in rows})
    yield from missing_prices(document.prices)


def sheet(report: AccuracyReport) -> Sheet:
    """One row per estimate, or one row that says why there is none."""
    document = report.document()
    columns = [
        constant("accuracy", document.accuracy),
        constant("message", document.message),
        *(within(lambda estimate: estimate, column) for column in estimate_columns()),
        *shared_columns(document),
    ]
    title, rows, query = f"The accuracy of {document.query.model}", document.estimates or (None,), document.query
    kept, as_of = {"accuracy"}, document.prices.as_of
    return Sheet("Estimates", title, [document.message], columns, rows, as_of, query.currency, kept)


def figure(report: AccuracyReport) -> Figure:
    """The picture of a model's accuracies."""
    ladder, query = report.ladder(), report.query
    if not ladder:
        return nothing("No estimate reaches any accuracy.")
    costs = [float(each.cost(query.basis).cost) for each in ladder]
    x = Scale.around([each.reached for each in ladder])
    y = Axis.around(costs) if min(costs) > 0 else Scale.around(costs, 0.0)
    ticks = y.amounts(query.currency) if isinstance(y, Axis) else y.ticks()
    places = [Place.of(x.at(each.reached), y.at(cost)) for each, cost in zip(ladder, costs, strict=True)]
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
        epochs = sorted(int(match[1]) for match in map(LENGTH.search, alike) if match)
        name = f"{kind}, {epochs[0]} to {epochs[-1]} epochs" if len(epochs) == len(alike) > 1 else ""
        kinds |= {recipe: name or recipe for recipe in alike}
    return kinds


CODE: Code[AccuracyReport] = Code(
    AccuracySchema, accuracy_report, AccuracyDocument, TABLE, blocks, sheet=sheet, figure=figure
)
