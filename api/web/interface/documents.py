"""`/docs`, every path with a form to try it, and `/openapi.json`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flask import Blueprint, Response, current_app, render_template, request

from api.formats.json import to_json
from api.forms.register import QUESTIONS
from api.web.asked import JSON_TYPE
from api.web.interface.manual import titles
from api.web.responses import cache_control

Json = dict[str, Any]
FORMS = {"": "JSON", "csv": "CSV", "xlsx": "XLSX", "png": "PNG", "svg": "SVG"}
TITLES = {
    **{question.path.strip("/"): question.topic for question in QUESTIONS if question.topic},
    "plan": "Many trainings at once",
    "launch": "Launch files",
    "recipes": "Your own runs",
    "service": "The service itself",
    "page": "This page",
    "slack": "Slack",
}
blueprint = Blueprint("documents", __name__)


@dataclass(frozen=True, slots=True)
class Call:
    """A path that is asked by a method, in each of its forms: the operations by the form that they answer in."""

    method: str
    stem: str
    operations: dict[str, Json]

    @property
    def first(self) -> Json:
        return next(iter(self.operations.values()))

    @property
    def paths(self) -> list[tuple[str, str]]:
        return [(FORMS.get(form, form), f"{self.stem}.{form}".rstrip(".")) for form in self.operations]

    @property
    def parameters(self) -> list[Json]:
        """The parameters of any form, each once, required ones first."""
        every = {
            each["name"]: each for operation in self.operations.values() for each in operation.get("parameters", ())
        }
        return sorted(every.values(), key=lambda each: not each.get("required"))

    @property
    def can_be_tried(self) -> bool:
        return self.method == "get" and "{" not in self.stem


def topics(document: Json) -> dict[str, list[Call]]:
    """The calls of an OpenAPI document under the titles of what they are about."""
    calls: dict[tuple[str, str, str], Call] = {}
    for path, methods in document["paths"].items():
        stem, form = _parts(path)
        for method, operation in methods.items():
            title = TITLES.get(operation["tags"][0], operation["tags"][0].capitalize())
            calls.setdefault((title, stem, method), Call(method, stem, {})).operations[form] = operation
    by_topic: dict[str, list[Call]] = {}
    for (title, _, _), call in calls.items():
        by_topic.setdefault(title, []).append(call)
    return by_topic


def _parts(path: str) -> tuple[str, str]:
    """A path without the ending that names its form, and that ending."""
    stem, _, form = path.rpartition(".")
    return (stem, form) if form in FORMS and stem else (path, "")


@blueprint.get("/openapi.json")
def openapi_json() -> Response:
    """OpenAPI 3.1."""
    from api.web.interface import shared  # built on demand: serving answers needs none of it

    return Response(
        to_json(shared.document(*_asked())), content_type=JSON_TYPE, headers={"Cache-Control": cache_control()}
    )


@blueprint.get("/docs")
def docs() -> str:
    """Every path with a form to try it."""
    from api.web.interface import openapi

    document = openapi.described(*_asked())
    return render_template("docs.html", document=document, topics=topics(document), titles=titles())


def _asked() -> tuple[bool, str]:
    """Whether tokens are set, and the path below which the service is served."""
    return current_app.config["COSTCALC_PRIVATE"], request.script_root
