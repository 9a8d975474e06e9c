"""`/cost`: what to do, and the picks with a few others beside them; the list of all where that is asked for, and as sheets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from api.formats import csv_export
from api.formats.sheet_columns import estimate_columns, shared_columns
from api.formats.terminal.estimates import best_lines, estimate_lines, gaps
from api.formats.terminal.grid import View, paragraph
from api.formats.words import folded, highest_accuracy, how_fresh, machine, owned, waiting
from api.questions.errors import BadParameters
from api.questions.schemas.layout import Layout
from api.questions.suggestions import many
from api.questions.themes import as_options
from api.reports.cost import CostReport
from api.reports.left_out import left_out
from costcalc.answers import Answer
from costcalc.query import DEFAULT_LIMIT, EstimateQuery
from costcalc.tasks.goals import goal_in_words

if TYPE_CHECKING:
    from api.formats.charts.figure import Figure

LINES = 24
"""Lines of a terminal that the first answer fits."""


def terminal(report: CostReport, view: View) -> Iterator[str]:
    """The verdict, then the picks with a few others, or the list where that is asked for; the rest is told if asked for too."""
    found = report.answer
    first = [line for said in found.verdict for line in paragraph(as_options(said), view.width, 2)]
    yield from first
    if is_list(found.query):
        yield ""
        yield from paragraph(_heading(found), view.width)
        yield from paragraph(_how_many(found), view.width)
        if found.estimates:
            yield from estimate_lines(found.estimates, found.query.basis, view)
    elif found.best:
        said = (as_options(folded(found)), *_converted(found), *([] if view.explain else gaps(found.prices, False)))
        beside = [line for text in said for line in paragraph(text, view.width, 2)]
        yield from best_lines(found, view, LINES - len(first) - len(beside))
        yield from beside
    if view.explain or is_list(found.query):
        yield ""
        for line in (*_owned(found), *_free(found), *_notes(found, view.explain)):
            yield from paragraph(line, view.width, 4)


def is_list(query: EstimateQuery) -> bool:
    """Whether a question asks for the list of all estimates, not only for what to do."""
    return query.offset > 0 or query.limit > DEFAULT_LIMIT or "all" in (query.recipes, query.regions)


def _heading(found: Answer) -> str:
    query = found.query
    goal = f"{query.model} to {goal_in_words(query)}"
    return f"{goal}, at prices of {found.prices.as_of:%Y-%m-%d} ({how_fresh(found.freshness)}), in {query.currency}"


def _how_many(found: Answer) -> str:
    query, shown = found.query, len(found.estimates)
    if not shown:
        return f"None of {many(found.count, 'estimate')}." if found.count else "No estimate answers this question."
    if found.count == 1:
        return "The only estimate:"
    which = f"The first {shown:,} of" if not query.offset else f"{query.offset + 1:,} to {query.offset + shown:,} of"
    order = "fastest" if query.sort == "time" else "cheapest"
    return f"{'All' if shown == found.count else which} {found.count:,} estimates, {order} first:"


def _owned(found: Answer) -> Iterator[str]:
    yield from ["Your own:"] if found.owned else []
    yield from (f"  {owned(each)}." for each in found.owned)


def _free(found: Answer) -> Iterator[str]:
    yield from ["Free, if you can wait:"] if found.free else []
    yield from (f"  {machine(each)}: {waiting(each)}" for each in found.free)


def _converted(found: Answer) -> Iterator[str]:
    if found.exchange:
        yield f"1 USD = {found.exchange.per_usd:.6f} {found.exchange.currency} on {found.exchange.date} ({found.exchange.source})"


def _notes(found: Answer, explain: bool) -> Iterator[str]:
    yield from _converted(found) if is_list(found.query) else ()
    yield highest_accuracy(found)
    if found.rejections:
        yield f"Left out: {as_options(left_out(found))}"
    yield from gaps(found.prices, explain)


def csv(report: CostReport, layout: Layout) -> Iterator[bytes]:
    """One row per estimate, or one per charge where the layout asks for FOCUS."""
    answer = report.answer
    if layout.profile == "focus":
        if layout.columns:
            raise BadParameters({"columns": ["profile=focus prescribes the columns: leave one of them out"]})
        from api.formats import focus  # a table does not wait for it

        return focus.chunks(answer, layout, report.recipes())
    columns = [*estimate_columns(), *shared_columns(answer)]
    last = report.rest or report.nothing
    return csv_export.with_last_line(csv_export.chunks(columns, answer.estimates, layout), last, layout)


def xlsx(report: CostReport, layout: Layout) -> bytes:
    """The workbook, with what commitments on such machines cost."""
    from api.formats.xlsx import workbooks  # XlsxWriter is paid for by those who ask for a workbook

    return workbooks.cost(report.with_frontier(), report.commitments(), layout)


def figure(report: CostReport) -> Figure:
    """The picture of the estimates by cost and time."""
    from api.formats.charts import cost_and_time  # a table does not wait for it

    return cost_and_time.figure(report.answer, report.glance.points)
