"""What meets a request before Flask does: an ASGI application in which slow clients wait without holding a thread.

It reads the body within bounds of size and time, answers repeated questions from memory, lets a bounded number of requests
work at once, refuses the others while they may still ask elsewhere, and gives each request a number.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import perf_counter

from a2wsgi import WSGIMiddleware

from api.formats.json import to_json
from api.service import Service
from api.settings import Settings
from api.web import health
from api.web.app import MOST_BODY_BYTES, create_app
from api.web.asker import EXTENSION as ACCESS
from api.web.problems import PROBLEM_TYPE, problem
from api.web.replay import HEADERS, MEMORY, Replay, Wsgi, key_of
from api.web.serving.access_log import access, log_access, log_to_stderr
from api.web.serving.other_sites import OtherSites
from api.web.serving.proxies import Proxies
from api.web.serving.rate_limit import RateLimit
from api.web.serving.request import Asgi, HeaderLines, Message, Receive, Request, Scope, Send

BODY_SECONDS = 10
DECIDING = [name.lower().encode() for name in HEADERS]
PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
PICTURE = re.compile(r".*\.(png|svg)/?$")
PLAN = re.compile(r"/plan\b")
WORKBOOK_PATH = re.compile(r".*\.xlsx/?$")
PLANS = 16
LOGS = "/recipes"
SLOW_WAIT_SECONDS = 5
PATIENCE = 6  # times as long as was foreseen, where a turn takes longer than those before it


@dataclass(frozen=True)
class Refusal(Exception):
    """Why a request goes no further, and after how many seconds it may come again."""

    status: int
    detail: str
    retry_after_seconds: int | None = None

    def headers(self) -> HeaderLines:
        """The headers of the answer; the rest of the body is not read, so the connection ends."""
        yield "Content-Type", PROBLEM_TYPE
        yield "Cache-Control", "no-store"
        yield "X-Content-Type-Options", "nosniff"
        if self.retry_after_seconds is not None:
            yield "Retry-After", str(self.retry_after_seconds)
        if self.status in (400, 408, 413):
            yield "Connection", "close"


def busy() -> Refusal:
    """What a request is told whose turn does not come in time."""
    return Refusal(503, "too many questions at once; ask again in a second", 1)


class Lane:
    """At most `threads` requests that work at once; others wait for one to end.

    Whose turn would come later than `wait_seconds`, by how long requests took of late, is refused at once. Of those that wait
    nobody is refused, but where the requests before take much longer than was foreseen.
    """

    def __init__(self, threads: int, wait_seconds: float) -> None:
        self.threads = threads
        self._free = asyncio.Semaphore(threads)
        self._wait_seconds = wait_seconds
        self._waiting = 0
        self._seconds = 0.0  # that a request took, of the last few

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """The time in which one request works. Raises Refusal (503) where its turn does not come in time."""
        if self._free.locked():
            await self._wait()
        else:
            await self._free.acquire()
        started = perf_counter()
        try:
            yield
        finally:
            self._seconds += (perf_counter() - started - self._seconds) / 10
            self._free.release()

    async def _wait(self) -> None:
        if self._waiting * self._seconds / self.threads > self._wait_seconds:
            raise busy()
        self._waiting += 1
        try:
            await asyncio.wait_for(self._free.acquire(), PATIENCE * self._wait_seconds)
        except TimeoutError:
            raise busy() from None
        finally:
            self._waiting -= 1


class Front:
    """The ASGI application around a WSGI one.

    At once it works on `threads` questions, one that is large (a workbook, or all recipes), one log, which another process reads,
    one picture, which another draws, one probe, and PLANS plans, of which one has the turn.
    """

    def __init__(self, app: Wsgi, memory: Replay, threads: int, wait_seconds: float, limit: RateLimit) -> None:
        self._memory = memory
        self._limit = limit
        self._questions = Lane(threads, wait_seconds)
        self._large, self._logs, self._pictures, self._probes = (Lane(1, SLOW_WAIT_SECONDS) for _ in range(4))
        self._plans = Lane(PLANS, SLOW_WAIT_SECONDS)
        lanes = (self._questions, self._large, self._logs, self._plans, self._pictures, self._probes)
        self._app = WSGIMiddleware(app, workers=sum(lane.threads for lane in lanes))  # type: ignore[arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, send)
        try:
            await self._answer(request, receive)
        except Refusal as refusal:
            health.REFUSED.labels(str(refusal.status)).inc()
            document = problem(refusal.status, refusal.detail)
            await request.answer(refusal.status, refusal.headers(), to_json(document))
        finally:
            log_access(request)

    async def _answer(self, request: Request, receive: Receive) -> None:
        path = request.scope["path"]
        if not request.names_one_host:
            raise Refusal(400, "a request names its host once, in a valid Host header")
        if not request.scope["query_string"].isascii():
            raise Refusal(400, "this address is not valid: percent-encode every character that is not ASCII")
        if path not in PROBES:
            await self._check_rate(request)
        if request.scope["method"] == "GET" and await self._remembered(request):
            return
        body = await read_body(receive) if request.has_body else b""
        async with self._lane(request).turn():
            await self._app(_scope_of(request, body), _whole(body), request.send)  # type: ignore[arg-type]

    def _lane(self, request: Request) -> Lane:
        path = request.scope["path"]
        if path in PROBES:
            return self._probes
        if path == LOGS and request.scope["method"] == "POST":
            return self._logs
        if PICTURE.match(path):
            return self._pictures
        if PLAN.match(path):
            return self._plans
        is_large = WORKBOOK_PATH.match(path) or request.wants_a_workbook or request.wants_all_recipes
        return self._large if is_large else self._questions

    async def _check_rate(self, request: Request) -> None:
        seconds = await self._limit.seconds_to_wait(request)
        if seconds:
            raise Refusal(429, f"too many requests; ask again in {seconds} s", seconds)

    async def _remembered(self, request: Request) -> bool:
        scope = request.scope
        address = (scope.get("scheme", "http"), scope["path"], scope["query_string"].decode("latin-1"))
        kept = self._memory.find(key_of(address, map(request.header, DECIDING)))
        if kept is None:
            return False
        status, headers, body = kept.answer(request.header(b"if-none-match") or None)
        health.count(kept.route, status[:3], perf_counter() - request.started, replayed=True)
        await request.answer(int(status[:3]), headers, body)
        return True


async def read_body(receive: Receive) -> bytes:
    """The whole body. Raises Refusal where it is too large or comes too slowly."""
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                pieces.append(message.get("body", b""))
                size += len(pieces[-1])
                if size > MOST_BODY_BYTES:
                    raise Refusal(413, f"the body is larger than {MOST_BODY_BYTES} bytes")
                if not message.get("more_body"):
                    return b"".join(pieces)
    except TimeoutError:
        raise Refusal(408, f"the body did not arrive within {BODY_SECONDS} seconds") from None


def _scope_of(request: Request, body: bytes) -> Scope:
    """The request with its body's length, whatever its framing was, and with its number."""
    framing = (b"content-length", b"transfer-encoding", b"x-request-id")
    headers = [pair for pair in request.scope["headers"] if pair[0] not in framing]
    length = [(b"content-length", str(len(body)).encode())] if request.has_body else []
    return {**request.scope, "headers": [*headers, *length, (b"x-request-id", request.id.encode())]}


def _whole(body: bytes) -> Receive:
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def create_front(service: Service, settings: Settings) -> Asgi:
    """The ASGI application that a server runs: the Flask application behind its front.

    Trusted proxies are believed when they say from whom a request came.
    """
    app = create_app(service, settings)
    if settings.access_log:
        log_to_stderr(access)
    limit = RateLimit(settings.rate_limit, app.extensions[ACCESS], settings.redis_url)
    front = Front(app.wsgi_app, app.extensions[MEMORY], settings.threads, settings.wait_seconds, limit)
    outer = OtherSites(front, settings.cors_origins) if settings.cors_origins else front
    return Proxies(outer, settings.trusted_proxies) if settings.trusted_proxies else outer
