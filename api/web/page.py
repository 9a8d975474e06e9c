"""`GET /`: the question as a form, the answer as a table, rendered here; works without scripts."""

from __future__ import annotations

from importlib import resources
from typing import Any

from flask import Blueprint, Response, render_template

from api.questions.errors import Refused
from api.questions.links import to_url
from api.questions.schemas import COMMON
from api.web.responses import arguments, service

blueprint = Blueprint("page", __name__)
EXAMPLE = {"model": ["resnet50"], "target": ["0.757"]}


@blueprint.get("/")
def page() -> tuple[str, int]:
    """The form, with the answer to what it asks; without parameters, to an example."""
    given = arguments() or EXAMPLE
    try:
        found, status = _answered(given), 200
    except Refused as refused:
        found, status = {"errors": refused.errors or {"": [refused.detail]}}, refused.status
    shown = {name: ", ".join(values) for name, values in given.items()}
    models = sorted(service().evidence.models)
    return render_template("page.html", fields=COMMON, given=shown, models=models, **found), status


def _answered(given: dict[str, list[str]]) -> dict[str, Any]:
    asked = service()
    catalogue = asked.catalogue()
    query, _ = asked.question(given, catalogue)
    return {
        "answer": asked.answer(query, catalogue),
        "json_url": to_url(query),
        "csv_url": to_url(query, "/cost.csv"),
        "xlsx_url": to_url(query, "/cost.xlsx"),
    }


@blueprint.get("/style.css")
def style() -> Response:
    """The style sheet."""
    text = (resources.files("api.web") / "static" / "style.css").read_bytes()
    return Response(text, content_type="text/css; charset=utf-8", headers={"Cache-Control": "public, max-age=3600"})
