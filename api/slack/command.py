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
from typing import cast
from urllib.parse import parse_qs

from flask import Blueprint, Request, Response, current_app, request
from prometheus_client import Counter

from api.questions.errors import Refused
from api.reports.documents import to_json
from api.service import Service
from api.settings import Settings
from api.slack.delivery import Delivery, Mailbox
from api.slack.message import Message
from api.slack.replay import Replays, shared_memory
from api.slack.reply import Replier, Replies
from api.slack.signing import Proof, check
from api.web.responses import JSON_TYPE

blueprint = Blueprint("slack", __name__)
PATH = "/slack/cost"
EXTENSION = "costcalc.slack"
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


class Replayed(Exception):
    """The request was answered before."""


@dataclass(frozen=True)
class SlashCommand:
    """All that answers commands; `secret` None means that Slack is not set up."""

    secret: str | None
    public_url: str | None
    replier: Replier
    replays: Replays
    delivery: Delivery
    clock: Callable[[], float] = time.time
    patience: float = ACK_SECONDS
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(THREADS, "slack"))

    def handle(self, asked: Request) -> Response:
        """The HTTP answer. Raises Refused for what does not come from Slack, before anything in it is parsed."""
        if not self.secret:
            raise Refused(
                404, "Slack is not set up here: set COSTCALC_SLACK_SIGNING_SECRET to the app's signing secret"
            )
        body = asked.get_data(cache=False)
        signature = asked.headers.get("X-Slack-Signature", "")
        if not signature and _SSL_CHECK.fullmatch(body):
            # Slack looks at our certificate so, now and then; nothing is done
            return _counted("ssl_check", Response(content_type="text/plain; charset=utf-8"))
        self._prove(asked, signature, body)
        if asked.mimetype != FORM_TYPE:
            raise _refusal(415, "not_form", f"send the command as {FORM_TYPE}, as Slack does")
        fields = _form(body)
        if fields.get("ssl_check") == "1":
            return _counted("ssl_check", Response(content_type="text/plain; charset=utf-8"))
        base = (self.public_url or _own_address(asked)).rstrip("/")
        job = self._pool.submit(self._work, signature, fields.get("text", ""), base)
        return self._in_time(job, self.delivery.mailbox(fields.get("response_url", "")))

    def _prove(self, asked: Request, signature: str, body: bytes) -> None:
        stamp = asked.headers.get("X-Slack-Request-Timestamp", "")
        proof = check(self.secret or "", stamp, signature, body, self.clock())
        if proof is Proof.BAD:
            raise _refusal(401, "bad_signature", "this is not signed by Slack")
        if proof is Proof.STALE:
            raise _refusal(401, "stale", "this was signed more than five minutes ago, or ahead: compare the clocks")

    def _work(self, signature: str, text: str, base: str) -> Replies:
        if not self.replays.is_new(signature, self.clock()):
            raise Replayed
        return self.replier.reply(text, base)

    def _in_time(self, job: Future[Replies], box: Mailbox | None) -> Response:
        try:
            replies = job.result(self.patience)
        except TookLong:
            return self._acknowledged(job, box)
        except Replayed:
            raise _refusal(401, "replayed", "this request was answered before") from None
        except Exception:
            log.exception("a slash command failed")
            return _told(FAILED, "failed")
        if box is None:
            return _told(replies.together(), "answered")
        if replies.picture:
            self.delivery.send(box, replies.picture, PICTURE_SECONDS)
        return _told(replies.answer, "answered")

    def _acknowledged(self, job: Future[Replies], box: Mailbox | None) -> Response:
        if box is None:
            return _told(TOO_LONG, "gave_up")
        job.add_done_callback(partial(self._late, box))
        return _told(WORKING, "acknowledged")

    def _late(self, box: Mailbox, job: Future[Replies]) -> None:
        error = job.exception()
        if isinstance(error, Replayed):
            return
        if error is not None:
            log.error("a slash command failed", exc_info=error)
        replies = Replies(FAILED) if error else job.result()
        self.delivery.send(box, replies.answer)
        if replies.picture:
            self.delivery.send(box, replies.picture, PICTURE_SECONDS)

    def close(self) -> None:
        """Ends the threads."""
        self._pool.shutdown(cancel_futures=True)
        self.delivery.close()


def slash_command(service: Service, settings: Settings) -> SlashCommand:
    """The command as the settings want it. A picture needs an address that Slack reaches without a token."""
    pictures = bool(settings.public_url) and not settings.api_tokens
    return SlashCommand(
        settings.slack_signing_secret,
        settings.public_url,
        Replier(service, pictures),
        Replays(shared_memory(settings)),
        Delivery(settings.slack_response_hosts),
    )


@blueprint.post(PATH)
def command() -> Response:
    """What a person typed in Slack, answered there."""
    return cast(SlashCommand, current_app.extensions[EXTENSION]).handle(request)


def _form(body: bytes) -> dict[str, str]:
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise _refusal(400, "not_form", f"the form has more than {MOST_FIELDS} fields") from None
    return {name: values[-1] for name, values in fields.items()}


def _own_address(asked: Request) -> str:
    """Where Slack reached us; a proxy in front says whether by https."""
    secure = asked.headers.get("X-Forwarded-Proto", "").split(",")[0].strip() == "https"
    return asked.root_url.replace("http://", "https://", 1) if secure else asked.root_url


def _told(message: Message, outcome: str) -> Response:
    response = Response(to_json(message.payload()), content_type=JSON_TYPE, headers={"Cache-Control": "no-store"})
    return _counted(outcome, response)


def _refusal(status: int, outcome: str, detail: str) -> Refused:
    COMMANDS.labels(outcome).inc()
    return Refused(status, detail)


def _counted(outcome: str, response: Response) -> Response:
    COMMANDS.labels(outcome).inc()
    return response
