"""`/cost`: what to do, and the picks with a few others beside them; the list of all where that is asked for, and as sheets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from api.formats import csv_export
from api.formats.blocks import Block, Part, Rows, Say
from api.formats.estimates import missing_prices, rests_on
from api.formats.figures import listed
from api.formats.json import to_json
from api.formats.sheet_columns import estimate_columns, shared_columns
from api.formats.tables import Table
from api.formats.terminal.blocks import printed
from api.formats.terminal.first_answer import first_answer, shown_first
from api.formats.terminal.grid import View
from api.formats.words import highest_accuracy, how_fresh, machine, marks_explained, owned, waiting
from api.forms.code import Code
from api.questions.errors import BadParameters
from api.questions.schemas.layout import Layout
from api.questions.schemas.training import CostSchema
from api.questions.suggestions import many
from api.reports.cost import CostDocument, CostReport, cost_report
from api.reports.left_out import left_out
from costcalc.answers import Answer, Estimate
from costcalc.flat import flat
from costcalc.programs import NOBODYS
from costcalc.query import DEFAULT_LIMIT
from costcalc.tasks.goals import training_in_words

if TYPE_CHECKING:
    from api.formats.charts.figure import Figure


FRONTIER = "*: no other estimate is both faster and cheaper."


def terminal(report: CostReport, view: View) -> Iterator[str]:
    """What to do and the picks, set by hand; as blocks the list if the question asks for it, and the rest with --explain."""
    answer = report.answer
    if is_list(answer):
        yield from printed([*_list(answer), *_beside(answer)], view)
    else:
        yield from first_answer(answer, view)
        yield from printed([_behind(shown_first(answer)), *_beside(answer)], view) if view.explain else ()


def _list(answer: Answer) -> Iterator[Block]:
    yield Say([*answer.verdict, _heading(answer)])
    table = Table("Estimates", "", "estimate", None, tuple(listed(answer.query.basis)))
    legend = " ".join([FRONTIER, *marks_explained(answer.estimates)])
    shown: list[Block] = [Rows(table, answer.estimates), Say([legend], small=True), _behind(answer.estimates)]
    yield Part(_how_many(answer), shown if answer.estimates else [])


def _behind(estimates: Iterable[Estimate]) -> Part:
    return rests_on({str(each.rank): each for each in estimates})


def _beside(answer: Answer) -> Iterator[Block]:
    """The user's own machines, what is free, and what must be known of all of it."""
    if answer.owned:
        yield Part("Your own:", [Say([f"{owned(each)}." for each in answer.owned])])
    if answer.free:
        yield Part("Free, if you can wait:", [Say([f"{machine(each)}: {waiting(each)}" for each in answer.free])])
    left = [f"Left out: {left_out(answer)}"] if answer.rejections else []
    yield Say([*_converted(answer), highest_accuracy(answer), *left], small=True)
    yield from missing_prices(answer.prices)


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


def _converted(answer: Answer) -> Iterator[str]:
    if rate := answer.exchange:
        yield f"1 USD = {rate.per_usd:.6f} {rate.currency} on {rate.date} ({rate.source})"


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
    from api.formats.xlsx import summary  # XlsxWriter is paid for by those who ask for a workbook

    return summary.workbook(report.with_frontier(), layout)


def figure(report: CostReport) -> Figure:
    """The picture of the estimates by cost and time."""
    from api.formats.charts import cost_and_time  # a table does not wait for it

    return cost_and_time.figure(report.answer, report.glance.points)


CODE: Code[CostReport] = Code(
    CostSchema, cost_report, CostDocument, terminal=terminal, json=json, csv=csv, xlsx=xlsx, figure=figure
)
