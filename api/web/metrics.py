"""Prometheus metrics: how many requests, how long they took, how many were replayed. All workers count together.

The workers share files in PROMETHEUS_MULTIPROC_DIR, which `costcalc serve` sets before anything is imported.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from time import perf_counter
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from api.web.replay import REPLAYED, Environ, StartResponse, Wsgi

ROUTE = "costcalc.route"
CONTENT_TYPE = CONTENT_TYPE_LATEST
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3)

REQUESTS = Counter("costcalc_http_requests_total", "Requests by path and status", ["path", "status"])
SECONDS = Histogram("costcalc_http_request_seconds", "Seconds until an answer was ready", ["path"], buckets=BUCKETS)


class Measured:
    """WSGI middleware that counts and times requests; the path is the route's pattern, so that labels stay few."""

    def __init__(self, app: Wsgi) -> None:
        self._app = app

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """One request."""
        status = "500"

        def started(line: str, *rest: Any) -> Any:
            nonlocal status
            status = line[:3]
            return start_response(line, *rest)

        start = perf_counter()
        body = self._app(environ, started)
        path = "replayed" if environ.get(REPLAYED) else environ.get(ROUTE, "unknown")
        REQUESTS.labels(path, status).inc()
        SECONDS.labels(path).observe(perf_counter() - start)
        return body


def exposition() -> bytes:
    """The metrics in Prometheus's text format, of this process or of all workers."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return generate_latest(REGISTRY)
    together = CollectorRegistry()
    MultiProcessCollector(together)  # type: ignore[no-untyped-call]
    return generate_latest(together)
