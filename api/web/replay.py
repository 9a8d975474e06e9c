"""Entity tags, and a memory of encoded answers that are replayed before Flask is called."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple

from werkzeug.http import generate_etag, parse_etags, quote_etag

SECONDS_KEPT = 600
MOST_BYTES = 24 * 1024 * 1024
LARGEST = 1024 * 1024
SPELLINGS, LONGEST_KEY = 4, 2048  # of the answers that are kept; a longer request is parsed each time
MEMORY = "costcalc.memory"
KEEP = "costcalc.keep"
REPLAYED = "costcalc.replayed"
ROUTE = "costcalc.route"

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Wsgi = Callable[[Environ, StartResponse], Iterable[bytes]]
Key = tuple[str, ...]
Name = tuple[object, ...]
HEADERS = ("Accept", "Accept-Encoding", "Authorization", "Cookie", "Host")  # pages name the host
_ADDRESS = ("wsgi.url_scheme", "PATH_INFO", "QUERY_STRING")
_ENVIRON = [f"HTTP_{name.upper().replace('-', '_')}" for name in HEADERS]
NOTHING_KEPT = (None, 0.0)
_ALWAYS_SENT = frozenset({"etag", "cache-control", "vary"})  # RFC 9110, section 15.4.5


def key_of(address: Iterable[str], headers: Iterable[str]) -> Key:
    """What decides an answer: scheme, path and query, and the values of `HEADERS`, empty where they are missing."""
    return (*address, *headers)


def tag(*parts: object) -> str:
    """A weak entity tag of these parts: the same parts mean the same figures, if not the same `as_of` to the second."""
    return quote_etag(generate_etag("\x1f".join(map(str, parts)).encode()), weak=True)


def matches(header: str | None, etag: str) -> bool:
    """Whether If-None-Match names this tag, by RFC 9110's weak comparison."""
    return header is not None and (header == etag or parse_etags(header).contains_raw(etag))


class Asked(NamedTuple):
    """What a request leads to: the answer of that `name`, while the service is in this `state` for its `owner`."""

    owner: str | None
    state: str
    name: Name


@dataclass(frozen=True, slots=True)
class Keep:
    """An encoded answer. `route` is the pattern of its path, by which requests are counted."""

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
    """WSGI middleware that answers repeated GETs from memory for ten minutes, at most `most` and 24 MiB of them.

    An answer is kept by a name that all spellings of its question share: a view looks for it once it has parsed a request. A
    request that was sent before leads to the name without being parsed, while the service is in the same state for its owner.
    What was not asked for longest is forgotten first. With cachetools a repeated answer took a tenth longer over HTTP.
    """

    def __init__(self, app: Wsgi, state: Callable[[str | None], str | None], most: int) -> None:
        self._app = app
        self._state = state
        self._most = most
        self._kept: OrderedDict[Name, tuple[Keep, float]] = OrderedDict()
        self._bytes = 0
        self._asked: dict[Key, Asked] = {}
        self._lock = Lock()

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] != "GET":
            return self._app(environ, start_response)
        key = key_of(*([environ.get(name, "") for name in names] for names in (_ADDRESS, _ENVIRON)))
        kept = self.find(key)
        if kept is not None:
            environ[REPLAYED] = kept.route
            status, headers, body = kept.answer(environ.get("HTTP_IF_NONE_MATCH"))
            start_response(status, headers)
            return (body,)
        pieces = self._app(environ, start_response)
        if KEEP in environ and self._most:
            self._store(key, *environ[KEEP])
        return pieces

    def find(self, key: Key) -> Keep | None:
        """The answer to the GET of that key, if one is kept that still holds."""
        asked = self._asked.get(key)
        return self.named(asked.name) if asked and asked.state == self._state(asked.owner) else None

    def named(self, name: Name) -> Keep | None:
        """The answer of that name, if one is kept that still holds."""
        with self._lock:
            kept, until = self._kept.get(name, NOTHING_KEPT)
            if kept is None or until <= monotonic():
                return None
            self._kept.move_to_end(name)
        return kept

    def _store(self, key: Key, asked: Asked, keep: Keep) -> None:
        with self._lock:
            if sum(map(len, key)) <= LONGEST_KEY:
                self._asked.pop(key, None)
                self._asked[key] = asked
            if len(self._asked) > SPELLINGS * self._most:
                del self._asked[next(iter(self._asked))]
            if len(keep.body) <= LARGEST and self._kept.get(asked.name, NOTHING_KEPT)[0] is not keep:
                self._put(asked.name, keep)

    def _put(self, name: Name, keep: Keep) -> None:
        former, _ = self._kept.pop(name, NOTHING_KEPT)
        self._kept[name] = keep, monotonic() + SECONDS_KEPT
        self._bytes += len(keep.body) - (len(former.body) if former else 0)
        while len(self._kept) > self._most or self._bytes > MOST_BYTES:
            _, (oldest, _) = self._kept.popitem(last=False)
            self._bytes -= len(oldest.body)
