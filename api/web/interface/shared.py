"""The OpenAPI document as it is sent, in which what several operations have stands once."""

from __future__ import annotations

from itertools import count
from typing import Any

from api.web.asked import JSON_TYPE
from api.web.interface.openapi import Json, described
from api.web.responses import PICTURES

_PICTURE = {"name": "picture", "in": "path", "required": True, "schema": {"type": "string", "enum": list(PICTURES)}}


def document(private: bool, root: str) -> Json:
    """The whole document, a quarter as long as it is with all that each operation has."""
    whole = described(private, root)
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
