"""The Flask application: paths, errors, tokens, and the memory in front of it all."""

from __future__ import annotations

import hmac
import logging

from flask import Flask, Response, current_app, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.exceptions import NotFound as NoSuchPath

from api.formats import chart, commitments_sheets
from api.questions import errors as problems
from api.questions.suggestions import clip, either, nearest
from api.reports import accuracy, changes, history, models, offers, throughput
from api.service import Service
from api.settings import Settings
from api.slack import command as slack
from api.web import cost, docs, health, metrics, page
from api.web import plan as plan_http
from api.web.cache import Replay
from api.web.responses import remember, wants_csv

MOST_BODY_BYTES = 1024 * 1024
LONGEST_QUERY = 32_768
OPEN_PATHS = frozenset({"/healthz", "/readyz", slack.PATH})  # Slack proves itself by its signature
BLUEPRINTS = (
    cost,
    accuracy,
    plan_http,
    commitments_sheets,
    chart,
    offers,
    changes,
    history,
    models,
    throughput,
    health,
    docs,
    page,
    slack,
)
SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'",
}
log = logging.getLogger("costcalc")


def create_app(service: Service, settings: Settings | None = None) -> Flask:
    """The application around one service; nothing is built or read here beyond what is given."""
    chosen = settings or Settings()
    app = Flask("api.web", static_folder=None)
    app.config.update(COSTCALC_TOKENS=chosen.api_tokens, MAX_CONTENT_LENGTH=MOST_BODY_BYTES)
    app.url_map.strict_slashes = False
    app.extensions["costcalc"] = service
    app.extensions[slack.EXTENSION] = slack.slash_command(service, chosen)
    for module in BLUEPRINTS:
        app.register_blueprint(module.blueprint)
    app.before_request(_check_request)
    app.after_request(_finish)
    app.register_error_handler(problems.Refused, _refused)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Exception, _crashed)
    replay = Replay(app.wsgi_app, service.current_version, chosen.cache_answers)
    app.wsgi_app = metrics.Measured(replay)  # type: ignore[method-assign]
    return app


def _check_request() -> Response | None:
    """Sizes first, then the token."""
    request.environ[metrics.ROUTE] = request.url_rule.rule if request.url_rule else "unknown"
    if (request.content_length or 0) > MOST_BODY_BYTES:
        return _told(413, f"the body is larger than {MOST_BODY_BYTES} bytes")
    if len(request.query_string) > LONGEST_QUERY:
        return _told(400, f"the query string is longer than {LONGEST_QUERY} characters")
    if _needs_token() and not _has_token():
        response = _told(401, "send an API token as Authorization: Bearer TOKEN, or as token=TOKEN in the address")
        response.headers["WWW-Authenticate"] = "Bearer"
        return response
    return None


def _needs_token() -> bool:
    return bool(_tokens()) and request.path not in OPEN_PATHS


def _tokens() -> tuple[str, ...]:
    tokens: tuple[str, ...] = current_app.config["COSTCALC_TOKENS"]
    return tokens


def _has_token() -> bool:
    header = request.headers.get("Authorization", "")
    sent = header[7:].strip() if header[:7].lower() == "bearer " else request.args.get("token", "")
    return sum(hmac.compare_digest(sent.encode(), token.encode()) for token in _tokens()) > 0  # all: no early exit


def _finish(response: Response) -> Response:
    for name, value in SECURITY_HEADERS.items():
        response.headers.setdefault(name, value)
    remember(response)
    return response


def _told(status: int, detail: str, errors: problems.Errors | None = None) -> Response:
    told = problems.problem(status, detail, errors)
    if wants_csv():
        response = Response(problems.as_csv(told), status, content_type=problems.CSV_TYPE)
    else:
        response = Response(problems.as_json(told), status, content_type=problems.PROBLEM_TYPE)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Vary"] = "Accept"
    return response


def _refused(error: problems.Refused) -> Response:
    response = _told(error.status, error.detail, error.errors)
    if error.status == 503:
        response.headers["Retry-After"] = "5"
    return response


def _http_error(error: HTTPException) -> Response:
    """Werkzeug's own errors, in our form; `Allow` stays on 405."""
    status = error.code or 500
    if isinstance(error, NoSuchPath):
        return _told(404, _no_such_path())
    response = _told(status, _detail(error))
    if error.response is None:
        for name, value in error.get_headers(request.environ):
            if name not in ("Content-Type", "Content-Length"):
                response.headers[name] = value
    return response


def _detail(error: HTTPException) -> str:
    if isinstance(error, MethodNotAllowed):
        return f"{request.method} is not for this path: use {either(sorted(error.valid_methods or ['GET']))}"
    return error.description or error.name


def _no_such_path() -> str:
    rules = {rule.rule for rule in current_app.url_map.iter_rules()}
    near = nearest(request.path, rules)
    hint = f"did you mean {either(near)}?" if near else "/docs lists every path"
    return f"there is no path {clip(request.path)}: {hint}"


def _crashed(error: Exception) -> Response:
    log.exception("%s %s failed", request.method, request.path, exc_info=error)
    return _told(500, "the service failed to answer this; the failure is in its log")
