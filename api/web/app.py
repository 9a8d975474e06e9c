"""The Flask application: its paths, the checks of each request, and the memory in front of it."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from flask import Blueprint, Flask, Response, request
from markupsafe import Markup
from werkzeug.wrappers import Response as AnyResponse

from api.bootstrap import build
from api.formats import words
from api.formats.charts.figure import SYMBOLS, scale_across, scale_up
from api.forms.register import QUESTIONS
from api.service import Service
from api.settings import Settings, read_settings
from api.slack.command import slash_command
from api.tokens import Tokens
from api.version import code_version
from api.web import access, asker, files, health, hosts, own_runs, plan, slack
from api.web.access import check_access
from api.web.asker import Access, KeptSignIns
from api.web.compression import pack
from api.web.hosts import Hosts, check_host
from api.web.interface import documents, manual
from api.web.pages import question, taking, training
from api.web.pages.card import with_pages
from api.web.pages.form_above import form_and_answer
from api.web.pages.known_names import known_names
from api.web.problems import handle_errors, problem_response
from api.web.replay import MEMORY, ROUTE, Environ, Replay, StartResponse, Wsgi
from api.web.responses import answered, form_or_rows, remember, without_prices
from api.web.turns import Turns
from costcalc.units import in_words

LONGEST_QUERY = 32_768
STYLE_SECONDS = 3600
MOST_BODY_BYTES = 1024 * 1024
THEME = Path(__file__).with_name("static").joinpath("theme.js").read_text()
"""The script that every page has within it, so that nothing is fetched before the page is drawn."""
VIEWS: Mapping[str, Callable[..., Response]] = {
    "ask": question.ask_view,
    "compare": form_and_answer,
    "cost": question.cost_view,
    "history": form_or_rows,
    "model": without_prices,
    "models": without_prices,
}
"""Of questions that are not answered in the usual way, by name."""
SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with no-referrer, browsers call the origin of our own forms null
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; "
    f"script-src 'self' 'sha256-{b64encode(sha256(THEME.encode()).digest()).decode()}'; connect-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
}


def create_app(service: Service | None = None, settings: Settings | None = None) -> Flask:
    """The application around a service. Without arguments, both are those that the environment describes."""
    chosen = settings or (Settings() if service else read_settings(os.environ))
    app = Flask("api.web")
    app.config.update(
        COSTCALC_PRIVATE=bool(chosen.api_tokens),
        COSTCALC_EDITION_KEY=chosen.edition_key,
        COSTCALC_EDITION_WITHOUT=chosen.edition_without,
        MAX_CONTENT_LENGTH=MOST_BODY_BYTES,
        SEND_FILE_MAX_AGE_DEFAULT=STYLE_SECONDS,
    )
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False  # else `//cost?token=` is redirected, with the token in Location
    app.add_url_rule("/style.css", "static", defaults={"filename": "style.css"})
    around = (service or build(chosen)).changed(watch=lambda answer: health.ESTIMATES.inc(answer.count))
    app.extensions["costcalc"] = around
    tokens = Tokens.of(chosen.api_tokens, chosen.metrics_token)
    app.extensions[asker.EXTENSION] = Access(tokens, around.sign_ins or KeptSignIns(), around.clock)
    app.extensions[plan.EXTENSION] = Turns()
    app.extensions[hosts.EXTENSION] = Hosts.of(chosen)
    app.extensions[slack.EXTENSION] = slash_command(around, chosen)
    for module in (access, files, plan, own_runs, question, training, documents, manual, health, slack):
        app.register_blueprint(module.blueprint)
    app.register_blueprint(_questions())
    app.before_request(_check_request)
    app.context_processor(_everywhere)
    app.jinja_env.globals.update(symbols=Markup(SYMBOLS), theme=Markup(THEME), words=words, in_words=in_words)
    app.jinja_env.globals.update(scale_across=scale_across, scale_up=scale_up)
    app.jinja_env.filters["with_pages"] = with_pages
    app.jinja_env.globals.update(why=taking.explained, taken=taking.taking, url_of=taking.url_of)
    app.after_request(_finish)
    handle_errors(app)
    code_version()  # read now: the files may be replaced while this process runs
    replay = Replay(app.wsgi_app, around.current_state, chosen.cache_answers)
    app.extensions[MEMORY] = replay
    path = urlsplit(chosen.public_url or "").path.rstrip("/")
    app.wsgi_app = health.Measured(Below(path, replay) if path else replay)  # type: ignore[method-assign]
    return app


def _questions() -> Blueprint:
    """The paths of the register: each with the files and the pictures that its answer comes as."""
    blueprint = Blueprint("questions", __name__)
    for each in QUESTIONS:
        view = partial(VIEWS.get(each.name, answered), each)
        rule = each.path.replace("{", "<").replace("}", ">")
        for ending in ("", *each.endings):
            blueprint.add_url_rule(f"{rule}.{ending}".rstrip("."), each.name, view, methods=["GET"])
    return blueprint


class Below:
    """WSGI middleware that serves below the path of the public address, whether or not a proxy takes it off."""

    def __init__(self, path: str, app: Wsgi) -> None:
        self._path = path
        self._app = app

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        within = path == self._path or path.startswith(f"{self._path}/")
        environ["PATH_INFO"] = path.removeprefix(self._path) if within else path
        environ["SCRIPT_NAME"] = self._path
        return self._app(environ, start_response)


def _check_request() -> AnyResponse | None:
    """The name and the page that ask, sizes, then the token."""
    request.environ[ROUTE] = request.url_rule.rule if request.url_rule else "unknown"
    check_host(request)
    if (request.content_length or 0) > MOST_BODY_BYTES:
        return problem_response(413, f"the body is larger than {MOST_BODY_BYTES} bytes")
    if len(request.query_string) > LONGEST_QUERY:
        return problem_response(400, f"the query string is longer than {LONGEST_QUERY} characters")
    return check_access()


def _everywhere() -> dict[str, object]:
    """What every page shows: the version of its style and scripts, and whether one may sign out."""
    version = code_version()[-12:]
    return {"version": version, "signed_in": asker.COOKIE in request.cookies, "known_names": known_names}


def _finish(response: Response) -> Response:
    for name, value in SECURITY_HEADERS.items():
        response.headers.setdefault(name, value)
    pack(response)
    remember(response)
    return response
