"""`/docs`, every path with a form to try it, and `/openapi.json`."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, current_app, render_template, request

from api.formats.json import to_json
from api.web.interface.topics import topics
from api.web.responses import JSON_TYPE, cache_control

blueprint = Blueprint("documents", __name__)


@blueprint.get("/openapi.json")
def openapi_json() -> Response:
    """OpenAPI 3.1."""
    return Response(to_json(_document()), content_type=JSON_TYPE, headers={"Cache-Control": cache_control()})


@blueprint.get("/docs")
def docs() -> str:
    """Every path with a form to try it."""
    document = _document()
    return render_template("docs.html", document=document, topics=topics(document))


def _document() -> dict[str, Any]:
    from api.web.interface import openapi  # built on demand: serving answers needs none of it

    return openapi.document(current_app.config["COSTCALC_PRIVATE"], request.script_root)
