"""Entity tags, and a memory of encoded answers that are replayed before Flask is called."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Any

from cachetools import TTLCache
from werkzeug.http import generate_etag, parse_etags, quote_etag

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
    return quote_etag(generate_etag("\x1f".join(map(str, parts)).encode()), weak=True)


def matches(header: str | None, etag: str) -> bool:
    """Whether If-None-Match names this tag, by RFC 9110's weak comparison."""
    return header == etag or parse_etags(header).contains_raw(etag)


@dataclass(frozen=True, slots=True)
class Keep:
    """An encoded answer that a view leaves in the environ: good while the service stands on the same `version`."""

    version: str
    etag: str
    headers: list[tuple[str, str]]
    body: bytes

    def replay(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """The same answer again, or 304 where the client has it already."""
        environ[REPLAYED] = True
        if matches(environ.get("HTTP_IF_NONE_MATCH"), self.etag):
            start_response("304 NOT MODIFIED", [pair for pair in self.headers if pair[0].lower() in _ALWAYS_SENT])
            return (b"",)
        start_response("200 OK", self.headers)
        return (self.body,)


class Replay:
    """WSGI middleware that answers repeated GETs from memory for a minute, at most `most` and 16 MiB of them."""

    def __init__(self, app: Wsgi, version: Callable[[], str | None], most: int) -> None:
        self._app = app
        self._version = version
        self._kept: TTLCache[Key, Keep] = TTLCache(MOST_BYTES, SECONDS_KEPT, monotonic, _size(most))
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
        with self._lock:
            kept = self._kept.get(key)
        if kept is not None and kept.version == self._version():
            return kept.replay(environ, start_response)
        body = self._app(environ, start_response)
        self._store(key, environ.get(KEEP))
        return body

    def _store(self, key: Key, keep: Keep | None) -> None:
        if keep is not None and len(keep.body) <= LARGEST:
            with self._lock, suppress(ValueError):  # larger than all the room there is
                self._kept[key] = keep


def _size(most: int) -> Callable[[Keep], int]:
    """The room that an answer takes, so that at most `most` fit; with 0 none does."""
    least = MOST_BYTES // most if most else MOST_BYTES + 1
    return lambda keep: max(len(keep.body), least)
