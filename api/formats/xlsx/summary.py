"""The workbook in which finance changes rates, hours and discounts, and watches the totals, and its sheets in words: the summary
with the picks and what is cheapest after changes, and the assumptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from itertools import chain
from math import ceil
from typing import Any

from msgspec.structs import asdict

from api.formats.words import YOURS, owned
from api.formats.xlsx.book import Book, Column, Formula, Sheet, in_words
from api.formats.xlsx.estimates import NAMES, compared_figures, write_estimates
from api.formats.xlsx.rates import Rates
from api.questions.asked import with_moment
from api.questions.links import text_of, to_url
from api.questions.schemas.layout import Layout
from api.reports.left_out import UNCOUNTED, what
from costcalc.answers import Answer, Estimate
from costcalc.offer import OLD_DAYS
from costcalc.tasks.goals import training_in_words
from costcalc.units import HOURS_PER_DAY

TOLD = (
    "Yellow cells are yours to change: hours on Estimates, list rates on Rates, your discounts on Discounts. Ranges, costs "
    "and break-even follow, in whatever order you sort the rows.",
    "Ranks, the frontier and the reasons for the picks do not change. What is cheapest and fastest after your changes is sought "
    "among what picks may come from.",
)
MARKED = f"marks a rate that is more than {OLD_DAYS} days old, or that the provider did not state itself"
CHANGED = (
    "Another target, model or filter changes the recipes and hours themselves, which a sheet cannot compute. Ask again."
)
ASSUMPTIONS = (Column("estimate"), Column("about", width=14), Column("what holds", "long_text", 190))
SHOWN = (
    ("billed_cost", "money", 16), ("effective_cost", "money", 14), ("hours", "hours", 9),
    ("calendar_hours", "hours", 11), ("provider", "text", 11), ("region", "text", 13), ("instance_type", "text", 20),
    ("purchase_option", "text", 12), ("recipe", "text", 38),
)  # fmt: skip
FIGURES = 4
WHY = len(SHOWN) + 1
WHY_WIDTH, LINE_HEIGHT = 44, 15  # characters, points
SERIES = (
    ("billed_cost", "to pay for this run alone", "#D55E00", "circle"),
    ("effective_cost", "this run's share of use", "#0072B2", "diamond"),
)
RESULTS = (
    ("cheapest to pay", "to_pay_if_picked"),
    ("cheapest by share of use", "share_if_picked"),
    ("fewest hours", "hours_if_picked"),
)
PICKED = "#171B21"
CHART_ROWS = 19

Cell = tuple[Any, str | None]


def workbook(answer: Answer, layout: Layout) -> bytes:
    """An answer with its picks: summary, estimates, rates, discounts and assumptions."""
    query, answer = answer.query, answer.with_best()
    book = Book(f"costcalc {query.model} {query.target:g}", answer.prices.as_of, query.currency)
    summary, estimates = book.sheet("Summary"), book.sheet("Estimates")
    rates = Rates(book, query.currency, answer.prices.as_of)
    write_estimates(estimates, answer, rates, layout)
    write_assumptions(book.sheet("Assumptions"), answer)
    rates.write()
    write_summary(book, summary, answer, layout.root)
    return book.finish()


def write_summary(book: Book, sheet: Sheet, answer: Answer, root: str = "") -> None:
    """Picks and free tiers, what is cheapest and fastest after changes, a chart, and the question with its prices."""
    query = answer.query
    sheet.plain.set_column(0, 0, 25)
    for column, (_, _, width) in enumerate(SHOWN, 1):
        sheet.plain.set_column(column, column, width)
    sheet.plain.set_column(WHY, WHY, WHY_WIDTH)
    sheet.put(0, 0, f"Training {training_in_words(query)}", "title")
    verdict = answer.verdict[:-1] if answer.next else answer.verdict  # nobody acts in a sheet
    lines = (((line, "headline" if line == verdict[0] else None),) for line in (*verdict, *TOLD))
    row = _write(sheet, 1, lines)
    sheet.put(row, 0, "this colour", "doubtful")
    sheet.put(row, 1, MARKED)
    first = row + 2
    row = _write(sheet, first, _picks(answer))
    if answer.estimates:
        row = _write(sheet, row + 1, _results(answer))
        _write_chart(book, sheet, row + 1, answer, first)
        row += CHART_ROWS
    row = _write(sheet, row + 1, _facts(answer))
    sheet.put(row, 0, "address on the service")
    sheet.put_address(row, 1, f"{root}{to_url(with_moment(answer.query, answer.prices.as_of), '/cost.xlsx')}")
    sheet.plain.print_area(0, 0, row, WHY)
    last = _write(sheet, row + 2, _question(answer))
    refused = {"validate": "custom", "value": "=FALSE", "error_title": "As answered", "error_message": CHANGED}
    sheet.plain.data_validation(row + 2, 1, last - 1, 1, refused)


def write_assumptions(sheet: Sheet, answer: Answer) -> None:
    """What each estimate rests on, in sentences: first, and alone printed, that which the verdict begins with."""
    lead = answer.lead.rank if answer.picks or answer.owned else None
    ordered = [_assumptions(each) for each in sorted(answer.estimates, key=lambda each: each.rank != lead)]
    sheet.table(ASSUMPTIONS, chain.from_iterable(ordered))
    sheet.plain.print_area(0, 0, len(ordered[0]) if ordered else 0, len(ASSUMPTIONS) - 1)


def _write(sheet: Sheet, top: int, lines: Iterable[Iterable[Cell]]) -> int:
    """Writes lines of cells; returns the row below them."""
    for line in lines:
        for column, (value, form) in enumerate(line):
            sheet.put(top, column, value, form)
            if form == "wrapped":
                sheet.plain.set_row(top, LINE_HEIGHT * ceil(len(value) / WHY_WIDTH))
            elif form == "heading_of_rows":
                sheet.plain.set_row(top, 2 * LINE_HEIGHT)
        top += 1
    return top


def _picks(answer: Answer) -> Iterator[list[Cell]]:
    """The picks, own machines and free tiers; figures on the sheet of estimates follow changes."""
    if not answer.estimates:
        yield [("no estimate answers this question", None)]
    for hint in answer.hints:
        yield [("instead", None), (hint.sentence, None)]
    here = {estimate.rank for estimate in answer.estimates}
    if answer.picks or answer.owned or answer.free:
        yield _heading("picked", answer, "why")
    picked = [(pick.name, pick.estimate, pick.reason) for pick in answer.picks]
    for name, each, why in (*picked, *((YOURS, mine.estimate, owned(mine)) for mine in answer.owned)):
        row = f"MATCH({each.rank},estimates_rank,0)" if each.rank in here else None
        yield [(name, None), *_figures(each, row), (why, "wrapped")]
    for tier in answer.free:
        hours = tier.calendar_hours
        wait = f"{hours / HOURS_PER_DAY:,.1f} days" if hours > HOURS_PER_DAY else f"{hours:.1f} hours"
        reason = f"Costs nothing and takes {wait} of calendar time, within its sessions and quota."
        yield [("free tier", None), *_figures(tier, None), (reason, "wrapped")]


def _results(answer: Answer) -> Iterator[list[Cell]]:
    """The cheapest and the fastest that picks may come from, wherever they stand on the sheet of estimates."""
    yield _heading("after your changes", answer)
    figures = compared_figures(answer)
    for words, name in RESULTS:
        compared = [(each[name], place) for place, each in enumerate(figures) if each[name] is not None]
        best = answer.estimates[min(compared)[1]]
        row = f"MATCH(MIN(estimates_{name}),estimates_{name},0)"
        place = SHOWN[FIGURES:]
        words_of_place = ((Formula(_looked_up(key, row), str(getattr(best, key))), form) for key, form, _ in place)
        yield [(words, None), *_figures(best, row)[:FIGURES], *words_of_place]


def _heading(words: str, answer: Answer, *more: str) -> list[Cell]:
    currency = answer.query.currency
    names = [f"{in_words(name)} ({currency})" if "cost" in name else in_words(name) for name, *_ in SHOWN]
    numbers, texts = names[:FIGURES], [*names[FIGURES:], *more]
    return [
        (words, "heading_of_rows"),
        *((name, "heading_of_numbers") for name in numbers),
        *((name, "heading") for name in texts),
    ]


def _figures(estimate: Estimate, row: str | None) -> list[Cell]:
    """The figures shown of an estimate; `row` is the formula of its row on the sheet of estimates, None if absent."""
    values: list[Cell] = [(getattr(estimate, name), form) for name, form, _ in SHOWN]
    if row is None:
        return values
    live = ((Formula(_looked_up(name, row), getattr(estimate, name)), form) for name, form, _ in SHOWN[:FIGURES])
    return [*live, *values[FIGURES:]]


def _looked_up(name: str, row: str) -> str:
    return f"=INDEX(estimates_{name},{row})"


def _facts(answer: Answer) -> Iterator[list[Cell]]:
    """What the answer rests on: prices, exchange rate, and what was left out."""
    for line in _told(answer):
        yield [(value, "text" if place and isinstance(value, str) else None) for place, value in enumerate(line)]


def _told(answer: Answer) -> Iterator[tuple[Any, ...]]:
    query, prices = answer.query, answer.prices
    seen = [estimate.sources.price.observed_at for estimate in answer.estimates]
    yield "estimates here, of", len(answer.estimates), answer.count
    yield "prices of (UTC)", prices.as_of
    yield "price snapshot", prices.snapshot
    if seen:
        yield "rates shown, observed (UTC)", min(seen), max(seen)
    yield "all rates, observed (UTC)", prices.oldest_observed_at, prices.newest_observed_at
    yield "currency", query.currency
    if answer.exchange:
        yield "units per US dollar", answer.exchange.per_usd, answer.exchange.date, answer.exchange.source
    if answer.best_reached:
        yield "highest accuracy of any recipe", answer.best_reached.accuracy, answer.best_reached.recipe
    for name, count in answer.rejections.items():
        yield "left out", None if name in UNCOUNTED else count, what(name, answer)
    yield from (("no new prices from", gap.source, gap.since, gap.reason) for gap in answer.prices.gaps)


def _question(answer: Answer) -> Iterator[list[Cell]]:
    """The question as understood, and how to ask another."""
    yield [("the question", "heading_of_rows"), ("as understood", "heading")]
    for name, value in asdict(answer.query).items():
        is_typed = isinstance(value, (int, float, Decimal, datetime)) and not isinstance(value, bool)
        if value not in (None, ()):
            yield [(name, None), (value, None) if is_typed else (text_of(value), "text")]
    yield [("to change it", None), (CHANGED, None)]


def _assumptions(each: Estimate) -> list[tuple[int, str, str]]:
    sources = each.sources
    return [
        (each.rank, "speed", f"{each.evidence.throughput}: {sources.throughput.source} ({sources.throughput.year})"),
        (each.rank, "accuracy", f"{each.evidence.convergence}: {sources.convergence.source}"),
        (each.rank, "price", f"{sources.price.observed_at:%Y-%m-%d}: {sources.price.source}"),
        *((each.rank, "assumption", sentence) for sentence in each.assumptions),
    ]


def _write_chart(book: Book, sheet: Sheet, top: int, answer: Answer, picks: int) -> None:
    """Cost against time, costs on logarithms where all are positive; the picks by name, whose heading is in row `picks`."""
    chart = book.plain.add_chart({"type": "scatter"})
    if answer.picks:
        chart.add_series(_named_picks(answer, picks + 1))
    last = len(answer.estimates)
    hours = ["Estimates", 1, NAMES.index("hours"), last, NAMES.index("hours")]
    for name, words, color, kind in SERIES:
        marker = {"type": kind, "size": 7, "fill": {"color": color}, "border": {"color": color}}
        costs = ["Estimates", 1, NAMES.index(name), last, NAMES.index(name)]
        chart.add_series({"name": words, "categories": hours, "values": costs, "marker": marker})
    positive = all(min(each.billed_cost, each.effective_cost) > 0 for each in answer.estimates)
    chart.set_title({"name": "Cost against time", "name_font": {"size": 11}})
    chart.set_x_axis({"name": "hours", "log_base": 10})
    chart.set_y_axis({"name": answer.query.currency, **({"log_base": 10} if positive else {})})
    chart.set_legend({"position": "bottom"})
    chart.set_size({"width": 640, "height": 360})
    sheet.plain.insert_chart(top, 0, chart, {"object_position": 3})


def _named_picks(answer: Answer, top: int) -> dict[str, Any]:
    """The picks as a series of the chart, from their rows on this sheet, an estimate that is several of them with all names."""
    bottom = top + len(answer.picks) - 1
    column = {name: number for number, (name, *_) in enumerate(SHOWN, 1)}
    first = {pick.estimate.rank: pick.name for pick in reversed(answer.picks)}
    named = {rank: ", ".join(pick.name for pick in answer.picks if pick.estimate.rank == rank) for rank in first}
    labels = [
        {"value": named[pick.estimate.rank]} if first[pick.estimate.rank] == pick.name else {"delete": True}
        for pick in answer.picks
    ]
    look = {"color": PICKED}
    return {
        "name": "picks",
        "categories": ["Summary", top, column["hours"], bottom, column["hours"]],
        "values": ["Summary", top, column["billed_cost"], bottom, column["billed_cost"]],
        "marker": {"type": "square", "size": 9, "fill": look, "border": look},
        "data_labels": {"value": True, "custom": labels, "position": "right"},
    }
