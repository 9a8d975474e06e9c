"""`/healthz`, `/readyz` and `/metrics`: whether the service is alive and ready, and how it has fared.

All workers count together: they share files in PROMETHEUS_MULTIPROC_DIR, which `costcalc serve` sets before anything is imported.
"""

from __future__ import annotations

import logging
import os
from collections import Counter as Counted
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from time import perf_counter, thread_time
from typing import Any

from flask import Blueprint, Response
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector

from api.budget import SECONDS as SECONDS_OF_PROCESSOR
from api.budget import budget
from api.formats.json import to_json
from api.questions.errors import NotReady
from api.web.asked import JSON_TYPE, current_service
from api.web.replay import REPLAYED, ROUTE, Environ, StartResponse, Wsgi
from costcalc.catalogue.freshness import Freshness, current_freshness
from costcalc.offer import Gap

log = logging.getLogger("costcalc")
blueprint = Blueprint("health", __name__)
UNKEPT = {"Cache-Control": "no-store"}
DEAR_SECONDS = 0.25
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3, 10, 30)

_gauge = partial(Gauge, multiprocess_mode="mostrecent")
REQUESTS = Counter("costcalc_http_requests_total", "Requests by path and status", ["path", "status"])
QUARANTINED = _gauge("costcalc_prices_quarantined", "Rates that look odd and are left out, by source", ["source"])
FAILING = _gauge(
    "costcalc_prices_failing", "1 if a source failed, completely or in part, when it was last asked", ["source"]
)
GAPS = _gauge("costcalc_prices_gaps", "Open gaps by source", ["source"])
REACHABLE = _gauge("costcalc_store_reachable", "1 while the price store can be reached, as /readyz says")
MEMORY = _gauge(
    "costcalc_memory_bytes", "About how much the engine of the worker that answered last keeps of earlier answers"
)
ESTIMATES = Counter("costcalc_estimates_total", "Estimates found by answers, including those beyond the limit")
PROCESSOR = Counter("costcalc_http_processor_seconds_total", "Processor seconds that answers took, by path", ["path"])
AGE = _gauge("costcalc_prices_age_seconds", "Seconds since a source last answered a refresh", ["source"])
MEDIAN_AGE = _gauge("costcalc_prices_median_age_days", "Median age in days of the rates of a provider", ["provider"])
REPLAYS = Counter("costcalc_http_replays_total", "Requests answered from memory, by path", ["path"])
REFUSED = Counter("costcalc_http_refused_total", "Requests refused before they were read as questions", ["status"])
SECONDS = Histogram("costcalc_http_request_seconds", "Seconds until an answer was ready", ["path"], buckets=BUCKETS)


@dataclass(frozen=True, slots=True)
class Alive:
    """The process answers."""

    status: str


@dataclass(frozen=True, slots=True)
class Ready:
    """What the service stands on: `first_observed_at` bounds `as_of` from below; `freshness` is that of all current rates."""

    status: str
    snapshot: str
    offers: int
    first_observed_at: datetime | None
    evidence_version: str
    recipes: int
    gaps: tuple[Gap, ...]
    freshness: Freshness


@blueprint.get("/healthz")
def healthz() -> Response:
    """Liveness: the process answers."""
    return Response(to_json(Alive("ok")), content_type=JSON_TYPE, headers=UNKEPT)


@blueprint.get("/readyz")
def readyz() -> Response:
    """Readiness: the store can be reached and a snapshot is loaded."""
    service = current_service()
    catalogue = service.catalogue()
    trouble = service.prices.trouble()
    if trouble:
        raise NotReady(f"the price store cannot be reached: {trouble}; answers come from snapshot {catalogue.snapshot}")
    evidence = service.evidence
    ready = Ready(
        status="ok",
        snapshot=catalogue.snapshot,
        offers=len(catalogue),
        first_observed_at=catalogue.first_observed_at,
        evidence_version=evidence.version,
        recipes=len(evidence.recipes),
        gaps=catalogue.gaps,
        freshness=current_freshness(catalogue, service.clock()),
    )
    return Response(to_json(ready), content_type=JSON_TYPE, headers=UNKEPT)


@blueprint.get("/metrics")
def prometheus() -> Response:
    """Prometheus metrics of all workers."""
    service = current_service()
    odd = Counted(service.prices.quarantined())
    try:
        catalogue = service.catalogue()
        gaps, fresh = catalogue.gaps, current_freshness(catalogue, service.clock())
    except NotReady:
        gaps, fresh = (), Freshness()
    open_gaps = Counted(gap.source for gap in gaps)
    failing = service.prices.failing()
    for name in service.sources:
        QUARANTINED.labels(name).set(odd[name])
        GAPS.labels(name).set(open_gaps[name])
        FAILING.labels(name).set(name in failing)
    REACHABLE.set(service.prices.trouble() is None)
    MEMORY.set(service.memory.size_bytes)
    for name, answered_at in service.prices.answered_at():
        AGE.labels(name).set((service.clock() - answered_at).total_seconds())
    for provider, days in fresh.by_provider.items():
        MEDIAN_AGE.labels(provider).set(days)
    return Response(exposition(), content_type=CONTENT_TYPE_LATEST, headers=UNKEPT)


class Measured:
    """WSGI middleware that counts and times requests; the path is the route's pattern, so that labels stay few.

    What takes long of the processor is named in the log.
    """

    def __init__(self, app: Wsgi) -> None:
        self._app = app

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        status = "500"

        def started(line: str, *rest: Any) -> Any:
            nonlocal status
            status = line[:3]
            return start_response(line, *rest)

        start, worked = perf_counter(), thread_time()
        with budget(SECONDS_OF_PROCESSOR):
            body = self._app(environ, started)
        replayed = environ.get(REPLAYED)
        path = replayed or environ.get(ROUTE, "unknown")
        count(path, status, perf_counter() - start, replayed=bool(replayed))
        seconds = thread_time() - worked
        PROCESSOR.labels(path).inc(seconds)
        if seconds > DEAR_SECONDS:
            number = environ.get("HTTP_X_REQUEST_ID", "without a number")
            log.warning(
                "request %s took %.2f s of processor time: %s %s", number, seconds, environ["REQUEST_METHOD"], path
            )
        return body


def count(path: str, status: str, seconds: float, *, replayed: bool = False) -> None:
    """Counts one request by the pattern of its path."""
    REQUESTS.labels(path, status).inc()
    SECONDS.labels(path).observe(seconds)
    if replayed:
        REPLAYS.labels(path).inc()


def exposition() -> bytes:
    """The metrics in Prometheus's text format, of this process or of all workers."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return generate_latest(REGISTRY)
    together = CollectorRegistry()
    MultiProcessCollector(together)  # type: ignore[no-untyped-call]
    return generate_latest(together)
