"""Entity tags, and a memory of encoded answers that are replayed before Flask is called."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Any

from werkzeug.http import generate_etag, parse_etags, quote_etag

SECONDS_KEPT = 60
MOST_BYTES = 16 * 1024 * 1024
LARGEST = 1024 * 1024
KEEP = "costcalc.keep"
REPLAYED = "costcalc.replayed"
ROUTE = "costcalc.route"

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Wsgi = Callable[[Environ, StartResponse], Iterable[bytes]]
Key = tuple[str, ...]
KEY = (
    "PATH_INFO",
    "QUERY_STRING",
    "HTTP_ACCEPT",
    "HTTP_ACCEPT_ENCODING",
    "HTTP_AUTHORIZATION",
    "HTTP_COOKIE",
    "HTTP_HOST",  # pages name it
    "wsgi.url_scheme",
)
NOTHING_KEPT = (None, 0.0)
_ALWAYS_SENT = frozenset({"etag", "cache-control", "vary"})  # RFC 9110, section 15.4.5


def tag(*parts: object) -> str:
    """A weak entity tag of these parts: the same parts mean the same figures, if not the same `as_of` to the second."""
    return quote_etag(generate_etag("\x1f".join(map(str, parts)).encode()), weak=True)


def matches(header: str | None, etag: str) -> bool:
    """Whether If-None-Match names this tag, by RFC 9110's weak comparison."""
    return header == etag or parse_etags(header).contains_raw(etag)


@dataclass(frozen=True, slots=True)
class Keep:
    """An encoded answer that a view leaves in the environ: good while the service is in the same `state`.

    `route` is the pattern of its path, by which requests are counted.
    """

    state: str
    etag: str
    route: str
    headers: list[tuple[str, str]]
    body: bytes

    def answer(self, if_none_match: str | None) -> tuple[str, list[tuple[str, str]], bytes]:
        """Status line, headers and body: the same answer again, or 304 where the client has it already."""
        if matches(if_none_match, self.etag):
            return "304 NOT MODIFIED", [pair for pair in self.headers if pair[0].lower() in _ALWAYS_SENT], b""
        return "200 OK", self.headers, self.body


class Replay:
    """WSGI middleware that answers repeated GETs from memory for a minute, at most `most` and 16 MiB of them.

    What was not asked for longest is forgotten first, so that questions nobody repeats do not push out those many repeat.
    A plain dictionary: with cachetools a repeated answer took a tenth longer over HTTP.
    """

    def __init__(self, app: Wsgi, state: Callable[[], str | None], most: int) -> None:
        self._app = app
        self._state = state
        self._most = most
        self._kept: dict[Key, tuple[Keep, float]] = {}
        self._bytes = 0
        self._lock = Lock()

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """One request."""
        if environ["REQUEST_METHOD"] != "GET":
            return self._app(environ, start_response)
        key = tuple(environ.get(name, "") for name in KEY)
        kept = self.find(key)
        if kept is not None:
            environ[REPLAYED] = kept.route
            status, headers, body = kept.answer(environ.get("HTTP_IF_NONE_MATCH"))
            start_response(status, headers)
            return (body,)
        pieces = self._app(environ, start_response)
        self._store(key, environ.get(KEEP))
        return pieces

    def find(self, key: Key) -> Keep | None:
        """The answer to the GET of that key (the values of `KEY`), if one is kept that still holds."""
        kept, until = self._kept.get(key, NOTHING_KEPT)
        if kept is None or until <= monotonic() or kept.state != self._state():
            return None
        with self._lock:
            if key in self._kept:
                self._kept[key] = self._kept.pop(key)
        return kept

    def _store(self, key: Key, keep: Keep | None) -> None:
        if keep is None or len(keep.body) > LARGEST or not self._most:
            return
        with self._lock:
            self._drop(key)
            self._kept[key] = keep, monotonic() + SECONDS_KEPT
            self._bytes += len(keep.body)
            while len(self._kept) > self._most or self._bytes > MOST_BYTES:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: Key) -> None:
        if key in self._kept:
            self._bytes -= len(self._kept.pop(key)[0].body)
