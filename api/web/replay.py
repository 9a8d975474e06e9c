"""Answers that need not be computed again: entity tags, and encoded answers replayed before Flask is even asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from threading import Lock
from time import monotonic
from typing import Any

SECONDS_KEPT = 60
MOST_BYTES = 16 * 1024 * 1024
LARGEST = 1024 * 1024
KEEP = "costcalc.keep"
REPLAYED = "costcalc.replayed"

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Wsgi = Callable[[Environ, StartResponse], Iterable[bytes]]
Key = tuple[str, ...]
_ALWAYS_SENT = frozenset({"etag", "cache-control", "vary"})  # RFC 9110, section 15.4.5


def tag(*parts: object) -> str:
    """A weak entity tag of these parts: the same parts mean the same figures, if not the same `as_of` to the second."""
    digest = blake2b("\x1f".join(map(str, parts)).encode(), digest_size=12)
    return f'W/"{digest.hexdigest()}"'


def matches(header: str | None, etag: str) -> bool:
    """Whether If-None-Match names this tag, by RFC 9110's weak comparison."""
    if not header:
        return False
    plain = etag.removeprefix("W/")
    return header.strip() == "*" or any(part.strip().removeprefix("W/") == plain for part in header.split(","))


@dataclass(frozen=True, slots=True)
class Kept:
    """An encoded answer: good while the service stands on the same `version` and `until` (monotonic seconds)."""

    version: str
    etag: str
    headers: list[tuple[str, str]]
    body: bytes
    until: float

    def replay(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """The same answer again, or 304 where the client has it already."""
        environ[REPLAYED] = True
        if matches(environ.get("HTTP_IF_NONE_MATCH"), self.etag):
            start_response("304 NOT MODIFIED", [pair for pair in self.headers if pair[0].lower() in _ALWAYS_SENT])
            return (b"",)
        start_response("200 OK", self.headers)
        return (self.body,)


@dataclass(frozen=True, slots=True)
class Keep:
    """What a view leaves in the environ to have its answer kept: the version it was computed from, tag and body."""

    version: str
    etag: str
    headers: list[tuple[str, str]]
    body: bytes


class Replay:
    """WSGI middleware that answers repeated GETs from memory; the oldest answers make room for new ones."""

    def __init__(self, app: Wsgi, version: Callable[[], str | None], most: int) -> None:
        self._app = app
        self._version = version
        self._most = most
        self._kept: dict[Key, Kept] = {}
        self._bytes = 0
        self._lock = Lock()

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """One request."""
        if environ["REQUEST_METHOD"] != "GET":
            return self._app(environ, start_response)
        key = (
            environ.get("PATH_INFO", ""),
            environ.get("QUERY_STRING", ""),
            environ.get("HTTP_ACCEPT", ""),
            environ.get("HTTP_AUTHORIZATION", ""),
        )
        kept = self._kept.get(key)
        if kept is not None and kept.until > monotonic() and kept.version == self._version():
            return kept.replay(environ, start_response)
        body = self._app(environ, start_response)
        self._store(key, environ.get(KEEP))
        return body

    def _store(self, key: Key, keep: Keep | None) -> None:
        if keep is None or len(keep.body) > LARGEST or not self._most:
            return
        kept = Kept(keep.version, keep.etag, keep.headers, keep.body, monotonic() + SECONDS_KEPT)
        with self._lock:
            self._drop(key)
            self._kept[key] = kept
            self._bytes += len(kept.body)
            while len(self._kept) > self._most or self._bytes > MOST_BYTES:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: Key) -> None:
        old = self._kept.pop(key, None)
        self._bytes -= len(old.body) if old else 0
