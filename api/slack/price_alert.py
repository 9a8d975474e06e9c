"""`costcalc slack notice`: which prices moved since a day or a week ago, and how the answer to a question changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal

from api.bootstrap import CannotStart, build_once
from api.formats.words import bought, in_one_line, in_region
from api.questions.errors import Refused
from api.questions.suggestions import many
from api.reports.ask import AskReport
from api.reports.cost import CostReport
from api.reports.prices.changes import ChangeRow, change_row, changed_rows
from api.reports.prices.offers import selected
from api.service import Service
from api.settings import Settings
from api.slack.blocks import BEST
from api.slack.delivery import NotSent, WrongUse, post, webhook
from api.slack.message import Message, escape, section, table
from costcalc.answers import Answer
from costcalc.catalogue.catalogue import Catalogue
from costcalc.query import EstimateQuery

DAYS = {"day": 1, "week": 7}
MOST_MOVES = 15
NOTHING = "no price moved that much, so no message was sent"
NOT_BELOW = "the answer did not fall below that, so no message was sent"
COLUMNS = (("Machine", "left"), ("Bought", "left"), ("Before, an hour", "right"), ("Now", "right"), ("Change", "right"),
           ("Price of", "left"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class AlertRequest:
    """The price moves to report (over a `day` or a `week`, of at least `moved`, such as 10% or 0.1), and a question as typed.
    With `below` only that its answer fell below this sum within that time is reported."""

    every: str
    moved: str
    ask: str
    below: Decimal | None = None


def notify(settings: Settings, request: AlertRequest, dry_run: bool = False) -> str:
    """Make the alert and post it; with `dry_run` only make it. Returns what to print. Raises WrongUse, NotSent."""
    url = None if dry_run else webhook(settings, "or use --dry-run")
    try:
        message = notice(build_once(settings), request)
    except CannotStart as error:
        raise NotSent(str(error)) from None
    if message is None or url is None:
        return message.text if message else NOTHING if request.below is None else NOT_BELOW
    post(url, message)
    return "sent"


def notice(service: Service, request: AlertRequest) -> Message | None:
    """The alert; None where there is nothing to report. Raises WrongUse for a question that cannot be read."""
    least = _share(request.moved)
    catalogue, now = service.catalogue(), service.clock()
    since = now - timedelta(days=DAYS[request.every])
    query = _question(service, catalogue, request.ask)
    before, after = (_answer(service, query, catalogue, moment) for moment in (since, None))
    if request.below is not None:
        has_fallen = after and _least(after) < request.below and not (before and _least(before) < request.below)
        return _fallen(request, CostReport(service, catalogue, query).answer) if has_fallen else None
    asked = "\n".join(_saved(request.ask, query, before, after))
    moves = sorted(
        _moves(service.at(catalogue, since), since, now, least), key=lambda each: abs(each.change or 0), reverse=True
    )
    if not moves:
        return None
    title = f"*{many(len(moves), 'price')} moved by {least:.0%} or more since {since:%Y-%m-%d}*"
    shown = table(COLUMNS, (_row(each) for each in moves[:MOST_MOVES]))
    told = "\n".join([title, *(escape(" ".join(_row(each))) for each in moves[:BEST]), asked])
    return Message(told, (section(title), shown, section(asked)))


def _share(text: str) -> float:
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = 0.0
    if not 0 < share < 100:
        raise WrongUse(f"--moved {text}: write a share such as 10% or 0.1")
    return share


def _moves(catalogue: Catalogue, since: datetime, now: datetime, least: float) -> Iterator[ChangeRow]:
    before, after = (selected(catalogue, moment, {}) for moment in (since, now))
    previous, current = changed_rows(catalogue, before, after)
    for old, row in zip(previous.tolist(), current.tolist(), strict=True):
        if old >= 0:
            change = change_row(catalogue.offer(old), catalogue.offer(row))
            if change.change is not None and abs(change.change) >= least:
                yield change


def _row(each: ChangeRow) -> tuple[str, ...]:
    return (
        in_region(f"{each.provider} {each.instance_type}", each.region),
        bought(each),
        f"{each.previous_hourly_rate:.4f} {each.currency}",
        f"{each.hourly_rate:.4f} {each.currency}",
        f"{each.change:+.1%}",
        f"{each.observed_at:%Y-%m-%d}",
    )


def _question(service: Service, catalogue: Catalogue, text: str) -> EstimateQuery:
    try:
        report = AskReport(service.seen_by(None), catalogue, text)
        meant, cost = report.understanding, report.cost
    except Refused as error:
        raise WrongUse(f"--ask {text}: {error}") from None
    if cost is None or meant.asked:
        raise WrongUse(f"--ask {text}: {'; '.join(meant.asked)}")
    return cost.query


def _fallen(request: AlertRequest, answer: Answer) -> Message:
    """The answer that costs less than the sum now."""
    title = f"*{escape(request.ask)}* costs less than {request.below:,.2f} {answer.query.currency}"
    told = "\n".join([title, *map(escape, answer.verdict)])
    return Message(told, (section(told),))


def _least(answer: Answer) -> Decimal:
    return answer.first.cost(answer.query.basis).cost


def _saved(text: str, query: EstimateQuery, before: Answer | None, after: Answer | None) -> Iterator[str]:
    """What the question was answered then, and is now."""
    yield f"*{escape(text)}*"
    if not before or not after:
        yield "has no answer now" if before else "had no answer then" if after else "has no answer, then or now"
        return
    then = {pick.name: in_one_line(pick.estimate, query.basis) for pick in before.picks}
    for pick in after.picks:
        now, was = in_one_line(pick.estimate, query.basis), then.get(pick.name, "none")
        yield escape(f"{pick.name}: {now}" + ("" if was == now else f" (was {was})"))


def _answer(service: Service, query: EstimateQuery, catalogue: Catalogue, as_of: datetime | None) -> Answer | None:
    answer = service.answer(replace(query, as_of=as_of or query.as_of, limit=1, offset=0), catalogue)
    return answer if answer.estimates else None
