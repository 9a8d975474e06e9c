"""The OpenAPI document with what several operations share in each of them."""

from collections.abc import Iterator
from typing import Any

SHARED = ("parameters", "headers", "responses")
"""Kinds of components; of schemas those that have the words of a parameter, or say what its text may be."""
PICTURE = "{picture}"

Json = dict[str, Any]


def inlined(document: Json) -> Json:
    paths = _inlined(document["paths"], document["components"])
    return {**document, "paths": {path: operations for item in paths.items() for path, operations in _paths(*item)}}


def _inlined(node: Any, components: Json) -> Any:
    if isinstance(node, list):
        return [_inlined(each, components) for each in node]
    if not isinstance(node, dict):
        return node
    kind, _, name = node.get("$ref", "").removeprefix("#/components/").partition("/")
    if kind in SHARED or {"enum", "pattern"} & components.get(kind, {}).get(name, {}).keys():
        return _inlined(components[kind][name], components)
    return {key: _inlined(value, components) for key, value in node.items()}


def _paths(path: str, operations: Json) -> Iterator[tuple[str, Json]]:
    """The path with all parameters in each of its operations; that of a picture in each of its forms."""
    common = operations.pop("parameters", [])
    whole = {method: {**each, "parameters": common + each["parameters"]} for method, each in operations.items()}
    if not path.endswith(PICTURE):
        yield path, whole
        return
    picture, *others = whole["get"]["parameters"]
    for ending in picture["schema"]["enum"]:
        operation = {**whole["get"], "operationId": f"{whole['get']['operationId']}_{ending}", "parameters": others}
        yield path.replace(PICTURE, ending), {"get": operation}
