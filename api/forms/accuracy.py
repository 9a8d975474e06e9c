"""`/accuracy`: the highest accuracy within a budget and a time, and what reaches it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

from api.formats import words
from api.formats.charts.figure import Figure, Place, Scale, across, line, nothing, sign, stepped, told_apart, up
from api.formats.charts.frame import Axis, short
from api.formats.page import Headline, Page
from api.formats.sheet import Sheet
from api.formats.sheet_columns import constant, estimate_columns, shared_columns, within
from api.formats.terminal.estimates import estimate_lines, missing_prices
from api.formats.terminal.grid import View, paragraph
from api.forms.code import Code
from api.questions.themes import as_options
from api.reports.accuracy import AccuracyDocument, AccuracyReport, AccuracySchema, accuracy_report

LENGTH = re.compile(r"-([0-9]+)ep$")


def terminal(report: AccuracyReport, view: View) -> Iterator[str]:
    """The accuracy within reach, and the estimates that reach it; what picks reach comes first."""
    document = report.document()
    yield from paragraph(f"{document.query.model}: {as_options(document.message)}", view.width)
    for higher, each in pairwise(document.confirmed or (*document.estimates[:1], *document.less)):
        if each.hours != higher.hours:
            yield from paragraph(
                f"{each.target:{report.scale.digits}} takes {words.in_one_line(each, document.query.basis)}.",
                view.width,
                4,
            )
    if document.accuracy is not None:
        yield f"{document.accuracy:{report.scale.digits}} takes:"
        yield from estimate_lines(document.estimates, document.query.basis, view)
    yield from missing_prices(document.prices, view)


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


def html(report: AccuracyReport) -> Page:
    """The highest accuracy within budget and time, and the least cost of each accuracy."""
    document = report.document()
    rows = document.rows()
    marks, headline = words.marks_explained(rows), Headline.of((document.message,))
    return Page("accuracy.html", {"rows": rows, "marks": marks, "document": document, "headline": headline})


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
    AccuracySchema, accuracy_report, AccuracyDocument, terminal=terminal, html=html, sheet=sheet, figure=figure
)
