"""Is the service alive, ready, and how has it fared? `/healthz`, `/readyz`, `/metrics`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from flask import Blueprint, Response

from api.formats.json import to_json
from api.questions.errors import NotReady
from api.web import metrics
from api.web.responses import JSON_TYPE, current_service
from costcalc.offers import Gap

blueprint = Blueprint("health", __name__)
UNKEPT = {"Cache-Control": "no-store"}


@dataclass(frozen=True, slots=True)
class Alive:
    """The process answers."""

    status: str


@dataclass(frozen=True, slots=True)
class Ready:
    """What the service stands on: `first_observed_at` bounds `as_of` from below."""

    status: str
    snapshot: str
    offers: int
    first_observed_at: datetime | None
    evidence_version: str
    recipes: int
    gaps: tuple[Gap, ...]


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
    )
    return Response(to_json(ready), content_type=JSON_TYPE, headers=UNKEPT)


@blueprint.get("/metrics")
def prometheus() -> Response:
    """Prometheus metrics of all workers."""
    return Response(metrics.exposition(), content_type=metrics.CONTENT_TYPE, headers=UNKEPT)
