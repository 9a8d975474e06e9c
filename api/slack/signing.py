"""Slack's request signature, version 0: a proof over the raw body, checked before a byte of it is parsed.

https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

from __future__ import annotations

import hmac
import re
from enum import StrEnum
from hashlib import sha256

WINDOW_SECONDS = 300
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
