"""`costcalc cost`: what to do first, then the table, then what is free, what was left out and which prices are missing."""

from __future__ import annotations

from collections.abc import Iterator

from api.cli.estimates import bought, calendar, estimate_lines, hours, machine, money
from api.cli.grid import View, paragraph
from api.reports.cost import CostReport
from api.reports.left_out import left_out
from costcalc.answers import Answer, Estimate, Pick, PriceBasis

NO_RECIPE = "No {0.metric.value} curve of {0.model} is known, so its epochs to a target cannot be estimated."


def cost_lines(report: CostReport, view: View) -> Iterator[str]:
    """The answer as lines."""
    found = report.answer()
    yield from paragraph(_heading(found), view.width)
    for pick in found.picks:
        yield from _pick(pick, view.width)
    yield from paragraph(_how_many(found), view.width)
    if found.estimates:
        yield from estimate_lines(found.estimates, view)
    for hint in found.hints:
        yield from paragraph(f"Instead: {hint.sentence}", view.width, 2)
    for line in _notes(found, view.explain):
        yield from paragraph(line, view.width, 2)


def _heading(found: Answer) -> str:
    query = found.query
    goal = f"{query.model} to {query.target:g} {query.metric.value}"
    return f"{goal}, at prices of {found.prices.as_of:%Y-%m-%d} ({_seen(found.prices)}), in {query.currency}"


def _how_many(found: Answer) -> str:
    query, shown = found.query, len(found.estimates)
    if not shown:
        return f"None of {found.count:,} estimates" if found.count else "No estimate matches these filters"
    which = f"The first {shown:,}" if not query.offset else f"{query.offset + 1:,} to {query.offset + shown:,}"
    return f"{which} of {found.count:,} estimates, {'fastest' if query.sort == 'time' else 'cheapest'} first"


def _seen(prices: PriceBasis) -> str:
    if prices.oldest_observed_at is None or prices.newest_observed_at is None:
        return "no rates seen"
    return f"rates seen {prices.oldest_observed_at:%Y-%m-%d} to {prices.newest_observed_at:%Y-%m-%d}"


def _pick(pick: Pick, width: int) -> Iterator[str]:
    each = pick.estimate
    pay = f"{money(each.billed_cost, each.currency)} ({each.billed_cost_low:,.2f}-{each.billed_cost_high:,.2f})"
    yield ""
    yield from paragraph(
        f"{pick.name.capitalize():<10}{_hours(each)}, {pay}: {machine(each)}, {bought(each)}", width, 10
    )
    yield from paragraph(f"{'':<10}{pick.reason}", width, 10)


def _hours(each: Estimate) -> str:
    waiting = f" ({calendar(each.calendar_hours)})" if each.calendar_hours > each.hours else ""
    return f"{hours(each.hours)} h{waiting}"


def _notes(found: Answer, explain: bool) -> Iterator[str]:
    if found.free:
        yield f"Free, if you can wait: {'; '.join(map(_free, found.free))}"
    if found.exchange:
        yield f"1 USD = {found.exchange.per_usd:.6f} {found.exchange.currency} on {found.exchange.date} ({found.exchange.source})"
    if found.best_reached:
        yield f"Highest accuracy of any recipe: {found.best_reached.accuracy:g} ({found.best_reached.recipe})"
    else:
        yield NO_RECIPE.format(found.query)
    if found.rejections:
        yield f"Left out: {left_out(found)}"
    yield from gaps(found.prices, explain)


def _free(each: Estimate) -> str:
    return f"{machine(each)}, {hours(each.hours)} h of work in {calendar(each.calendar_hours)}"


def gaps(prices: PriceBasis, explain: bool) -> Iterator[str]:
    """Which sources gave no new prices: in one line, or with the reason of each."""
    if prices.gaps and not explain:
        names = list(dict.fromkeys(gap.source for gap in prices.gaps))
        yield f"No new prices from {', '.join(names)}: older ones stand in. --explain says why."
    for gap in prices.gaps if explain else ():
        yield f"No new prices from {gap.source}: {gap.reason}"
