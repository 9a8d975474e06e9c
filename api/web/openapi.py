"""The OpenAPI 3.1 document, made from the same schemas and row types that serve the requests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
from marshmallow import Schema

from api.questions.fields import MOST_VALUES, Parameter
from api.questions.names import WHERE, Known
from api.reports.accuracy import AccuracyDocument
from api.reports.changes import ChangesDocument
from api.reports.commitments import CommitmentsDocument
from api.reports.cost import CostDocument
from api.reports.history import HistoryDocument
from api.reports.models import ModelDocument, ModelsDocument
from api.reports.offers import OffersDocument
from api.reports.plan import DEFAULTS, MOST_ROWS, ROW, PlanDocument
from api.reports.throughput import ThroughputDocument
from api.service import COST, Service
from api.web.costs import ACCURACY, COMMITMENTS
from api.web.health import Alive, Ready
from api.web.lists import CHANGES, HISTORY, MODELS, OFFERS, THROUGHPUT
from api.web.plan import PLAN
from api.web.problems import PROBLEM_TYPE, Problem
from api.web.responses import TYPES
from api.web.slack import PATH as SLASH_COMMAND
from costcalc import __version__
from pricing import exchange_rates as exchange

Json = dict[str, Any]
REFERENCE = "#/components/schemas/{name}"
_CSV_ONLY = ("excel", "sep", "decimal")
_ASKED_OF_CSV = ("profile", "focus")  # which no other form has


@dataclass(frozen=True, slots=True)
class Operation:
    """One path: what it answers, from which parameters, in which types; `sheets` are the endings under which it comes as one."""

    path: str
    summary: str
    document: type | None = None
    schema: Schema | None = None
    sheets: tuple[str, ...] = ()
    media: str = "application/json"
    errors: tuple[int, ...] = (400, 503)


OPERATIONS = (
    Operation("/cost", "Hours and cost of training to an accuracy, on everything that can be rented", CostDocument, COST,
              sheets=("csv", "xlsx"), errors=(400, 404, 503)),
    Operation("/cost.png", "Cost against time, as a picture", schema=COST, media="image/png", errors=(400, 404, 503)),
    Operation("/cost.svg", "Cost against time, as SVG", schema=COST, media="image/svg+xml", errors=(400, 404, 503)),
    Operation("/accuracy", "The highest accuracy that so much money or time buys", AccuracyDocument, ACCURACY,
              sheets=("csv",), errors=(400, 404, 503)),
    Operation("/plan", "The best estimate for every model and every target", PlanDocument, PLAN, sheets=("csv", "xlsx"),
              errors=(400, 404, 503)),
    Operation("/commitments", "Reserved, committed and monthly offers compared with on demand", CommitmentsDocument,
              COMMITMENTS, sheets=("csv", "xlsx"), errors=(400, 404, 503)),
    Operation("/offers", "The price sheet, with source and date of every rate", OffersDocument, OFFERS,
              sheets=("csv", "xlsx")),
    Operation("/offers/changes", "Rates that are new or different since a date", ChangesDocument, CHANGES,
              sheets=("csv",)),
    Operation("/offers/history", "Every rate ever observed for a machine", HistoryDocument, HISTORY, sheets=("csv",)),
    Operation("/throughput", "Measured images per second, in all and per dollar per hour", ThroughputDocument, THROUGHPUT,
              sheets=("csv",), errors=(400, 404, 503)),
    Operation("/models", "Every model with a measurement", ModelsDocument, MODELS, errors=(400,)),
    Operation("/models/{model}", "One model's recipes with their curves, and its measured throughputs", ModelDocument, MODELS,
              errors=(400, 404)),
    Operation("/healthz", "Liveness", Alive, errors=()),
    Operation("/readyz", "Readiness: the store can be reached and a snapshot is loaded", Ready, errors=(503,)),
    Operation("/metrics", "Prometheus metrics", media="text/plain", errors=()),
    Operation("/", "The page", schema=COST, media="text/html", errors=(400, 404, 503)),
    Operation("/docs", "This document as a page, with a form for each path", media="text/html", errors=()),
    Operation("/openapi.json", "This document", media="application/json", errors=()),
)  # fmt: skip
POST_PLAN = Operation("/plan", "The best estimate for each row of a sheet or list of questions", PlanDocument, DEFAULTS,
                      sheets=("csv", "xlsx"), errors=(400, 404, 413, 415, 503))  # fmt: skip
_MEANINGS = {
    400: "a parameter is missing, misspelt or out of range",
    404: "unknown model",
    413: "the body is too large",
    415: "the body is neither CSV nor JSON",
    503: "no prices are loaded yet",
}
_CELL = {"type": ["string", "number", "boolean", "null"]}  # what is wrong with one stands in its row of the answer
_PLAN_ROW = {
    "type": "object",
    "properties": dict.fromkeys(ROW.fields, _CELL),
    "additionalProperties": False,
}
_PLAN_ROWS = {"type": "array", "items": _PLAN_ROW, "minItems": 1, "maxItems": MOST_ROWS}
_FIRST_ROW = r"^model,target\n[a-z0-9_]+,0\.[0-9]+\n"  # others are told in their rows; no pattern says what a CSV is
_PLAN_SHEET = {"schema": {"type": "string", "pattern": _FIRST_ROW}, "example": "model,target\nresnet50,0.757\n"}
_TEXT = {"type": "string"}
_PROBLEM = {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
_MESSAGE = {
    "type": "object",
    "required": ["response_type", "text"],
    "properties": {
        "response_type": {"type": "string", "enum": ["ephemeral", "in_channel"]},
        "text": _TEXT,
        "blocks": {"type": "array", "items": {"type": "object"}},
    },
}
_TAG = {"ETag": {"description": "tag of the prices, the evidence, the code and the question", "schema": _TEXT}}
_OF_CUT_LISTS = {
    "X-Total-Count": {
        "description": "how many rows there are, where some behind those shown are left out",
        "schema": {"type": "integer"},
    },
    "Link": {"description": 'the address of the next rows, with rel="next", where some are left out', "schema": _TEXT},
}
_FORM = {
    "type": "object",
    "properties": {"text": _TEXT, "response_url": _TEXT, "ssl_check": {"type": "string", "enum": ["1"]}},
}
_REFUSALS = {
    "400": "the form has too many fields",
    "401": "not signed by Slack, signed more than 300 s ago or ahead, or answered before",
    "413": "larger than 1 MiB",
    "415": "not form-encoded",
    "404": "no signing secret is set: Slack has no command here",
}
_SLASH_COMMAND: dict[str, Any] = {
    "operationId": "post_slack_cost",
    "summary": "The slash command, as Slack signs and sends it",
    "parameters": [
        {"name": "X-Slack-Request-Timestamp", "in": "header", "schema": _TEXT, "description": "seconds since 1970"},
        {
            "name": "X-Slack-Signature",
            "in": "header",
            "schema": _TEXT,
            "description": "v0= and an HMAC of the raw body",
        },
    ],
    "requestBody": {"content": {"application/x-www-form-urlencoded": {"schema": _FORM}}},
    "responses": {
        "200": {
            "description": "A message; nothing for ssl_check",
            "content": {"application/json": {"schema": _MESSAGE}, "text/plain": {"schema": _TEXT}},
        },
        **{status: {"description": told, "content": _PROBLEM} for status, told in _REFUSALS.items()},
    },
}


def document(service: Service, names: Known | None) -> Json:
    """The whole document; the names of clouds, regions, machines and recipes are those of the current snapshot."""
    types = [operation.document for operation in OPERATIONS if operation.document]
    _, components = msgspec.json.schema_components([*types, Problem], ref_template=REFERENCE)
    enums = _enums(service, names)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "costcalc",
            "version": __version__,
            "description": "What it costs, and how long it takes, to train a model to an accuracy, and where.",
        },
        "paths": dict(_paths(enums)),
        "components": {
            "schemas": _numbers(components) | {_named(kind): _words(words) for kind, words in enums.items()},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _enums(service: Service, names: Known | None) -> dict[str, list[str]]:
    enums = {kind: list(names.spoken(kind)) for kind in WHERE} if names else {}
    models = {"model": sorted(service.evidence.suggested), "currency": sorted({"USD", *exchange.current_currencies()})}
    return {kind: values for kind, values in {**enums, **models}.items() if values}


def _named(kind: str) -> str:
    """The component that lists the known names of a kind, once, because there are hundreds."""
    return f"Known_{kind}"


def _words(words: list[str]) -> Json:
    return {"type": "string", "enum": words}


def _numbers(node: Any) -> Any:
    """Decimals leave as JSON numbers, where msgspec would describe strings."""
    if isinstance(node, dict):
        if node.get("format") == "decimal":
            return {"type": "number"}
        return {key: _numbers(value) for key, value in node.items()}
    return [_numbers(each) for each in node] if isinstance(node, (list, tuple)) else node


def _paths(enums: dict[str, list[str]]) -> Iterator[tuple[str, Json]]:
    for operation in OPERATIONS:
        for sheet in ("", *operation.sheets):
            methods = {"get": _operation(operation, enums, sheet)}
            if operation.path == POST_PLAN.path:
                methods["post"] = _posted(_operation(POST_PLAN, enums, sheet))
            yield f"{operation.path}.{sheet}".rstrip("."), methods
    yield SLASH_COMMAND, {"post": _SLASH_COMMAND}


def _operation(operation: Operation, enums: dict[str, list[str]], sheet: str = "") -> Json:
    name = operation.path.strip("/{}").replace("/{", "_").replace("/", "_").replace(".", "_") or "page"
    told: Json = {
        "operationId": f"get_{name}_{sheet}".rstrip("_"),
        "summary": f"{operation.summary}, as {sheet.upper()}" if sheet else operation.summary,
        "responses": {"200": _success(operation, sheet)},
    }
    parameters = list(_parameters(operation, enums, sheet))
    if parameters:
        told["parameters"] = parameters
    for status in operation.errors:
        told["responses"][str(status)] = _error(status, operation, sheet)
    return told


def _success(operation: Operation, sheet: str) -> Json:
    content: Json = {}
    if not sheet:
        body = {"$ref": REFERENCE.format(name=operation.document.__name__)} if operation.document else {}
        content[operation.media] = {"schema": body}
    for kind in [sheet] if sheet else operation.sheets:
        content[TYPES[kind].partition(";")[0]] = {"schema": {"type": "string"}}
    is_list = operation.schema is not None and "offset" in operation.schema.fields
    headers = {**_TAG, **(_OF_CUT_LISTS if is_list else {})}
    return {"description": operation.summary, "content": content} | ({"headers": headers} if operation.sheets else {})


def _error(status: int, operation: Operation, sheet: str) -> Json:
    content: Json = {}
    if sheet != "csv":
        content[PROBLEM_TYPE] = {"schema": {"$ref": REFERENCE.format(name="Problem")}}
    if operation.sheets and sheet != "xlsx":
        content["text/csv"] = {"schema": {"type": "string"}}
    if operation.media == "text/html":
        content["text/html"] = {"schema": {"type": "string"}}
    return {"description": _MEANINGS[status], "content": content}


def _parameters(operation: Operation, enums: dict[str, list[str]], sheet: str) -> Iterator[Json]:
    if "{model}" in operation.path:
        yield {
            "name": "model",
            "in": "path",
            "required": True,
            "schema": {"$ref": REFERENCE.format(name=_named("model"))},
        }
    for name, field in (operation.schema.fields if operation.schema else {}).items():
        if name == "token" or (name == "format" and (sheet or not operation.sheets)):
            continue
        if name in _ASKED_OF_CSV and sheet != "csv":
            continue
        if isinstance(field, Parameter) and (operation.sheets or name not in _CSV_ONLY):
            yield _parameter(name, field, name in enums)


def _parameter(name: str, field: Parameter, known: bool) -> Json:
    one = {"$ref": REFERENCE.format(name=_named(name))} if known else field.schema()
    schema = {"type": "array", "items": one, "maxItems": MOST_VALUES} if field.listed else one
    told: Json = {"name": name, "in": "query", "description": field.meaning, "schema": schema}
    told |= {"required": True} if field.required else {"allowEmptyValue": True}
    if field.listed:
        told |= {"style": "form", "explode": True}
    if field.example is not None:
        told["example"] = [field.example] if field.listed else field.example
    return told


def _posted(told: dict[str, Any]) -> dict[str, Any]:
    """An operation as the one that takes rows in its body; what it answers is not kept."""
    told["operationId"] = told["operationId"].replace("get_", "post_")
    told["requestBody"] = {
        "required": True,
        "content": {"application/json": {"schema": _PLAN_ROWS}, "text/csv": _PLAN_SHEET},
    }
    told["responses"]["200"].pop("headers", None)
    return told
