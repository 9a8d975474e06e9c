"""An answer as a Slack message: the verdict, the best estimates in a table, and links to what they rest on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from api.formats import words
from api.formats.words import bought, hours, how_fresh, in_one_line, marks_explained, seen, time, waiting
from api.reports.left_out import left_out
from api.reports.next_step import without_a_terminal
from api.slack.message import LONGEST_URL, Block, Message, escape, image, link, section, small_print, table
from costcalc.answers import Answer, Estimate
from costcalc.hardware import counted
from costcalc.money import money
from costcalc.tasks.goals import metric_name, training_in_words
from costcalc.training import Metric

BEST = 5
COLUMNS = (
    ("#", "right"), ("Machine", "left"), ("Accelerators", "left"), ("Bought", "left"), ("Time", "right"),
    ("80 % range", "right"), ("Cost", "right"), ("80 % range", "right"), ("Price of", "left"), ("Recipe", "left"),
)  # fmt: skip
EFFECTIVE = ("Share of use", "right")


@dataclass(frozen=True, slots=True)
class Links:
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
    if not best:
        reasons = [f"• Left out: {escape(left_out(answer))}"] if answer.rejections else []
        text = "\n".join([_title(answer), _verdict(answer, links), *reasons, _addresses(links)])
        return Message(text, (section(text),), shared)
    blocks = [section(_title(answer)), section(_verdict(answer, links)), _table(answer, best)]
    texts = "\n".join(_hints(answer)), escape(words.folded(answer)), _owned(answer), _free(answer)
    blocks += [section(text) for text in texts if text]
    notes = "\n".join(_notes(answer, best))
    blocks += [*([small_print(notes)] if notes else []), section(_addresses(links))]
    rows = (
        f"{words.names_of(each, answer) or each.rank}. {escape(in_one_line(each, answer.query.basis))}" for each in best
    )
    lines = (
        _title(answer),
        _verdict(answer, links),
        _addresses(links),
        *rows,
        escape(words.folded(answer)),
        *_hints(answer),
        _owned(answer),
        _free(answer),
        *_marks(answer, best),
    )
    return Message("\n".join(filter(None, lines)), tuple(blocks), shared)


def picture(answer: Answer, links: Links, shared: bool) -> Message | None:
    """The picture as a message of its own: Slack refuses a whole message whose picture it cannot fetch at once.

    https://github.com/slackapi/python-slack-sdk/issues/1782
    """
    if links.picture is None or len(links.picture) > LONGEST_URL or not answer.estimates:
        return None
    title = f"Cost against time: {_goal(answer)}"
    return Message(link(links.picture, title), (image(links.picture, title),), shared)


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


def _table(answer: Answer, best: tuple[Estimate, ...]) -> Block:
    effective = answer.query.basis == "effective"
    return table((*COLUMNS, *([EFFECTIVE] if effective else [])), (_row(each, answer, effective) for each in best))


def _row(each: Estimate, answer: Answer, effective: bool) -> tuple[str, ...]:
    row = (
        words.names_of(each, answer) or str(each.rank),
        words.located(each),
        counted(each.accelerators, each.accelerator, " × "),
        bought(each),
        time(each),
        f"{hours(each.hours_low)}–{hours(each.hours_high)} h",
        money(each.billed_cost, each.currency),
        f"{money(each.billed_cost_low, each.currency)}–{money(each.billed_cost_high, each.currency)}",
        seen(each),
        each.recipe,
    )
    return (*row, money(each.effective_cost, each.currency)) if effective else row


def _verdict(answer: Answer, links: Links) -> str:
    return escape("\n".join(without_a_terminal(answer, links.root)))


def _owned(answer: Answer) -> str:
    if not answer.owned:
        return ""
    return "\n".join(["*Your own:*", *(f"• {escape(words.owned(each))}" for each in answer.owned)])


def _free(answer: Answer) -> str:
    if not answer.free:
        return ""
    return "\n".join(
        [
            "*Free, if you can wait:*",
            *(f"• {escape(f'{words.located(each)}: {waiting(each)}')}" for each in answer.free),
        ]
    )


def _notes(answer: Answer, best: tuple[Estimate, ...]) -> Iterator[str]:
    """What marks mean, the exchange rate, and silent sources."""
    yield from _marks(answer, best)
    if answer.exchange:
        yield f"1 USD = {answer.exchange.per_usd:.4f} {answer.exchange.currency} on {answer.exchange.date}."
    yield from (f"No new prices from {escape(gap.source)}: {escape(gap.reason)}." for gap in answer.prices.gaps[:3])


def _marks(answer: Answer, best: tuple[Estimate, ...]) -> Iterator[str]:
    yield from marks_explained((*best, *(pick.estimate for pick in answer.picks)))


def _addresses(links: Links) -> str:
    named = (
        (links.page, "Full answer"),
        (links.why, "Why this figure"),
        (links.csv, "CSV"),
        (links.excel, "Excel"),
        (links.picture, "Picture"),
    )
    return " · ".join(link(url, words) for url, words in named if url)


def _hints(answer: Answer) -> Iterator[str]:
    yield from (f"Instead: {escape(hint.sentence)}" for hint in answer.hints)
