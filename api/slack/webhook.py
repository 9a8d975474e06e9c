"""What commands post to a channel by themselves, to the incoming webhook of the settings."""

from __future__ import annotations

import time

from api.settings import Settings
from api.slack.delivery import TIMEOUT_SECONDS, Outcome, is_slack, judge
from api.slack.message import Message
from pricing.sources.common.http import HttpError, post_once

WAITS_SECONDS = (1.0, 5.0, 30.0, 0.0)  # before each further attempt


class WrongUse(Exception):
    """The request is wrong; the message says what to write."""


class NotSent(Exception):
    """The message did not reach Slack."""


def webhook(settings: Settings, otherwise: str) -> str:
    """Where to post. Raises WrongUse where no address of Slack's is set, saying what one may do `otherwise`."""
    url = settings.slack_webhook_url
    if not (url and is_slack(url, settings.slack_response_hosts)):
        raise WrongUse(
            f"set COSTCALC_SLACK_WEBHOOK_URL to the channel's https://hooks.slack.com/services/... {otherwise}"
        )
    return url


def post(url: str, message: Message) -> None:
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
