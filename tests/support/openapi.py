"""The OpenAPI document with what several operations share in each of them."""

from typing import Any

SHARED = ("parameters", "headers", "responses")
"""Kinds of components; of schemas those that have the words of a parameter."""


def inlined(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "paths": _inlined(document["paths"], document["components"])}


def _inlined(node: Any, components: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_inlined(each, components) for each in node]
    if not isinstance(node, dict):
        return node
    kind, _, name = node.get("$ref", "").removeprefix("#/components/").partition("/")
    if kind in SHARED or "enum" in components.get(kind, {}).get(name, ()):
        return _inlined(components[kind][name], components)
    return {key: _inlined(value, components) for key, value in node.items()}
