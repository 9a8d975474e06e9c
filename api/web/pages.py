"""What people look at: `/`, the question as a form and the answer as a table, and `/docs`, beside `/openapi.json`.

Rendered here; works without scripts, and nothing comes from anywhere else.
"""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, current_app, render_template, request, url_for

from api.formats import words
from api.formats.json import to_json
from api.questions.errors import Refused
from api.questions.fields import Parameter
from api.questions.links import to_url
from api.reports.cost import CostReport, waiting
from api.reports.left_out import left_out
from api.service import COST
from api.web.responses import JSON_TYPE, arguments, cache_control, current_service

blueprint = Blueprint("pages", __name__)
EXAMPLE = {"model": ["resnet50"], "target": ["0.757"]}
SHOWN = (
    "target",
    "metric",
    "provider",
    "region",
    "accelerator",
    "purchase",
    "as_of",
    "max_hours",
    "max_cost",
    "currency",
)


@blueprint.get("/")
def page() -> tuple[str, int]:
    """The form, with the answer to what it asks; without parameters, to an example."""
    given = arguments() or EXAMPLE
    try:
        found, status = _answered(given), 200
    except Refused as refused:
        found, status = {"errors": refused.errors or {"": [refused.detail]}}, refused.status
    shown = {name: ", ".join(values) for name, values in given.items()}
    models = sorted(current_service().evidence.models)
    return render_template("page.html", fields=_examples(), given=shown, models=models, **found), status


def _examples() -> dict[str, object]:
    """The parameters that the form shows, with an example of each."""
    fields = COST.fields
    return {name: field.example or "" for name in SHOWN if isinstance(field := fields[name], Parameter)}


def _answered(given: dict[str, list[str]]) -> dict[str, Any]:
    service = current_service()
    catalogue = service.catalogue()
    query, _ = service.question(given, catalogue)
    path = url_for("costs.cost")
    answer = CostReport(service, catalogue, query).answer
    return {
        "answer": answer,
        "words": words,
        "waiting": waiting,
        "marks": list(words.marks_explained((*answer.estimates, *(pick.estimate for pick in answer.picks)))),
        "left_out": left_out(answer),
        "json_url": to_url(query, path),
        "csv_url": to_url(query, f"{path}.csv"),
        "xlsx_url": to_url(query, f"{path}.xlsx"),
    }


@blueprint.get("/openapi.json")
def openapi_json() -> Response:
    """OpenAPI 3.1."""
    return Response(to_json(_document()), content_type=JSON_TYPE, headers={"Cache-Control": cache_control()})


@blueprint.get("/docs")
def docs() -> str:
    """Every path with a form to try it."""
    return render_template("docs.html", document=_document())


def _document() -> dict[str, object]:
    from api.web import openapi  # built on demand: serving answers needs none of it

    return openapi.document(current_app.config["COSTCALC_PRIVATE"], request.script_root)
