"""`GET /openapi.json` and `/docs`: the interface, for machines and for people; nothing comes from anywhere else."""

from __future__ import annotations

from flask import Blueprint, Response, render_template

from api.questions.errors import NotReady
from api.reports.documents import to_json
from api.web.responses import JSON_TYPE, service

blueprint = Blueprint("docs", __name__)


def _document() -> dict[str, object]:
    from api.web import openapi  # built on demand: serving answers needs none of it

    asked = service()
    try:
        names = asked.names(asked.catalogue())
    except NotReady:
        names = None
    return openapi.document(asked, names)


@blueprint.get("/openapi.json")
def openapi_json() -> Response:
    """OpenAPI 3.1."""
    return Response(to_json(_document()), content_type=JSON_TYPE, headers={"Cache-Control": "public, max-age=60"})


@blueprint.get("/docs")
def docs() -> str:
    """Every path with a form to try it."""
    return render_template("docs.html", document=_document())
