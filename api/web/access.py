"""Who may ask is checked here before every answer; on the page one signs in once, and out."""

from __future__ import annotations

import re

from flask import Blueprint, Response, g, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from api.web.asked import is_for_reading
from api.web.asker import COOKIE, SIGNED_IN, current_access
from api.web.hosts import READS, STORES_NOTHING
from api.web.problems import problem_response

blueprint = Blueprint("access", __name__)
OPEN_ENDPOINTS = frozenset(
    {
        "health.healthz",
        "health.readyz",
        "slack.command",
        "static",
        "access.sign_in",
        "access.signed_in",
        "access.sign_out",
    }
)
METRICS_ENDPOINT = "health.prometheus"
OWN_PLACE = re.compile(r"/(?![/\\])")
LONGEST_PLACE = 33_000  # the longest question, with its path


def check_access() -> AnyResponse | None:
    """What a request is refused with: 401, 403, or for a browser the page to sign in on; None where it may go on.

    Raises NotReady.
    """
    access = current_access()
    if not access.tokens.all or request.endpoint in OPEN_ENDPOINTS:
        return None
    if request.endpoint == METRICS_ENDPOINT and access.is_metrics(request):
        return None
    token = access.token_of(request)
    if token is None:
        return _sign_in_first()
    g.token = token
    if token.read_only and request.method not in READS and request.endpoint not in STORES_NOTHING:
        return problem_response(403, "this token is read-only")
    return None


def _sign_in_first() -> AnyResponse:
    if is_for_reading():
        return redirect(url_for("access.sign_in", next=request.full_path.rstrip("?")), 303)
    message = "send an API token as Authorization: Bearer TOKEN, or as token=TOKEN in the address"
    response = problem_response(401, message)
    response.headers["WWW-Authenticate"] = "Bearer"
    return response


@blueprint.get("/signin")
def sign_in() -> str:
    """The form that asks for a token."""
    return render_template("sign_in.html", next=_next(request.args.get("next", "")), wrong=False)


@blueprint.post("/signin")
def signed_in() -> AnyResponse:
    """Remembers a right token in a cookie that no script reads and no other site sends. Raises NotReady."""
    onwards = _next(request.form.get("next", ""))
    access = current_access()
    token = access.tokens.sent(request.form.get("token", "").strip(), access.clock())
    if token is None:
        return Response(render_template("sign_in.html", next=onwards, wrong=True), 401)
    response = redirect(onwards, 303)
    response.set_cookie(
        COOKIE,
        access.sign_in(token),
        max_age=SIGNED_IN,
        path=request.script_root or "/",
        secure=request.is_secure,
        httponly=True,
        samesite="Strict",
    )
    return response


@blueprint.post("/signout")
def sign_out() -> AnyResponse:
    """Ends the sign-in, also where somebody has copied its cookie. Raises NotReady."""
    current_access().sign_out(request.cookies.get(COOKIE, ""))
    response = redirect(url_for("access.sign_in"), 303)
    response.delete_cookie(COOKIE, path=request.script_root or "/")
    return response


def _next(place: str) -> str:
    """A place of this service to go on to: never another host, nor what a browser would read as one."""
    is_own = OWN_PLACE.match(place) and place.isprintable() and len(place) <= LONGEST_PLACE
    return place if is_own else url_for("pages.page")
