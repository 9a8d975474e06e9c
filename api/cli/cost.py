"""`costcalc cost`: what to do, and the picks with a few others beside them; the list of all where that is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from shlex import join
from typing import TYPE_CHECKING

from api.cli.estimates import best_lines, estimate_lines
from api.cli.grid import View, paragraph
from api.cli.options import ARGUMENTS, as_options, dashed
from api.formats.words import folded, highest_accuracy, how_fresh, machine, owned
from api.questions.suggestions import many
from api.reports.cost import CostReport, waiting
from api.reports.left_out import left_out
from costcalc.answers import Answer, PriceBasis
from costcalc.query import DEFAULT_LIMIT, EstimateQuery
from costcalc.tasks.goals import goal_in_words

if TYPE_CHECKING:
    from api.reports.ask import AskReport  # with all that reads sentences

LINES = 24
"""Lines of a terminal that the first answer fits."""
LONGEST_COMMAND = 300
"""Of one that names every cloud but one nobody makes use."""


def cost_lines(report: CostReport, view: View) -> Iterator[str]:
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


def gaps(prices: PriceBasis, explain: bool) -> Iterator[str]:
    """Which sources gave no new prices: in one line, or with the reason of each."""
    if prices.gaps and not explain:
        names = list(dict.fromkeys(gap.source for gap in prices.gaps))
        yield f"No new prices from {', '.join(names)}: older ones are used. --explain says why."
    for gap in prices.gaps if explain else ():
        yield f"No new prices from {gap.source}: {gap.reason}"


def ask_lines(report: AskReport, view: View) -> Iterator[str]:
    """The answer as lines; where the sentence is no question, what to type."""
    meant, cost = report.understanding, report.cost
    exactly = command(meant.answered)
    for line in (*meant.lines, *([f"Exactly: {exactly}"] if cost and len(exactly) <= LONGEST_COMMAND else [])):
        yield from paragraph(line, view.width, 4)
    if cost:
        yield ""
        yield from cost_lines(cost, view)


def command(parameters: Mapping[str, list[str]]) -> str:
    """The command that asks these parameters of `/cost`."""
    options = ((f"--{dashed(name)}", ",".join(values)) for name, values in parameters.items() if name not in ARGUMENTS)
    arguments = (parameters[name][0] for name in ARGUMENTS if name in parameters)
    return join(["costcalc", "cost", *arguments, *(word for pair in options for word in pair)])
