"""Whether a request is Slack's, by its signature (version 0), and whether it is answered for the first time.

The signature is checked over the raw body before a byte of it is parsed, and is good for one answer, whichever worker it
reaches: https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

from __future__ import annotations

import hmac
import logging
import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any

from prometheus_client import Counter

from api.settings import Settings

if TYPE_CHECKING:  # SQLAlchemy
    from pricing.store.replay import ReplayStore

WINDOW_SECONDS = 300
REST_SECONDS = 10
ALONE = Counter("costcalc_slack_replay_memory_alone_total", "Requests whose reuse only one worker could have noticed")
log = logging.getLogger("costcalc.slack")
_SECONDS = re.compile(r"[0-9]{1,12}")


class Proof(StrEnum):
    """What a signature proves."""

    GOOD = "good"
    STALE = "stale"
    BAD = "bad"


def sign(secret: str, timestamp: str, body: bytes) -> str:
    """The signature that Slack sends in X-Slack-Signature."""
    return "v0=" + hmac.new(secret.encode(), b"v0:%b:%b" % (timestamp.encode(), body), sha256).hexdigest()


def check(secret: str, timestamp: str, signature: str, body: bytes, now: float) -> Proof:
    """Whether the body is Slack's and was sent within 300 s of `now`, before or after. Takes the same time for any wrong one."""
    expected = sign(secret, timestamp, body)
    if not hmac.compare_digest(expected.encode(), signature.encode()):
        return Proof.BAD
    if not _SECONDS.fullmatch(timestamp) or abs(now - int(timestamp)) > WINDOW_SECONDS:
        return Proof.STALE
    return Proof.GOOD


@dataclass
class Replays:
    """Remembers used signatures in this process and in a memory that the workers share.

    While the shared memory fails this process's own must do; it is tried again every ten seconds, and each request that
    passed without it is counted.
    """

    shared: RedisMemory | ReplayStore
    _own: dict[str, int] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    _rests_until: int = 0

    def is_new(self, signature: str, now: float) -> bool:
        moment = int(now)
        expires = moment + 2 * WINDOW_SECONDS + 1
        return self._new_here(signature, moment, expires) and self._new_anywhere(signature, moment, expires)

    def _new_here(self, signature: str, now: int, expires: int) -> bool:
        with self._lock:
            while self._own and self._own[oldest := next(iter(self._own))] < now:
                del self._own[oldest]
            if signature in self._own:
                return False
            self._own[signature] = expires
            return True

    def _new_anywhere(self, signature: str, now: int, expires: int) -> bool:
        if not 0 < self._rests_until - now <= REST_SECONDS:  # a clock may have gone back
            try:
                return self.shared.add(signature, now, expires)
            except Exception as error:  # noqa: BLE001  Slack's user gets an answer whatever a store or Redis client raises
                self._rests_until = now + REST_SECONDS
                log.warning("used Slack signatures are remembered by one worker alone for now: %s", error)
        ALONE.inc()
        return True


def shared_memory(settings: Settings) -> RedisMemory | ReplayStore:
    """Redis where one is configured, else a table beside the prices."""
    if settings.redis_url:
        return RedisMemory(settings.redis_url)
    from pricing.store.replay import ReplayStore

    return ReplayStore(settings.database_url)


@dataclass(frozen=True)
class RedisMemory:
    """Keys in Redis, which forgets them itself."""

    url: str

    def add(self, key: str, now: int, expires: int) -> bool:
        """Whether the key is new. Raises redis.RedisError, or ValueError for an address that is none."""
        return bool(self._client.set(f"costcalc:slack:{key}", 1, nx=True, ex=expires - now))

    @cached_property
    def _client(self) -> Any:
        import redis

        return redis.Redis.from_url(self.url, socket_timeout=0.5, socket_connect_timeout=0.5)
