"""`costcalc slack notice`: which prices moved since a day or a week ago, and how the answer to a question changed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from api.bootstrap import CannotStart, build_once
from api.formats.words import bought, in_one_line, in_region
from api.questions.errors import Refused
from api.reports.prices.changes import ChangeRow, change_row, changed_rows
from api.reports.prices.offers import selected
from api.service import Service
from api.settings import Settings
from api.slack.blocks import BEST
from api.slack.delivery import TIMEOUT_SECONDS, Outcome, is_slack, judge
from api.slack.grammar import Misread
from api.slack.message import Message, escape, section, table
from api.slack.reply import Replier
from costcalc.answers import Answer
from costcalc.catalogue.catalogue import Catalogue
from costcalc.query import EstimateQuery
from pricing.sources.common.http import HttpError, post_once

DAYS = {"day": 1, "week": 7}
MOST_MOVES = 15
WAITS_SECONDS = (1.0, 5.0, 30.0, 0.0)  # before each further attempt
NOTHING = "no price moved that much, so nothing was sent"
COLUMNS = (("Machine", "left"), ("Bought", "left"), ("Before, an hour", "right"), ("Now", "right"), ("Change", "right"),
           ("Price of", "left"))  # fmt: skip


class WrongUse(Exception):
    """The request is wrong; the message says what to write."""


class NotSent(Exception):
    """The alert did not reach Slack."""


@dataclass(frozen=True, slots=True)
class AlertRequest:
    """The price moves to report (over a `day` or a `week`, of at least `moved`, such as 10% or 0.1), and a question as typed."""

    every: str
    moved: str
    ask: str


def notify(settings: Settings, request: AlertRequest, dry_run: bool = False) -> str:
    """Make the alert and post it; with `dry_run` only make it. Returns what to print. Raises WrongUse, NotSent."""
    url = settings.slack_webhook_url
    if not dry_run and not (url and is_slack(url, settings.slack_response_hosts)):
        raise WrongUse(
            "set COSTCALC_SLACK_WEBHOOK_URL to the channel's https://hooks.slack.com/services/... or use --dry-run"
        )
    try:
        message = notice(build_once(settings), request)
    except CannotStart as error:
        raise NotSent(str(error)) from None
    if message is None or dry_run or url is None:
        return message.text if message else NOTHING
    _post(url, message)
    return "sent"


def notice(service: Service, request: AlertRequest) -> Message | None:
    """The alert; None if no price moved enough. Raises WrongUse for a question that cannot be read."""
    least = _share(request.moved)
    catalogue, now = service.catalogue(), service.clock()
    since = now - timedelta(days=DAYS[request.every])
    asked = "\n".join(_saved(service, catalogue, request.ask, since))
    moves = sorted(
        _moves(service.at(catalogue, since), since, now, least), key=lambda each: abs(each.change or 0), reverse=True
    )
    if not moves:
        return None
    title = f"*{len(moves)} price{'s'[: len(moves) > 1]} moved by {least:.0%} or more since {since:%Y-%m-%d}*"
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


def _saved(service: Service, catalogue: Catalogue, text: str, since: datetime) -> Iterator[str]:
    """What the question was answered then, and is now."""
    try:
        _, query, _ = Replier(service).question(text, catalogue)
    except (Misread, Refused) as error:
        raise WrongUse(f"--ask {text}: {error}") from None
    before, after = (_answer(service, query, catalogue, moment) for moment in (since, None))
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


def _post(url: str, message: Message) -> None:
    """Post to the webhook: wait while Slack is busy, and send the text alone if Slack refuses the blocks. Raises NotSent."""
    for wait in WAITS_SECONDS:
        try:
            reply = post_once(url, message.content(), TIMEOUT_SECONDS)
        except HttpError as error:
            raise NotSent(f"Slack cannot be reached: {error}") from error
        outcome, seconds = judge(reply, message, wait)
        if outcome is Outcome.DELIVERED:
            return
        if outcome is Outcome.WITHOUT_BLOCKS:
            message = message.without_blocks()
        elif outcome is not Outcome.RETRIED:
            break
        time.sleep(seconds)
    raise NotSent(f"Slack answered {reply.status} {reply.text[:200]}")
