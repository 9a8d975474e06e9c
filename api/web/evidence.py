"""What was measured: `/models` and `/throughput`."""

from __future__ import annotations

from flask import Blueprint, Response

from api.formats import sheets
from api.formats.json import to_json
from api.questions.schemas import ModelsSchema, ThroughputSchema
from api.reports.models import model_document, models_document
from api.reports.throughput import throughput_report
from api.web.responses import answered, arguments, cached, current_service

blueprint = Blueprint("evidence", __name__)
THROUGHPUT, MODELS = ThroughputSchema(), ModelsSchema()


@blueprint.get("/throughput.csv")
@blueprint.get("/throughput")
def throughput() -> Response:
    """Measured training speeds on what can be rented in dollars, at each offer's cheapest region."""
    return answered(THROUGHPUT, throughput_report, {"csv": sheets.throughput_csv})


@blueprint.get("/models")
def models() -> Response:
    """Every model we know something measured about."""
    service = current_service()
    service.check(MODELS, arguments())
    return cached(("",), "json", lambda: to_json(models_document(service.evidence)))


@blueprint.get("/models/<model>")
def one(model: str) -> Response:
    """One model: its recipes with their curves, its throughputs, and where each was published."""
    service = current_service()
    service.check(MODELS, arguments())
    found = service.model(model)
    return cached(("", found.name), "json", lambda: to_json(model_document(service.evidence, found)))
