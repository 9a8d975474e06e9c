"""API tokens: how an operator writes them, and which of them a client sent."""

from __future__ import annotations

import hmac
import re
from datetime import date, datetime
from hashlib import sha256

from msgspec import Struct

from pricing.store.keyed import NAME, TOKEN, keyed

READ_ONLY, HASHED, UNTIL = "read", "sha256", "until="
NAME_OF_TOKEN = re.compile(r"[A-Za-z0-9][\w.@-]{0,63}", re.ASCII)
DIGEST = re.compile("[0-9a-fA-F]{64}")
SIGNS = 8  # of a token's id, that stand for it in the log where it has no name


class Token(Struct, frozen=True):
    """A token that is accepted, known by its SHA-256 digest alone. `until` is its last day, in UTC; tokens of one `name` see the
    same runs."""

    digest: bytes
    name: str = ""
    read_only: bool = False
    until: date | None = None

    @classmethod
    def of(cls, written: str) -> Token:
        """From a setting: words and then the token, with colons between, such as `anna:read:until=2027-06-30:sha256:...`.

        The words are a name, `read` for a token that may only read, its last day, and `sha256` where a digest follows in place of
        the token. Raises ValueError with what to write.
        """
        *words, secret = written.split(":")
        name, read_only, until, is_digest = "", False, None, False
        for word in words:
            if word == READ_ONLY:
                read_only = True
            elif word == HASHED:
                is_digest = True
            elif word.startswith(UNTIL):
                until = _day(word.removeprefix(UNTIL))
            elif name or not NAME_OF_TOKEN.fullmatch(word):
                raise ValueError(
                    "before a token write read:, until=2027-06-30:, one name: and sha256: as needed, and no other colon"
                )
            else:
                name = word
        if not secret:
            raise ValueError(f"behind {':'.join(words)}: write a token")
        return cls(_digest(secret, is_digest), name, read_only, until)

    def is_over(self, now: datetime) -> bool:
        return self.until is not None and now.date() > self.until

    def is_text(self, text: str, now: datetime) -> bool:
        return hmac.compare_digest(self.digest, _digest(text)) and not self.is_over(now)

    def id(self, key: bytes) -> str:
        """What stands for this very token in the store."""
        return keyed(key, TOKEN, self.digest)

    def owner(self, key: bytes) -> str:
        """What stands in the store for whoever has it: of tokens of one name, the same."""
        return keyed(key, NAME, self.name.encode()) if self.name else self.id(key)

    def who(self, key: bytes) -> str:
        """Its name, or what the log calls it."""
        return self.name or f"token-{self.id(key)[:SIGNS]}"


class Tokens(Struct, frozen=True):
    """All tokens that are accepted; without any the service is open. `metrics` is Prometheus's, which opens `/metrics` alone."""

    all: tuple[Token, ...]
    metrics: Token | None = None

    @classmethod
    def of(cls, written: tuple[str, ...], metrics: str | None = None) -> Tokens:
        return cls(tuple(map(Token.of, written)), Token.of(metrics) if metrics else None)

    def sent(self, text: str, now: datetime) -> Token | None:
        """The token that a client sent. Every one is compared, so that the time tells nothing."""
        matching = [token for token in self.all if token.is_text(text, now)]
        return matching[0] if matching else None

    def of_id(self, id: str, key: bytes, now: datetime) -> Token | None:
        return next((token for token in self.all if token.id(key) == id and not token.is_over(now)), None)


def _digest(text: str, is_digest: bool = False) -> bytes:
    """Raises ValueError where a text shall be a digest and is none."""
    if not is_digest:
        return sha256(text.encode("utf-8", "surrogatepass")).digest()
    if not DIGEST.fullmatch(text):
        raise ValueError("behind sha256: write the 64 hexadecimal digits that `costcalc token` prints")
    return bytes.fromhex(text)


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError("behind until= write a day such as 2027-06-30") from None
