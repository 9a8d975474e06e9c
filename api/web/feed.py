"""`/cost.atom`: a question to subscribe to, which tells when its answer changes or falls below a sum."""

from __future__ import annotations

from dataclasses import fields

from flask import Blueprint, Response, request, url_for

from api.formats.atom import Feed, written
from api.questions.links import to_url
from api.questions.schemas.trainings import FeedSchema
from api.reports.cost import cost_report
from api.service import with_moment
from api.web.responses import arguments, cached, current_service
from costcalc.query import EstimateQuery

blueprint = Blueprint("feed", __name__)
FEED = FeedSchema()
NOT_FED = frozenset(field.name for field in fields(EstimateQuery)) - FEED.fields.keys()


def feed_of(query: EstimateQuery) -> str:
    """The address of a question's feed on this service."""
    return to_url(query, url_for("feed.feed"), NOT_FED)


@blueprint.get("/cost.atom")
def feed() -> Response:
    """One entry with the verdict; none while the answer costs `below` or more."""
    service = current_service()
    catalogue = service.catalogue()
    values, _ = service.parse(FEED, arguments(), catalogue)
    parts = (catalogue.snapshot, sorted(values.items()), values.get("as_of") or service.clock().date())
    below = values.pop("below", None)
    report = cost_report(service, catalogue, values)

    def body() -> bytes:
        answer, root = report.answer, request.host_url.rstrip("/")
        is_told = bool(answer.picks) and (below is None or answer.first.cost(answer.query.basis).cost < below)
        asked = {} if below is None else {"below": f"{below:f}"}
        page, itself = to_url(report.query, url_for("pages.page")), to_url(report.query, url_for("feed.feed"), **asked)
        kept = to_url(with_moment(report.query, answer.prices.as_of), url_for("pages.page"))
        return written(Feed(answer, root + page, root + kept, root + itself, is_told))

    return cached(parts, "atom", body)
