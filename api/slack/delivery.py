"""Messages that follow an answer: posted to the command's response_url, patiently, and never to anyone but Slack."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace
from prometheus_client import Counter

from api.slack.message import Message
from pricing.sources.common.http import HttpError, Reply, post_once

MOST_POSTS, WINDOW_SECONDS = 5, 30 * 60  # what Slack allows on one response_url
TIMEOUT_SECONDS = (3.05, 5.0)  # connect, each read
WAITS = (1.0, 5.0, 30.0, 120.0)
MOST_WAITING = 500
THREADS = 4
REFUSALS = (
    "invalid_blocks",
    "invalid_attachments",
    "only_one_table_allowed",
    "downloading image failed",
    "msg_blocks_too_long",
)
POSTS = Counter("costcalc_slack_posts_total", "Posts to a response_url by what became of them", ["outcome"])
log = logging.getLogger("costcalc.slack")
WAITS_SECONDS = (1.0, 5.0, 30.0, 0.0)  # before each further attempt


class Outcome(StrEnum):
    """What became of a post."""

    DELIVERED = "delivered"
    RETRIED = "retried"
    WITHOUT_BLOCKS = "without_blocks"
    GONE = "gone"
    REJECTED = "rejected"
    GIVEN_UP = "given_up"
    NOT_SLACK = "not_slack"


def is_slack(url: str, hosts: Iterable[str]) -> bool:
    """Whether a URL leads to one of these hosts, by https unless an entry names another scheme."""
    split = urlsplit(url)
    origin = f"{split.scheme}://{split.netloc}"
    origins = {host if "://" in host else f"https://{host}" for host in hosts}
    return origin in origins and url.startswith(f"{origin}/") and url.isprintable() and " " not in url


@dataclass
class Mailbox:
    """One response_url: good for five posts until `deadline` (monotonic seconds)."""

    url: str
    deadline: float
    _left: int = MOST_POSTS
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self) -> bool:
        """Uses up one post; False when none is left."""
        with self._lock:
            self._left -= 1
            return self._left >= 0 and time.monotonic() <= self.deadline


class Parcel(Struct, frozen=True):
    """A message on its way, and how often it was tried."""

    box: Mailbox
    message: Message
    tried: int = 0


@dataclass(frozen=True)
class Delivery:
    """Posts in the background. `hosts` are the origins a response_url may have; `waits` the seconds between attempts."""

    hosts: tuple[str, ...]
    waits: tuple[float, ...] = WAITS
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(THREADS, "slack-post"))
    _room: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(MOST_WAITING))

    def mailbox(self, url: str) -> Mailbox | None:
        """Where a command's later messages go; None where there is no address, or it is not Slack's."""
        if not url:
            return None
        if not is_slack(url, self.hosts):
            _count(Outcome.NOT_SLACK)
            log.warning("a response_url that is not Slack's was refused; nothing is sent to it")
            return None
        return Mailbox(url, time.monotonic() + WINDOW_SECONDS)

    def send(self, box: Mailbox, message: Message, after: float = 0.0) -> None:
        """Posts a message, `after` so many seconds, and again while Slack is busy."""
        if not self._room.acquire(blocking=False):
            _count(Outcome.GIVEN_UP)
            log.error("too many messages to Slack are waiting; one was dropped")
            return
        self._later(Parcel(box, message), after)

    def _later(self, parcel: Parcel, seconds: float) -> None:
        if not seconds:
            self._pool.submit(self._attempt, parcel)
            return
        timer = threading.Timer(seconds, self._pool.submit, (self._attempt, parcel))
        timer.daemon = True
        timer.start()

    def _attempt(self, parcel: Parcel) -> None:
        outcome, wait = self._tried(parcel)
        _count(outcome)
        if outcome is Outcome.WITHOUT_BLOCKS:
            self._later(replace(parcel, message=parcel.message.without_blocks()), 0)
        elif outcome is Outcome.RETRIED:
            self._later(replace(parcel, tried=parcel.tried + 1), wait)
        else:
            self._room.release()

    def _tried(self, parcel: Parcel) -> tuple[Outcome, float]:
        box = parcel.box
        if not box.take():
            log.error("a message to Slack was dropped: five posts or thirty minutes are used up")
            return Outcome.GIVEN_UP, 0
        wait = self.waits[min(parcel.tried, len(self.waits) - 1)]
        try:
            reply = post_once(box.url, parcel.message.payload(), TIMEOUT_SECONDS)
        except HttpError as error:
            log.warning("Slack did not accept a message: it %s", error)
            return Outcome.RETRIED, wait
        return judge(reply, parcel.message, wait)

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


def judge(reply: Reply, message: Message, wait: float) -> tuple[Outcome, float]:
    """What became of a message by Slack's reply, and the seconds to wait before the next attempt: `wait` unless Slack says."""
    body = reply.text[:500]
    refused = any(word in body for word in REFUSALS)
    if message.blocks and refused:
        log.warning("Slack refused the blocks of a message, so only its text is sent: %s %s", reply.status, body)
        return Outcome.WITHOUT_BLOCKS, 0
    if reply.status == 429 or reply.status >= 500:
        text = reply.retry_after.strip()
        is_soon = text.isascii() and text.isdecimal() and int(text) < WINDOW_SECONDS
        return Outcome.RETRIED, float(text) if is_soon else wait
    if 200 <= reply.status < 300 and not refused:
        return Outcome.DELIVERED, 0
    log.error("a message to Slack was dropped: %s %s", reply.status, body)
    return (Outcome.GONE if reply.status in (404, 410) else Outcome.REJECTED), 0


def _count(outcome: Outcome) -> None:
    POSTS.labels(outcome.value).inc()


class NotSent(Exception):
    """The message did not reach Slack."""


def post(url: str, message: Message) -> None:
    """Posts to a channel's webhook, and waits while Slack is busy. Raises NotSent."""
    for wait in WAITS_SECONDS:
        try:
            reply = post_once(url, message.content(), TIMEOUT_SECONDS)
        except HttpError as error:
            raise NotSent(f"Slack cannot be reached: {error}") from error
        outcome, seconds = judge(reply, message, wait)
        if outcome is Outcome.DELIVERED:
            return
        if outcome is not Outcome.RETRIED:
            break
        time.sleep(seconds)
    raise NotSent(f"Slack answered {reply.status} {reply.text[:200]}")
