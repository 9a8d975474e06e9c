"""An answer as a Slack message: the verdict, the best estimates in a table, and links to what they rest on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from api.formats import words
from api.formats.column import Column
from api.formats.words import hours, how_fresh, in_one_line, marks_explained, waiting
from api.reports.left_out import left_out
from api.reports.next_step import without_a_terminal
from api.slack.message import Message, escape, link, section, small_print, table_of
from api.slack.message import picture as picture_at
from costcalc.answers import Answer, Estimate
from costcalc.money import money
from costcalc.tasks.goals import metric_name, training_in_words
from costcalc.training import Metric

BEST = 5


class Links(Struct, frozen=True):
    """Addresses of the full answer on the service at `root`; `why` is that of the first pick term by term, `picture` None
    unless a public address is configured."""

    root: str
    page: str
    csv: str
    excel: str
    why: str | None = None
    picture: str | None = None


def message(answer: Answer, links: Links, many: int | None, shared: bool) -> Message:
    """The reply: the verdict, then the picks with a few others, or the list where so `many` estimates are asked for."""
    best = answer.best[:BEST] if many is None else answer.estimates[:many]
    verdict = escape("\n".join(without_a_terminal(answer, links.root)))
    title, addresses = _title(answer), _addresses(links)
    if not best:
        reasons = [f"• Left out: {escape(left_out(answer))}"] if answer.rejections else []
        return replace(Message.of("\n".join([title, verdict, *reasons, addresses])), shared=shared)
    hints, aside = "\n".join(f"Instead: {escape(hint.sentence)}" for hint in answer.hints), escape(words.folded(answer))
    owned = _bulleted("*Your own:*", map(words.owned, answer.owned))
    free = _bulleted("*Free, if you can wait:*", (f"{words.located(each)}: {waiting(each)}" for each in answer.free))
    marks = [*marks_explained((*best, *(pick.estimate for pick in answer.picks)))]
    rows = (f"{_named(each, answer)}. {escape(in_one_line(each, answer.query.basis))}" for each in best)
    notes = "\n".join([*marks, *_notes(answer)])
    blocks = (
        *(section(title), section(verdict), table_of([*_columns(answer)], best)),
        *(section(text) for text in (hints, aside, owned, free) if text),
        *([small_print(notes)] if notes else []),
        section(addresses),
    )
    lines = (title, verdict, addresses, *rows, aside, hints, owned, free, *marks)
    return Message("\n".join(filter(None, lines)), blocks, shared)


def picture(answer: Answer, links: Links, shared: bool) -> Message | None:
    """The picture that follows the reply."""
    if links.picture is None or not answer.estimates:
        return None
    return picture_at(links.picture, f"Cost against time: {_goal(answer)}", shared)


def _goal(answer: Answer) -> str:
    query = answer.query
    if not isinstance(query.metric, Metric):
        return training_in_words(query)
    percent = (Decimal(str(query.target)) * 100).normalize()
    return f"{query.model} to {percent:f} % {metric_name(query.metric)}"


def _title(answer: Answer) -> str:
    many = f"picks first of {answer.count:,}" if answer.count else "no estimate answers this question"
    return (
        f"*{escape(_goal(answer))}* · {many} · prices of {answer.prices.as_of:%Y-%m-%d} ({how_fresh(answer.freshness)})"
    )


def _columns(answer: Answer) -> Iterator[Column]:
    yield Column("#", lambda row: _named(row, answer), is_number=True)
    yield Column("Machine", words.located)
    yield Column("Accelerators", words.accelerators)
    yield Column("Bought", words.bought)
    yield Column("Time", words.time, is_number=True)
    yield Column("80 % range", lambda row: f"{hours(row.hours_low)}–{hours(row.hours_high)} h", is_number=True)
    yield Column("Cost", lambda row: money(row.billed_cost, row.currency), is_number=True)
    yield Column(
        "80 % range",
        lambda row: f"{money(row.billed_cost_low, row.currency)}–{money(row.billed_cost_high, row.currency)}",
        is_number=True,
    )
    yield Column("Price of", words.seen)
    yield Column("Recipe", lambda row: row.recipe)
    if answer.query.basis == "effective":
        yield Column("Share of use", lambda row: money(row.effective_cost, row.currency), is_number=True)


def _named(each: Estimate, answer: Answer) -> str:
    return words.names_of(each, answer) or str(each.rank)


def _bulleted(heading: str, lines: Iterable[str]) -> str:
    """The lines below their heading; nothing where there are none."""
    bullets = [f"• {escape(line)}" for line in lines]
    return "\n".join([heading, *bullets]) if bullets else ""


def _notes(answer: Answer) -> Iterator[str]:
    """The exchange rate, and silent sources."""
    if answer.exchange:
        yield f"1 USD = {answer.exchange.per_usd:.4f} {answer.exchange.currency} on {answer.exchange.date}."
    yield from (f"No new prices from {escape(gap.source)}: {escape(gap.reason)}." for gap in answer.prices.gaps[:3])


def _addresses(links: Links) -> str:
    named = (
        (links.page, "Full answer"),
        (links.why, "Why this figure"),
        (links.csv, "CSV"),
        (links.excel, "Excel"),
        (links.picture, "Picture"),
    )
    return " · ".join(link(url, words) for url, words in named if url)
