"""The OpenAPI 3.1 document, made from the same schemas and row types that serve the requests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from itertools import chain
from typing import Any

import msgspec
from marshmallow import Schema

from api.forms.plan import DEFAULTS, ROW, PlanDocument
from api.forms.question import PICTURES as DRAWN
from api.forms.question import Question
from api.forms.register import QUESTIONS
from api.questions.fields import MOST_VALUES, Parameter
from api.reports.brief import Brief
from api.reports.own_runs import OwnRecipe, OwnRecipesDocument
from api.reports.rates import RatesDocument
from api.reports.rows import MOST_COLUMNS, MOST_ROWS
from api.service import COST
from api.version import installed_version
from api.web.asked import JSON_TYPE, TYPES
from api.web.asker import COOKIE
from api.web.files import FEED, LAUNCH
from api.web.health import Alive, Ready
from api.web.own_runs import RUN
from api.web.plan import PLAN
from api.web.problems import PROBLEM_TYPE, Problem
from api.web.responses import OTHERS, PICTURES
from api.web.slack import PATH as SLASH_COMMAND
from costcalc.answers import Estimate
from costcalc.flat import flat_type
from costcalc.query import EstimateQuery

Json = dict[str, Any]
CSV, HTML = "text/csv", "text/html"
COST_PATH = "/cost"
REFERENCE = "#/components/schemas/{name}"
ABOUT = """What it will cost to train a model to an accuracy, how long it will take, and where.

Case and spaces around a value are ignored, and a parameter without a value counts as not given. Parameters whose names start \
with `_` are ignored. Every path of GET also takes HEAD; other methods are refused with 405."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One path: what it answers, from which parameters, in which types; `sheets` are the endings under which it comes as one,
    `status` is that of an answer that is no error."""

    path: str
    summary: str
    document: type | None = None
    schema: Schema | None = None
    sheets: tuple[str, ...] = ()
    media: str = JSON_TYPE
    errors: tuple[int, ...] = ()  # beside those of every path
    method: str = "get"
    body: Json | None = None
    status: int = 200
    is_page: bool = False  # for browsers

    @property
    def group(self) -> str:
        """The part of the interface to which it belongs: its path's first word, or what every service has."""
        first = re.split("[/.]", self.path)[1]
        return (first or "page") if self.schema or first == "recipes" else "service"

    @property
    def is_picture(self) -> bool:
        return self.media in PICTURES.values()

    @property
    def is_kept(self) -> bool:
        """Whether clients keep the answer, by its tag."""
        return self.method == "get" and self.schema is not None and self.media != "text/html"


_TEXT = {"type": "string"}
_BYTES = {"type": "string", "format": "binary"}
_BODIES: dict[str, Json] = {PICTURES["png"]: _BYTES, OTHERS["yaml"]: {}, OTHERS["atom"]: {}, OTHERS["edition"]: _BYTES}
_NULL = {"type": "null"}
_CELL = {"type": ["string", "number", "boolean", "null"]}  # what is wrong with one stands in its row of the answer
_CELLS = {**_CELL, "type": [*_CELL["type"], "array"], "items": {"type": ["string", "number", "boolean"]}}
_PLAN_ROW = {
    "type": "object",
    "properties": {name: {"$ref": REFERENCE.format(name="Cells")} for name in ROW.fields},
    "patternProperties": {"^_": _CELLS},  # the user's own columns, which the answer repeats
    "additionalProperties": False,
    "maxProperties": MOST_COLUMNS,
}
_PLAN_ROWS = {
    "type": "array",
    "items": {"$ref": REFERENCE.format(name="PlanRow")},
    "minItems": 1,
    "maxItems": MOST_ROWS,
}
_PLAN_SHEET = {"schema": _TEXT, "example": "model,target\nresnet50,0.757\n"}  # of any type of text
_PLAN_BODY = {
    JSON_TYPE: {"schema": {"$ref": REFERENCE.format(name="PlanRows")}},
    "text/csv": _PLAN_SHEET,
    "*/*": _PLAN_SHEET,
}

_LOG_BODY = {
    "multipart/form-data": {"schema": {"type": "object", "required": ["file"], "properties": {"file": _BYTES}}},
    "application/octet-stream": {"schema": _BYTES},
}
_IN_PATHS = {"model": "resnet50", "id": "my-run", "page": "reference", "name": "summary.png"}


def _operations(question: Question) -> Iterator[Operation]:
    """The answer to a question, then its picture in each of its forms."""
    path, schema, errors = question.path, question.schema, question.errors
    document, is_page = question.code.document, question.has_page
    yield Operation(path, question.summary, document, schema, question.files, errors=errors, is_page=is_page)
    if question.chart:
        for kind, form in DRAWN.items():
            summary, refusals = f"{question.chart.shows}, as {form}", (404, 501) if kind == "png" else (404,)
            yield Operation(f"{path}.{kind}", summary, schema=schema, media=PICTURES[kind], errors=refusals)


OPERATIONS = (
    *chain.from_iterable(map(_operations, QUESTIONS)),
    Operation("/plan", "The best estimate for every model and every target", PlanDocument, PLAN, sheets=("csv", "xlsx"),
              errors=(404,), is_page=True),
    Operation("/plan", "The best estimate for each row of a sheet or list of questions", PlanDocument, DEFAULTS,
              sheets=("csv", "xlsx"), errors=(404, 408, 413, 415), method="post", body=_PLAN_BODY, is_page=True),
    Operation("/cost.atom", "The answer as a feed, which tells when it changes or costs less than a sum", schema=FEED,
              media=OTHERS["atom"], errors=(404,)),
    Operation("/launch", "A file that SkyPilot or dstack starts the training with", schema=LAUNCH, media=OTHERS["yaml"],
              errors=(404,)),
    Operation("/recipes", "Your own training runs and speeds", OwnRecipesDocument, is_page=True),
    Operation("/recipes", "Turns a training log into a recipe, for questions to name as model", OwnRecipe, RUN,
              errors=(409, 413, 422), method="post", body=_LOG_BODY, status=201),
    Operation("/recipes/{id}", "Removes one of your own runs or speeds", errors=(404,), method="delete", status=204),
    Operation("/prices/latest", "The current rates that may be passed on, as an edition", media=OTHERS["edition"]),
    Operation("/prices/latest.csv", "The same rates as a sheet, in the columns of /offers.csv", media=TYPES["csv"]),
    Operation("/healthz", "Liveness", Alive),
    Operation("/readyz", "Readiness: the store can be reached and a snapshot is loaded", Ready),
    Operation("/metrics", "Prometheus metrics", media="text/plain"),
    Operation("/", "The page", schema=COST, media="text/html", errors=(404,)),
    Operation("/train", "The language models that have a page", media="text/html"),
    Operation("/train/{model}", "What it costs to train a language model, by method and card", media="text/html", errors=(404,)),
    Operation("/docs", "This document as a page, with a form for each path", media="text/html"),
    Operation("/docs/{page}", "A document as a page", media="text/html", errors=(404,)),
    Operation("/docs/files/{name}", "A picture of a document", media=PICTURES["png"], errors=(404,)),
    Operation("/openapi.json", "This document", media="application/json"),
)  # fmt: skip
_MEANINGS = {
    400: "a parameter is missing, misspelt or out of range, or the address is too long",
    401: "no accepted token",
    404: "unknown model or document, or no such run of your own",
    408: "the body did not arrive in time",
    409: "a run of this name exists, or there are too many",
    413: "the body is larger than 1 MiB",
    415: "the body is neither CSV nor JSON",
    422: "reading the log takes too much processor time, memory or time by the clock",
    429: "too many requests: ask again after the seconds of Retry-After",
    501: "this server draws no pictures",
    503: "no prices are loaded yet, the question takes more processor time than one may, or too many questions at once: ask "
    "again after the seconds of Retry-After",
}
_OF_EVERY_PATH = (400, 429, 503)
_OPEN = ("/healthz", "/readyz", SLASH_COMMAND)  # without a token
_SECURITY = {
    "token": {"type": "http", "scheme": "bearer"},
    "token_in_address": {"type": "apiKey", "in": "query", "name": "token"},
    "signed_in": {"type": "apiKey", "in": "cookie", "name": COOKIE},
}
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
    "X-Message": {"description": "why a sheet has no rows", "schema": _TEXT},
    "Link": {"description": 'the address of the next rows, with rel="next", where some are left out', "schema": _TEXT},
}
_FORM = {
    "type": "object",
    "properties": {"text": _TEXT, "response_url": _TEXT, "ssl_check": {"type": "string", "enum": ["1"]}},
}
_SIGNED = {"X-Slack-Request-Timestamp": "seconds since 1970", "X-Slack-Signature": "v0= and an HMAC of the raw body"}
_REFUSED_TO_SLACK = {
    400: "the form has too many fields",
    401: "not signed by Slack, signed more than 300 s ago or ahead, or answered before",
    404: "no signing secret is set: Slack has no command here",
    408: "the form did not arrive in time",
    413: "larger than 1 MiB",
    415: "not form-encoded",
    429: "too many requests",
    503: "too many questions at once",
}

_OF_SHEETS = {"focus": ("csv",), "brief": ("",)}
"""The only endings whose answers some parameters change."""


def _error(meaning: str, first: str = PROBLEM_TYPE) -> Json:
    """A problem, or its message as a sheet's only cell for who asked for CSV, or as a page. Clients expect the `first`."""
    kinds = {PROBLEM_TYPE: {"$ref": REFERENCE.format(name="Problem")}, CSV: _TEXT, HTML: _TEXT}
    order = sorted(kinds, key=lambda kind: kind != first)
    return {"description": meaning, "content": {kind: {"schema": kinds[kind]} for kind in order}}


_SLASH_COMMAND: Json = {
    "operationId": "post_slack_cost",
    "summary": "The slash command, as Slack signs and sends it",
    "tags": ["slack"],
    "security": [{}],
    "parameters": [
        {"name": name, "in": "header", "schema": _TEXT, "description": told} for name, told in _SIGNED.items()
    ],
    "requestBody": {"content": {"application/x-www-form-urlencoded": {"schema": _FORM}}},
    "responses": {
        "200": {
            "description": "A message; nothing for ssl_check",
            "content": {JSON_TYPE: {"schema": _MESSAGE}, "text/plain": {"schema": _TEXT}},
        },
        **{str(status): _error(told) for status, told in _REFUSED_TO_SLACK.items()},
    },
}


def described(private: bool, root: str) -> Json:
    """The whole document: `private` where tokens are set, `root` the path below which the service is served."""
    documents = [operation.document for operation in OPERATIONS if operation.document]
    types = [*documents, RatesDocument, Brief, Problem, flat_type()]
    _, components = msgspec.json.schema_components(types, schema_hook=_flat, ref_template=REFERENCE)
    asked = components[EstimateQuery.__name__]["properties"]
    for name in ("target", "metric"):  # a training by tokens or hours has no goal
        asked[name]["type"] = [asked[name]["type"], "null"]
    return {
        "openapi": "3.1.0",
        "info": {"title": "costcalc", "version": installed_version(), "description": ABOUT},
        "servers": [{"url": root or "/"}],
        "security": [{name: []} for name in _SECURITY] if private else [{}],
        "paths": _paths(private),
        "components": {
            "schemas": {"Cells": _CELLS, "PlanRow": _PLAN_ROW, "PlanRows": _PLAN_ROWS, **_plain(components)},
            "securitySchemes": _SECURITY,
        },
    }


def _flat(kind: type) -> Json:
    if kind is Estimate:
        return {"$ref": REFERENCE.format(name="Estimate")}
    raise NotImplementedError


def _plain(node: Any) -> Any:
    """As short as it can be said: decimals leave as JSON numbers, where msgspec would describe strings; what may be null is a
    type of two; a schema's name need not stand in it too."""
    if isinstance(node, (list, tuple)):
        return [_plain(each) for each in node]
    if not isinstance(node, dict):
        return node
    if node.get("format") == "decimal":
        return {"type": "number"}
    plain = {key: _plain(value) for key, value in node.items() if key != "title" or isinstance(value, dict)}
    first, *null = plain.get("anyOf", ({},))
    if null == [_NULL] and isinstance(first.get("type"), str) and first.keys() == {"type"}:
        return {key: value for key, value in plain.items() if key != "anyOf"} | {"type": [first["type"], "null"]}
    return plain


def _paths(private: bool) -> dict[str, Json]:
    paths: dict[str, Json] = {}
    for operation in OPERATIONS:
        for sheet in ("", *operation.sheets):
            path = f"{operation.path}.{sheet}".rstrip(".")
            paths.setdefault(path, {})[operation.method] = _operation(operation, sheet, private)
    return {**paths, SLASH_COMMAND: {"post": _SLASH_COMMAND}}


def _operation(operation: Operation, sheet: str, private: bool) -> Json:
    name = re.sub("[^a-z]+", "_", operation.path).strip("_") or "page"
    document: Json = {
        "operationId": f"{operation.method}_{name}_{sheet}".rstrip("_"),
        "summary": f"{operation.summary}, as {sheet.upper()}" if sheet else operation.summary,
        "tags": [operation.group],
        "parameters": list(_parameters(operation, sheet)),
        "responses": {str(operation.status): _success(operation, sheet), **dict(_refusals(operation, sheet, private))},
    }
    if operation.path in _OPEN:
        document["security"] = [{}]
    if operation.body:
        document["requestBody"] = {"required": True, "content": operation.body}
    return document


def _refusals(operation: Operation, sheet: str, private: bool) -> Iterator[tuple[str, Json]]:
    if operation.path == COST_PATH and not sheet:
        yield "303", {"description": "a browser is sent to the page", "content": {HTML: {"schema": _TEXT}}}
    if operation.is_kept:
        yield "304", {"description": "the client already has this answer (If-None-Match)"}
    first = CSV if sheet == "csv" else HTML if operation.media == HTML else PROBLEM_TYPE
    unknown = (401,) if private and operation.path not in _OPEN else ()
    for status in sorted({*_OF_EVERY_PATH, *operation.errors, *unknown}):
        yield str(status), _error(_MEANINGS[status], first)


def _success(operation: Operation, sheet: str) -> Json:
    content: Json = {}
    if not sheet and operation.status != HTTPStatus.NO_CONTENT:
        body = _BODIES.get(operation.media, _TEXT)
        if operation.media == JSON_TYPE:
            body = _document(operation.document, operation.schema) if operation.document else {}
        content[operation.media] = {"schema": body}
        if operation.is_page:
            content[HTML] = {"schema": _TEXT}
    for kind in [sheet] if sheet else operation.sheets:
        content[TYPES[kind].partition(";")[0]] = {"schema": _BYTES if kind == "xlsx" else _TEXT}
    is_list = operation.schema is not None and "offset" in operation.schema.fields and not operation.is_picture
    headers = {**(_TAG if operation.is_kept else {}), **(_OF_CUT_LISTS if is_list else {})}
    description = "the same as a sheet" if sheet else "the picture" if operation.is_picture else operation.summary
    return {"description": description, "headers": headers, "content": content}


def _document(kind: type, schema: Schema | None) -> Json:
    """The type of the answer; the shorter one too where a question may ask for that."""
    whole = {"$ref": REFERENCE.format(name=kind.__name__)}
    is_brief = schema is not None and "fields" in schema.fields
    return {"anyOf": [whole, {"$ref": REFERENCE.format(name=Brief.__name__)}]} if is_brief else whole


def _parameters(operation: Operation, sheet: str) -> Iterator[Json]:
    for name, example in _IN_PATHS.items():
        if f"{{{name}}}" in operation.path:
            yield {"name": name, "in": "path", "required": True, "schema": _TEXT, "example": example}
    for name, field in (operation.schema.fields if operation.schema else {}).items():
        if name == "token" or (name == "format" and (sheet or not operation.sheets)):
            continue
        if isinstance(field, Parameter) and (operation.sheets or field.param.part != "sheet"):
            if sheet not in _OF_SHEETS.get(field.param.part, (sheet,)):
                continue
            single = field.schema()
            schema = {"type": "array", "items": single, "maxItems": MOST_VALUES} if field.listed else single
            parameter: Json = {"name": name, "in": "query", "description": field.meaning, "schema": schema}
            if field.required:
                parameter["required"] = True
            if field.example is not None:
                parameter["example"] = [field.example] if field.listed else field.example
            yield parameter
