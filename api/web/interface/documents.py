"""`/docs`, every path with a form to try it, and `/openapi.json`."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

from flask import Blueprint, Response, current_app, render_template, request

from api.formats.json import to_json
from api.forms.register import QUESTIONS
from api.web.asked import JSON_TYPE
from api.web.interface.manual import titles
from api.web.responses import PICTURES, cache_control

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
_PICTURE = {"name": "picture", "in": "path", "required": True, "schema": {"type": "string", "enum": list(PICTURES)}}
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
    from api.web.interface.openapi import described  # built on demand: serving answers needs none of it

    headers = {"Cache-Control": cache_control()}
    return Response(to_json(shortened(described(*_asked()))), content_type=JSON_TYPE, headers=headers)


@blueprint.get("/docs")
def docs() -> str:
    """Every path with a form to try it."""
    from api.web.interface.openapi import described

    document = described(*_asked())
    return render_template("docs.html", document=document, topics=topics(document), titles=titles())


def _asked() -> tuple[bool, str]:
    """Whether tokens are set, and the path below which the service is served."""
    return current_app.config["COSTCALC_PRIVATE"], request.script_root


def shortened(whole: Json) -> Json:
    """The document, a quarter as long, in which what several operations have stands once."""
    shared = Shared(whole["components"]["schemas"])
    paths = {path: _item({method: shared.referring(operation) for method, operation in operations.items()})
             for path, operations in _pictures_together(whole["paths"]).items()}  # fmt: skip
    return {**whole, "paths": paths, "components": whole["components"] | shared.components}


def _pictures_together(paths: dict[str, Json]) -> dict[str, Json]:
    """The paths where `/cost.png` and `/cost.svg`, which take the same, are `/cost.{picture}`."""
    together: dict[str, Json] = {}
    for path, operations in paths.items():
        stem, _, ending = path.rpartition(".")
        if ending in PICTURES:
            shared = f"{stem}.{{{_PICTURE['name']}}}"
            together[shared] = {"get": _as_picture(operations["get"], together.get(shared, {}).get("get"))}
        else:
            together[path] = operations
    return together


def _as_picture(operation: Json, other: Json | None) -> Json:
    """The operation that answers a picture in its own form and in those of the `other`."""
    if other is None:
        name = f"{operation['operationId'].rpartition('_')[0]}_picture"
        return {**operation, "operationId": name, "parameters": [_PICTURE, *operation["parameters"]]}
    success = other["responses"]["200"]
    content = success["content"] | operation["responses"]["200"]["content"]
    return {**other, "responses": {**other["responses"], "200": {**success, "content": content}}}


def _item(operations: Json) -> Json:
    """A path's operations, with the parameters that all of several have before them."""
    first, *others = (operation["parameters"] for operation in operations.values())
    common = [parameter for parameter in first if all(parameter in each for each in others)]
    if not others or not common:
        return operations
    own = {method: {**operation, "parameters": [each for each in operation["parameters"] if each not in common]}
           for method, operation in operations.items()}  # fmt: skip
    return {"parameters": common, **own}


class Shared:
    """What several operations have stands once, in `components`, by its kind and name, beside the `schemas` of documents."""

    def __init__(self, schemas: Json) -> None:
        self.components: dict[str, Json] = {"schemas": {**schemas}, "parameters": {}, "headers": {}, "responses": {}}

    def referring(self, operation: Json) -> Json:
        """The operation with references to its parameters, headers and errors."""
        parameters = [self._parameter(parameter) for parameter in operation.get("parameters", ())]
        responses = {status: self._response(status, response) for status, response in operation["responses"].items()}
        return {**operation, "parameters": parameters, "responses": responses}

    def _parameter(self, parameter: Json) -> Json:
        name = parameter["name"]
        return self._named("parameters", name, self._with_words(name.title().replace("_", ""), parameter))

    def _with_words(self, name: str, node: Any) -> Any:
        """The description of a parameter in which its words have a name, so that generated clients have one type of them, and
        so has what a text may be."""
        if isinstance(node, list):
            return [self._with_words(name, each) for each in node]
        if not isinstance(node, dict):
            return node
        if "enum" in node or "pattern" in node:
            return self._named("schemas", name if "enum" in node else "Text", node)
        return {key: self._with_words(name, value) for key, value in node.items()}

    def _response(self, status: str, response: Json) -> Json:
        headers = {name: self._named("headers", name, header) for name, header in response.get("headers", {}).items()}
        response = {**response, "headers": headers} if headers else response
        has_document = JSON_TYPE in response.get("content", ())
        return response if has_document else self._named("responses", status, response)

    def _named(self, kind: str, name: str, described: Json) -> Json:
        """The reference to it; another one of its name has a number behind."""
        known = self.components[kind]
        names = (f"{name}_{number}" if number > 1 else name for number in count(1))
        shared = next(name for name in names if known.setdefault(name, described) == described)
        return {"$ref": f"#/components/{kind}/{shared}"}
