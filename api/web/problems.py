"""Errors as HTTP responses: problem+json (RFC 9457), or one cell of CSV."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from flask import Flask, Response, current_app, render_template, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.exceptions import NotFound as NoSuchPath

from api.formats.json import to_json
from api.questions.errors import Errors, Refused
from api.questions.suggestions import clip, either, nearest
from api.service import COST
from api.web.asked import CSV_TYPE, is_for_reading, wants_csv
from api.web.interface.manual import place_of
from costcalc.text import line

LEAST_ALIKE = 65  # percent: /robots.txt is no slip for /cost.xlsx
PROBLEM_TYPE = "application/problem+json"
log = logging.getLogger("costcalc")


@dataclass(frozen=True, slots=True)
class Problem:
    """The document of RFC 9457, with the parameters at fault in `errors`, and in `links` where each is described. `code` names
    the kind of error for programs."""

    type: str
    title: str
    status: int
    detail: str
    errors: dict[str, list[str]] = field(default_factory=dict)
    code: str = ""
    links: dict[str, str] = field(default_factory=dict)

    def csv(self) -> bytes:
        """The message as the only cell of a sheet, quoted, so that no locale's separator splits it."""
        text = self.detail.replace('"', '""')
        return f'"Error {self.status}: {text}"\r\n'.encode()


def problem(status: int, detail: str, errors: Mapping[str, list[str]] | None = None) -> Problem:
    """The document for a status; its title is the status's own phrase."""
    kind, links = HTTPStatus(status), {name: place_of(name) for name in errors or () if name in COST.fields}
    return Problem("about:blank", kind.phrase, status, detail, dict(errors or {}), kind.name.lower(), links)


def handle_errors(app: Flask) -> None:
    """Has every error of the application answered as a problem."""
    app.register_error_handler(Refused, _refused)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Exception, _crashed)


def problem_response(status: int, detail: str, errors: Errors | None = None) -> Response:
    """The answer to a request at fault."""
    document = problem(status, detail, errors)
    if wants_csv():
        response = Response(document.csv(), status, content_type=CSV_TYPE)
    elif is_for_reading():
        response = Response(render_template("problem.html", problem=document), status)
    else:
        response = Response(to_json(document), status, content_type=PROBLEM_TYPE)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Vary"] = "Accept"
    return response


def _refused(error: Refused) -> Response:
    response = problem_response(error.status, error.detail, error.errors)
    if error.status in (429, 503):
        response.headers["Retry-After"] = "5"
    return response


def _http_error(error: HTTPException) -> Response:
    """Werkzeug's own errors, in our form; `Allow` stays on 405."""
    if isinstance(error, NoSuchPath):
        paths = {rule.rule for rule in current_app.url_map.iter_rules() if rule.endpoint != "static"}
        near = nearest(request.path, paths, least_alike=LEAST_ALIKE)
        hint = f"did you mean {either(near)}?" if near else "/docs lists every path"
        return problem_response(404, f"there is no path {clip(request.path)}: {hint}")
    detail = error.description or error.name
    if isinstance(error, MethodNotAllowed):
        methods = either(sorted(error.valid_methods or ["GET"]))
        detail = f"{request.method} is not allowed on this path: use {methods}"
    response = problem_response(error.code or 500, detail)
    if error.response is None:
        for name, value in error.get_headers(request.environ):
            if name not in ("Content-Type", "Content-Length"):
                response.headers[name] = value
    return response


def _crashed(error: Exception) -> Response:
    log.exception("%s %s failed", request.method, line(request.path), exc_info=error)
    return problem_response(500, "the service failed to answer; the error is in its log")
