"""Parses the texts of a query string into values, and faults into messages for each parameter."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from enum import Enum
from typing import Any

from marshmallow import Schema, ValidationError

from api.questions.errors import Errors
from api.questions.fields import Parameter
from api.questions.suggestions import Guesses, unknown
from pricing import exchange_rates as exchange

Arguments = Mapping[str, list[str]]


def parse(
    schema: Schema, arguments: Arguments, guesses: Guesses, optional: tuple[str, ...] = ()
) -> tuple[dict[str, Any], Errors]:
    """Parsed values and errors by parameter. Blank values count as not given; names starting with `_` are ignored, and so is that
    a required one of the `optional` is missing."""
    given = {name: [value.strip(" ") for value in values if value.strip(" ")] for name, values in arguments.items()}
    errors: Errors = {}
    for name in given:
        if name not in schema.fields and not name.startswith("_"):
            errors[name if len(name) <= 60 else f"{name[:60]}..."] = [
                guesses.unknown_parameter("parameter", name, schema.fields, "see /docs for all of them")
            ]
    texts = {name: values for name, values in given.items() if name in schema.fields and values}
    values, wrong = _load(schema, texts, optional)
    return values, {**errors, **wrong, **_unknown_currency(values)}


def as_texts(value: object) -> list[str]:
    """A value, or several, as a query string would have them."""
    if isinstance(value, (list, tuple)):
        return [text for each in value for text in as_texts(each)]
    if isinstance(value, bool):
        return [str(value).lower()]
    if isinstance(value, date):
        return [value.isoformat()]
    return [str(value.value if isinstance(value, Enum) else value)]


def _load(schema: Schema, texts: dict[str, list[str]], optional: tuple[str, ...]) -> tuple[dict[str, Any], Errors]:
    try:
        return schema.load(texts, partial=optional), {}
    except ValidationError as error:
        valid: Any = error.valid_data
        messages: Any = error.messages
        return dict(valid or {}), {name: _with_example(schema, name, lines) for name, lines in messages.items()}


def _with_example(schema: Schema, name: str, messages: list[str]) -> list[str]:
    if messages == [Parameter.default_error_messages["required"]]:
        example = schema.fields[name].example  # type: ignore[attr-defined]
        return [f"missing: add {name}={example}"]
    return messages


def _unknown_currency(values: dict[str, Any]) -> Errors:
    """A currency without a published rate is an error, unless the question brings its own rate."""
    code = values.get("currency", "USD")
    if code == "USD" or code in {rate.currency for rate in values.get("fx", ())}:
        return {}
    codes = exchange.currencies()
    where = f"known are {', '.join(codes)}"
    return {} if code in codes else {"currency": [unknown("currency", code, codes, where)]}
