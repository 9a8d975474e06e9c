"""An answer as a Slack message: the best estimates in a table, what they assume, and links to the whole answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import parse_qsl

from api.formats import words
from api.formats.words import bought, in_region, money
from api.questions.links import to_url
from api.reports.left_out import left_out
from api.slack.message import LONGEST_URL, Block, Message, context, escape, image, link, section, table
from costcalc.answers import Answer, Estimate
from costcalc.hardware import counted

BEST = 5
COLUMNS = (
    ("#", "right"), ("Machine", "left"), ("Accelerators", "left"), ("Bought", "left"), ("Time", "right"),
    ("80 % range", "right"), ("Cost", "right"), ("80 % range", "right"), ("Price of", "left"), ("Recipe", "left"),
)  # fmt: skip
EFFECTIVE = ("Share of use", "right")
_IN_TITLE = ("model", "target", "metric", "sort")


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses of the full answer; `picture` is None unless a public address is configured."""

    page: str
    csv: str
    excel: str
    picture: str | None = None


def message(answer: Answer, ends: FrontierPoints | None, links: Links, most: int, shared: bool) -> Message:
    """The reply with at most `most` estimates, the best first."""
    best = answer.estimates[:most]
    if not best:
        return _nothing(answer, links, shared)
    blocks = [section(_title(answer)), _table(answer, best)]
    blocks += [section("\n".join(_hints(answer)))] if answer.hints else []
    blocks += [section(_frontier(answer, ends))] if ends else []
    blocks += [context(_basis(answer, best)), section(_addresses(links))]
    return Message(_in_words(answer, best, ends, links), tuple(blocks), shared)


def picture(answer: Answer, links: Links, shared: bool) -> Message | None:
    """The picture as a message of its own: Slack refuses a whole message whose picture it cannot fetch at once.

    https://github.com/slackapi/python-slack-sdk/issues/1782
    """
    if links.picture is None or len(links.picture) > LONGEST_URL or not answer.estimates:
        return None
    told = f"Cost against time: {_goal(answer)}"
    return Message(link(links.picture, told), (image(links.picture, told),), shared)


def _goal(answer: Answer) -> str:
    query = answer.query
    percent = (Decimal(str(query.target)) * 100).normalize()
    return f"{query.model} to {percent:f} % {query.metric.value.replace('top', 'top-')}"


def _title(answer: Answer) -> str:
    order = "fastest" if answer.query.sort == "time" else "cheapest"
    many = f"{order} first of {answer.count:,}" if answer.count else "no estimate matches these filters"
    title = f"*{escape(_goal(answer))}* · {many} · prices known on {answer.prices.as_of:%Y-%m-%d}"
    asked = " · ".join(f"{escape(name)} {escape(value)}" for name, value in _asked(answer))
    return f"{title}\n{asked}" if asked else title


def _asked(answer: Answer) -> Iterator[tuple[str, str]]:
    """What was asked beyond the title and the defaults."""
    for name, value in parse_qsl(to_url(answer.query).partition("?")[2]):
        if name not in _IN_TITLE:
            yield name.replace("_", " "), value


def _table(answer: Answer, best: tuple[Estimate, ...]) -> Block:
    effective = answer.query.basis == "effective"
    return table((*COLUMNS, *([EFFECTIVE] if effective else [])), (_row(each, effective) for each in best))


def _row(each: Estimate, effective: bool) -> tuple[str, ...]:
    row = (
        str(each.rank),
        machine(each),
        counted(each.accelerators, each.accelerator, " × "),
        bought(each),
        f"{each.hours:,.2f} h",
        f"{each.hours_low:,.2f}–{each.hours_high:,.2f} h",
        money(each.billed_cost, each.currency),
        f"{money(each.billed_cost_low, each.currency)}–{money(each.billed_cost_high, each.currency)}",
        f"{each.sources.price.observed_at:%Y-%m-%d}",
        each.recipe,
    )
    return (*row, money(each.effective_cost, each.currency)) if effective else row


def _frontier(answer: Answer, ends: FrontierPoints) -> str:
    kinds = (("cheapest", ends.cheapest), ("fastest", ends.fastest), ("best of both", ends.balanced))
    line = " · ".join(f"*{kind}* {escape(short(each, answer))}" for kind, each in kinds)
    return f"{line}{' (costs are shares of use)' if answer.query.basis == 'effective' else ''}"


def _basis(answer: Answer, best: tuple[Estimate, ...]) -> str:
    """The assumptions of the estimates shown, the exchange rate, silent price sources, and what was left out."""
    lines = [f"• {escape(line)}" for line in _assumed(best)]
    if answer.exchange:
        lines.append(f"• 1 USD = {answer.exchange.per_usd:.4f} {answer.exchange.currency} on {answer.exchange.date}")
    lines += [f"• No new prices from {escape(gap.source)}: {escape(gap.reason)}" for gap in answer.prices.gaps[:3]]
    return "\n".join(["*Assumed*", *lines, *_left_out(answer)])


def _assumed(best: tuple[Estimate, ...]) -> Iterator[str]:
    holders: dict[str, list[str]] = {}
    for each in best:
        for line in each.assumptions:
            holders.setdefault(line, []).append(f"#{each.rank}")
    common = [line for line, ranks in holders.items() if len(ranks) == len(best)]
    yield from common
    for line, ranks in holders.items():
        if line not in common:
            yield f"{', '.join(ranks)}: {line}"


def _left_out(answer: Answer) -> Iterator[str]:
    if answer.rejections:
        yield f"• Left out: {escape(left_out(answer))}"


def _addresses(links: Links) -> str:
    named = (
        (links.page, "Full answer"),
        (links.csv, "CSV"),
        (links.excel, "Excel"),
        (links.picture, "Picture"),
    )
    return " · ".join(link(url, words) for url, words in named if url)


def _in_words(answer: Answer, best: tuple[Estimate, ...], ends: FrontierPoints | None, links: Links) -> str:
    rows = (
        f"{each.rank}. {escape(short_billed(each))}, price of {each.sources.price.observed_at:%Y-%m-%d}"
        for each in best
    )
    told = [_title(answer), *rows, *([_frontier(answer, ends)] if ends else []), _addresses(links)]
    return "\n".join(told)


def _hints(answer: Answer) -> Iterator[str]:
    yield from (f"Instead: {escape(hint.sentence)}" for hint in answer.hints)


def _nothing(answer: Answer, links: Links, shared: bool) -> Message:
    lines = [_title(answer)]
    if answer.best_reached:
        best = answer.best_reached
        lines.append(f"The highest accuracy of any recipe is {best.accuracy:g} ({escape(best.recipe)}).")
    text = "\n".join([*lines, *_hints(answer), *_left_out(answer), _addresses(links)])
    return Message(text, (section(text),), shared)


@dataclass(frozen=True, slots=True)
class FrontierPoints:
    """Three estimates of the frontier: the cheapest, the fastest, and the one with the least cost times hours."""

    cheapest: Estimate
    fastest: Estimate
    balanced: Estimate


def frontier_points(frontier: Answer) -> FrontierPoints | None:
    """The three points of an answer that lists the frontier alone; None if it is empty."""
    points = frontier.estimates
    if not points:
        return None
    return FrontierPoints(
        cheapest=min(points, key=lambda each: (judged(each, frontier), each.hours)),
        fastest=min(points, key=lambda each: (each.hours, judged(each, frontier))),
        balanced=min(points, key=lambda each: max(float(judged(each, frontier)), 0.01) * each.hours),
    )


def judged(each: Estimate, answer: Answer) -> Decimal:
    """The cost by the question's basis: billed or effective."""
    return each.effective_cost if answer.query.basis == "effective" else each.billed_cost


def machine(each: Estimate) -> str:
    """Provider, number of machines, instance type and region."""
    return in_region(words.machine(each), each.region)


def short(each: Estimate, answer: Answer) -> str:
    """An estimate in one line: cost by the question's basis, hours, machine."""
    cost = money(judged(each, answer), each.currency)
    return f"{cost} in {each.hours:,.2f} h on {machine(each)} ({bought(each)})"


def short_billed(each: Estimate) -> str:
    """An estimate in one line: billed cost with its 80 % range, hours, machine."""
    low, high = money(each.billed_cost_low, each.currency), money(each.billed_cost_high, each.currency)
    cost = f"{money(each.billed_cost, each.currency)} ({low}–{high})"
    return f"{cost} in {each.hours:,.2f} h on {machine(each)} ({bought(each)})"
