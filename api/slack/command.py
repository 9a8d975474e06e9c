"""`POST /slack/cost`: the slash command, proved to be Slack's, answered in time, whatever was typed."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookLong
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from typing import TypeVar
from urllib.parse import parse_qs

from prometheus_client import Counter

from api.questions.errors import Refused
from api.service import Service
from api.settings import Settings
from api.slack.delivery import Delivery, Mailbox
from api.slack.message import Message
from api.slack.reply import Replier, Replies
from api.slack.verification import Proof, Replays, check, shared_memory

ACK_SECONDS = 1.5  # Slack waits for 3 s, the network included
PICTURE_SECONDS = 1.0  # the picture must not overtake the answer
THREADS = 8
MOST_FIELDS = 100
FORM_TYPE = "application/x-www-form-urlencoded"
WORKING = Message("This takes a moment: the answer follows.")
TOO_LONG = Message("This took too long: ask again in a moment.")
FAILED = Message("The service failed to answer this; the failure is in its log.")
COMMANDS = Counter("costcalc_slack_commands_total", "Slash commands by what became of them", ["outcome"])
_SSL_CHECK = re.compile(rb"(?:[\w=&.%-]{0,200}&)?ssl_check=1(?:&[\w=&.%-]{0,200})?")
log = logging.getLogger("costcalc.slack")

M = TypeVar("M", bound=Message | None)


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command as it arrived: the form in `body`, what proves that Slack sent it, and the `address` it came to."""

    body: bytes
    media_type: str
    signature: str
    timestamp: str
    address: str


@dataclass(frozen=True)
class SlashCommand:
    """All that answers commands; `secret` None means that Slack is not set up."""

    secret: str | None
    public_url: str | None
    replier: Replier
    replays: Replays
    delivery: Delivery
    patience: float
    clock: Callable[[], float] = time.time
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(THREADS, "slack"))

    def handle(self, command: Command) -> Message | None:
        """What to answer; None where Slack only looks at our certificate. Raises Refused for what Slack did not send."""
        if not self.secret:
            raise Refused(
                404, "Slack is not set up here: set COSTCALC_SLACK_SIGNING_SECRET to the app's signing secret"
            )
        if not command.signature and _SSL_CHECK.fullmatch(command.body):
            return _counted("ssl_check", None)
        proof = check(self.secret or "", command.timestamp, command.signature, command.body, self.clock())
        if proof is Proof.BAD:
            raise _refusal(401, "bad_signature", "this is not signed by Slack")
        if proof is Proof.STALE:
            raise _refusal(401, "stale", "this was signed more than five minutes ago, or ahead: compare the clocks")
        if command.media_type != FORM_TYPE:
            raise _refusal(415, "not_form", f"send the command as {FORM_TYPE}, as Slack does")
        fields = _form(command.body)
        if fields.get("ssl_check") == "1":
            return _counted("ssl_check", None)
        began = time.monotonic()
        if not self.replays.is_new(command.signature, self.clock()):
            raise _refusal(401, "replayed", "this request was answered before")
        base = (self.public_url or command.address).rstrip("/")
        job = self._pool.submit(self.replier.reply, fields.get("text", ""), base)
        left = max(0.0, began + self.patience - time.monotonic())
        return self._in_time(job, left, self.delivery.mailbox(fields.get("response_url", "")))

    def _in_time(self, job: Future[Replies], seconds: float, box: Mailbox | None) -> Message:
        try:
            replies = job.result(seconds)
        except TookLong:
            if box is None:
                return _counted("gave_up", TOO_LONG)
            job.add_done_callback(partial(self._late, box))
            return _counted("acknowledged", WORKING)
        except Exception:
            log.exception("a slash command failed")
            return _counted("failed", FAILED)
        if box is None:
            return _counted("answered", replies.together())
        if replies.picture:
            self.delivery.send(box, replies.picture, PICTURE_SECONDS)
        return _counted("answered", replies.answer)

    def _late(self, box: Mailbox, job: Future[Replies]) -> None:
        error = job.exception()
        if error is not None:
            log.error("a slash command failed", exc_info=error)
        replies = Replies(FAILED) if error else job.result()
        self.delivery.send(box, replies.answer)
        if replies.picture:
            self.delivery.send(box, replies.picture, PICTURE_SECONDS)

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        self.delivery.close()


def slash_command(service: Service, settings: Settings) -> SlashCommand:
    """The command as the settings want it. A picture needs `resvg_py` and an address that Slack reaches without a token."""
    pictures = bool(settings.public_url and not settings.api_tokens and find_spec("resvg_py"))
    return SlashCommand(
        settings.slack_signing_secret,
        settings.public_url,
        Replier(service, pictures),
        Replays(shared_memory(settings)),
        Delivery(settings.slack_response_hosts),
        ACK_SECONDS,
    )


def _form(body: bytes) -> dict[str, str]:
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise _refusal(400, "not_form", f"the form has more than {MOST_FIELDS} fields") from None
    return {name: values[-1] for name, values in fields.items()}


def _refusal(status: int, outcome: str, detail: str) -> Refused:
    COMMANDS.labels(outcome).inc()
    return Refused(status, detail)


def _counted(outcome: str, message: M) -> M:
    COMMANDS.labels(outcome).inc()
    return message
