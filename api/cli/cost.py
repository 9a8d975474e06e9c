"""`costcalc cost`: what to do first, then the table, then what is free, what was left out and which prices are missing."""

from __future__ import annotations

from collections.abc import Iterator

from api.cli.estimates import estimate_lines
from api.cli.grid import View, paragraph
from api.cli.options import as_options
from api.formats.words import highest_accuracy, machine, owned, picked, rates_seen
from api.questions.suggestions import many
from api.reports.cost import CostReport, waiting
from api.reports.left_out import left_out
from costcalc.answers import Answer, PriceBasis

NAME = 10  # columns of a pick's name


def cost_lines(report: CostReport, view: View) -> Iterator[str]:
    """The answer as lines."""
    found = report.answer
    yield from paragraph(_heading(found), view.width)
    for note in report.notes:
        yield from paragraph(note, view.width)
    yield from [""] if found.picks else []
    for pick in found.picks:
        yield from paragraph(f"{pick.name.capitalize():<{NAME}}{picked(pick, found)}", view.width, NAME)
    yield ""
    yield from paragraph(_how_many(found), view.width)
    if found.estimates:
        yield from estimate_lines(found.estimates, found.query.basis, view, [pick.estimate for pick in found.picks])
    yield ""
    for line in (*_owned(found), *_free(found), *_notes(found, view.explain)):
        yield from paragraph(line, view.width, 4)


def _heading(found: Answer) -> str:
    query = found.query
    goal = f"{query.model} to {query.target:g} {query.metric}"
    return f"{goal}, at prices of {found.prices.as_of:%Y-%m-%d} ({rates_seen(found.prices)}), in {query.currency}"


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


def _notes(found: Answer, explain: bool) -> Iterator[str]:
    yield from (f"Instead: {as_options(hint.sentence)}" for hint in found.hints)
    if found.exchange:
        yield f"1 USD = {found.exchange.per_usd:.6f} {found.exchange.currency} on {found.exchange.date} ({found.exchange.source})"
    yield highest_accuracy(found)
    if found.rejections:
        yield f"Left out: {as_options(left_out(found))}"
    yield from gaps(found.prices, explain)


def gaps(prices: PriceBasis, explain: bool) -> Iterator[str]:
    """Which sources gave no new prices: in one line, or with the reason of each."""
    if prices.gaps and not explain:
        names = list(dict.fromkeys(gap.source for gap in prices.gaps))
        yield f"No new prices from {', '.join(names)}: older ones stand in. --explain says why."
    for gap in prices.gaps if explain else ():
        yield f"No new prices from {gap.source}: {gap.reason}"
