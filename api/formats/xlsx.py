"""The workbook of an answer: summary with a chart, estimates, rates, assumptions, and whatever sheets are added."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from decimal import Decimal
from typing import Any

from api.formats.workbook import Book, Column, Formula, Sheet
from api.formats.xlsx_estimates import COLUMN, Placed, placed, write_estimates, write_rates
from api.questions.links import text_of
from costcalc.answers import Answer

Extra = Callable[[Book], None]
"""Adds further sheets to a workbook."""

ASSUMPTIONS = (Column("estimate"), Column("about", width=14), Column("what holds", width=120))
SERIES = (
    ("billed_cost", "to pay for this run alone", "#D55E00", "circle"),
    ("effective_cost", "this run's share of use", "#0072B2", "diamond"),
)
RESULTS = (
    ("cheapest to pay", "billed_cost", "MIN"),
    ("cheapest by share of use", "effective_cost", "MIN"),
    ("fewest hours", "hours", "MIN"),
)


def build(answer: Answer, extras: Iterable[Extra] = ()) -> bytes:
    """The file. Its totals are formulas, so that a changed rate or hour changes them; `extras` add their sheets at the end."""
    book = Book(f"costcalc {answer.query.model} {answer.query.target:g}", answer.prices.as_of)
    summary, estimates, rates, assumptions = map(book.sheet, ("Summary", "Estimates", "Rates", "Assumptions"))
    entries = placed(answer)
    write_rates(book, rates, entries)
    write_estimates(book, estimates, rates, entries)
    assumptions.table(0, ASSUMPTIONS, _assumptions(answer))
    _write_summary(summary, answer)
    if entries:
        _write_chart(book, summary, entries)
    for extra in extras:
        extra(book)
    return book.finish()


def _write_summary(sheet: Sheet, answer: Answer) -> None:
    query = answer.query
    sheet.plain.set_column(0, 0, 28)
    sheet.plain.set_column(1, 1, 18)
    sheet.plain.set_column(2, 4, 17)
    sheet.plain.set_column(5, 5, 32)
    sheet.put(0, 0, f"Training {query.model} to {query.target:g} {query.metric.value}", "title")
    sheet.put(1, 0, "Yellow cells on the sheets Estimates and Rates are yours to change; every total follows.")
    for row, line in enumerate([*_results(answer), (), *_facts(answer)], 3):
        for column, value in enumerate(line):
            sheet.put(row, column, value, _form(line[0], column))


def _form(name: str, column: int) -> str | None:
    if column != 1:
        return None
    return "money" if name.startswith("cheapest") else "hours" if name == "fewest hours" else None


def _results(answer: Answer) -> Iterator[tuple[Any, ...]]:
    """The cheapest and the fastest estimates with their machines, as formulas over the sheet of estimates."""
    if not answer.estimates:
        yield ("no estimate matches these filters",)
        return
    for words, name, function in RESULTS:
        best = min(answer.estimates, key=lambda estimate, name=name: getattr(estimate, name))  # type: ignore[misc]
        span = _column(answer, name)
        where = (
            Formula(f"=INDEX({_column(answer, key)},MATCH({function}({span}),{span},0))", str(getattr(best, key)))
            for key in ("provider", "region", "instance_type", "recipe")
        )
        yield (words, Formula(f"={function}({span})", getattr(best, name)), *where)


def _facts(answer: Answer) -> Iterator[tuple[Any, ...]]:
    """What the answer rests on: prices, exchange rate, what was left out, and the question as understood."""
    query, prices = answer.query, answer.prices
    yield "estimates here, of", len(answer.estimates), answer.count
    yield "prices of (UTC)", prices.as_of
    yield "price snapshot", prices.snapshot
    yield "prices observed (UTC)", prices.oldest_observed_at, prices.newest_observed_at
    yield "currency", query.currency
    if answer.exchange:
        yield "units per US dollar", answer.exchange.per_usd, answer.exchange.date, answer.exchange.source
    if answer.best_reached:
        yield "best accuracy of any recipe", answer.best_reached.accuracy, answer.best_reached.recipe
    yield from ((f"left out: {name.replace('_', ' ')}", count) for name, count in answer.rejections.items())
    yield from (("instead", hint.sentence) for hint in answer.hints)
    yield from (("no new prices from", gap.source, gap.since, gap.reason) for gap in answer.prices.gaps)
    yield ()
    yield "the question", "as understood"
    for field in fields(query):
        value = getattr(query, field.name)
        is_number = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
        if value not in (None, ()):
            yield field.name, value if is_number else text_of(value)


def _assumptions(answer: Answer) -> Iterator[tuple[int, str, str]]:
    for each in answer.estimates:
        sources = each.sources
        yield each.rank, "speed", f"{each.evidence.throughput}: {sources.throughput.source} ({sources.throughput.year})"
        yield each.rank, "accuracy", f"{each.evidence.convergence}: {sources.convergence.source}"
        yield each.rank, "price", f"{sources.price.observed_at:%Y-%m-%d}: {sources.price.source}"
        yield from ((each.rank, "assumption", sentence) for sentence in each.assumptions)


def _write_chart(book: Book, sheet: Sheet, entries: list[Placed]) -> None:
    """Cost against time, costs on a logarithmic axis where all are positive."""
    chart = book.plain.add_chart({"type": "scatter"})
    last = entries[-1].row + 1
    for name, words, color, kind in SERIES:
        marker = {"type": kind, "size": 7, "fill": {"color": color}, "border": {"color": color}}
        points = {"categories": _span("hours", last), "values": _span(name, last)}
        chart.add_series({"name": words, **points, "marker": marker})
    positive = all(min(entry.estimate.billed_cost, entry.estimate.effective_cost) > 0 for entry in entries)
    chart.set_title({"name": "Cost against time", "name_font": {"size": 11}})
    chart.set_x_axis({"name": "hours", "min": 0})
    chart.set_y_axis({"name": entries[0].estimate.currency, **({"log_base": 10} if positive else {})})
    chart.set_legend({"position": "bottom"})
    chart.set_size({"width": 640, "height": 360})
    sheet.plain.insert_chart(3, 7, chart)


def _column(answer: Answer, name: str) -> str:
    return _span(name, len(answer.estimates) + 1).removeprefix("=")


def _span(name: str, last: int) -> str:
    return f"=Estimates!${COLUMN[name]}$2:${COLUMN[name]}${last}"
