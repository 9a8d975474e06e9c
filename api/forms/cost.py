"""`/cost`: what to do, and the picks with a few others beside them; the list of all where that is asked for, and as sheets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from api.formats import csv_export
from api.formats.json import to_json
from api.formats.sheet_columns import estimate_columns, shared_columns
from api.formats.terminal.estimates import estimate_lines, explained, gaps
from api.formats.terminal.first_answer import first_answer, shown_first
from api.formats.terminal.grid import View, paragraph
from api.formats.words import highest_accuracy, how_fresh, machine, owned, waiting
from api.forms.code import Code
from api.questions.errors import BadParameters
from api.questions.schemas.layout import Layout
from api.questions.schemas.training import CostSchema
from api.questions.suggestions import many
from api.questions.themes import as_options
from api.reports.cost import CostDocument, CostReport, cost_report
from api.reports.left_out import left_out
from costcalc.answers import Answer
from costcalc.flat import flat
from costcalc.programs import NOBODYS
from costcalc.query import DEFAULT_LIMIT
from costcalc.tasks.goals import training_in_words

if TYPE_CHECKING:
    from api.formats.charts.figure import Figure


def terminal(report: CostReport, view: View) -> Iterator[str]:
    """What to do and the picks, or the list if the question asks for it; --explain adds the rest."""
    answer = report.answer
    if is_list(answer):
        yield from _list(answer, view)
    else:
        yield from first_answer(answer, view)
        yield from explained(shown_first(answer), view)
    if view.explain or is_list(answer):
        yield ""
        for line in (*_owned(answer), *_free(answer), *_notes(answer, view.explain)):
            yield from paragraph(line, view.width, 4)


def _list(answer: Answer, view: View) -> Iterator[str]:
    yield from (line for sentence in answer.verdict for line in paragraph(as_options(sentence), view.width, 2))
    yield ""
    yield from paragraph(_heading(answer), view.width)
    yield from paragraph(_how_many(answer), view.width)
    if answer.estimates:
        yield from estimate_lines(answer.estimates, answer.query.basis, view)


def is_list(answer: Answer) -> bool:
    """Whether a question asks for the list of all estimates, not only for what to do. A run of one's own is its only recipe."""
    query, is_own = answer.query, any(each.recipe_kind in NOBODYS for each in answer.estimates)
    wants_all = "all" in (query.regions, query.regions if is_own else query.recipes)
    return query.offset > 0 or query.limit > DEFAULT_LIMIT or wants_all


def _heading(answer: Answer) -> str:
    query = answer.query
    goal = training_in_words(query)
    return f"{goal}, at prices of {answer.prices.as_of:%Y-%m-%d} ({how_fresh(answer.freshness)}), in {query.currency}"


def _how_many(answer: Answer) -> str:
    query, shown = answer.query, len(answer.estimates)
    if not shown:
        return f"None of {many(answer.count, 'estimate')}." if answer.count else "No estimate answers this question."
    if answer.count == 1:
        return "The only estimate:"
    which = f"The first {shown:,} of" if not query.offset else f"{query.offset + 1:,} to {query.offset + shown:,} of"
    order = "time" if query.sort == "time" else "cost"
    how = f"the picks, then what they come from by {order}, then the rest"
    return f"{'All' if shown == answer.count else which} {answer.count:,} estimates: {how}."


def _owned(answer: Answer) -> Iterator[str]:
    yield from ["Your own:"] if answer.owned else []
    yield from (f"  {owned(each)}." for each in answer.owned)


def _free(answer: Answer) -> Iterator[str]:
    yield from ["Free, if you can wait:"] if answer.free else []
    yield from (f"  {machine(each)}: {waiting(each)}" for each in answer.free)


def _converted(answer: Answer) -> Iterator[str]:
    if rate := answer.exchange:
        yield f"1 USD = {rate.per_usd:.6f} {rate.currency} on {rate.date} ({rate.source})"


def _notes(answer: Answer, explain: bool) -> Iterator[str]:
    yield from _converted(answer)
    yield highest_accuracy(answer)
    if answer.rejections:
        yield f"Left out: {as_options(left_out(answer))}"
    yield from gaps(answer.prices, explain)


def json(report: CostReport, layout: Layout) -> bytes:
    """The whole document, or what a bot needs of it."""
    if layout.fields == "all":
        return to_json(report.document())
    from api.reports.brief import brief  # which few ask for

    return to_json(brief(report))


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
    return csv_export.with_last_line(csv_export.chunks(columns, map(flat, answer.estimates), layout), last, layout)


def xlsx(report: CostReport, layout: Layout) -> bytes:
    """The workbook, with what commitments on such machines cost."""
    from api.formats.xlsx import workbooks  # XlsxWriter is paid for by those who ask for a workbook

    return workbooks.cost(report.with_frontier(), layout)


def figure(report: CostReport) -> Figure:
    """The picture of the estimates by cost and time."""
    from api.formats.charts import cost_and_time  # a table does not wait for it

    return cost_and_time.figure(report.answer, report.glance.points)


CODE: Code[CostReport] = Code(
    CostSchema, cost_report, CostDocument, terminal=terminal, json=json, csv=csv, xlsx=xlsx, figure=figure
)
