"""Who may ask: tokens in a header, in the address, or once on the page, which then remembers it in a cookie."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from hashlib import sha256
from typing import cast
from urllib.parse import urlsplit

from flask import Blueprint, Response, current_app, g, redirect, render_template, request, url_for
from itsdangerous import BadSignature, URLSafeTimedSerializer
from werkzeug.wrappers import Response as AnyResponse

from api.questions.errors import Refused
from api.web.problems import problem_response
from api.web.responses import is_for_reading

blueprint = Blueprint("access", __name__)
EXTENSION = "costcalc.tokens"
COOKIE = "costcalc"
SIGNED_IN_SECONDS = 30 * 24 * 3600
READ_ONLY = "read:"
HASHED = "sha256:"
OPEN_ENDPOINTS = frozenset(
    {"health.healthz", "health.readyz", "slack.command", "static", "access.sign_in", "access.signed_in"}
)
READS = frozenset({"GET", "HEAD", "OPTIONS"})
QUESTIONS = frozenset({"plan.post_plan"})  # a question too long for an address: it stores nothing


@dataclass(frozen=True, slots=True)
class Token:
    """A token that is accepted, known by its SHA-256 digest alone."""

    digest: bytes
    read_only: bool = False

    @classmethod
    def of(cls, written: str) -> Token:
        """From a setting: the token or `sha256:` and its digest in hexadecimal, behind `read:` for one that may only read.

        Raises ValueError where that is no digest.
        """
        read_only = written.startswith(READ_ONLY)
        text = written.removeprefix(READ_ONLY)
        if text.startswith(HASHED):
            digest = bytes.fromhex(text.removeprefix(HASHED))
            if len(digest) != sha256().digest_size:
                raise ValueError(f"a SHA-256 digest has 64 hexadecimal digits, not {2 * len(digest)}")
            return cls(digest, read_only)
        return cls(_digest(text), read_only)


@dataclass(frozen=True)
class Tokens:
    """All tokens that are accepted; without any the service is open."""

    all: tuple[Token, ...]

    @classmethod
    def of(cls, written: tuple[str, ...]) -> Tokens:
        """From the setting's parts."""
        return cls(tuple(map(Token.of, written)))

    def named(self, digest: bytes) -> Token | None:
        """The token of that digest. Every one is compared, so that the time tells nothing."""
        found = [token for token in self.all if hmac.compare_digest(token.digest, digest)]
        return found[0] if found else None

    def sent(self, text: str) -> Token | None:
        """The token that a client sent."""
        return self.named(_digest(text))

    @cached_property
    def cookies(self) -> URLSafeTimedSerializer:
        """Signs cookies so that all servers with the same tokens accept them; another token ends every sign-in."""
        return URLSafeTimedSerializer(sha256(b"".join(token.digest for token in self.all)).digest(), salt="signed in")

    def remembered(self, cookie: str) -> Token | None:
        """The token with which the browser of this cookie signed in; a server whose clock is fast may have signed it."""
        try:
            digest, signed_at = self.cookies.loads(cookie, return_timestamp=True)
            is_old = datetime.now(UTC) - signed_at > timedelta(seconds=SIGNED_IN_SECONDS)
            return None if is_old else self.named(bytes.fromhex(digest))
        except (BadSignature, ValueError, TypeError):
            return None


def current_tokens() -> Tokens:
    """Those of the running application."""
    return cast(Tokens, current_app.extensions[EXTENSION])


def check_access() -> AnyResponse | None:
    """What a request is refused with: 401, 403, or for a browser the page to sign in on; None where it may go on."""
    if not current_tokens().all or request.endpoint in OPEN_ENDPOINTS:
        return None
    token = _token()
    if token is None:
        return _sign_in_first()
    g.asker, g.only_reads = token.digest.hex(), token.read_only
    if token.read_only and request.method not in READS and request.endpoint not in QUESTIONS:
        return problem_response(403, "this token may only read")
    return None


def _token() -> Token | None:
    header = request.headers.get("Authorization", "")
    if header[:7].lower() == "bearer ":
        return current_tokens().sent(header[7:].strip())
    if "token" in request.args:
        return current_tokens().sent(request.args["token"])
    return current_tokens().remembered(request.cookies.get(COOKIE, ""))


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
    """Remembers a right token in a cookie that no script reads and no other site sends.

    Raises Refused for another site's form.
    """
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
        raise Refused(403, "sign in on this service's own page")
    onwards = _next(request.form.get("next", ""))
    token = current_tokens().sent(request.form.get("token", "").strip())
    if token is None:
        return Response(render_template("sign_in.html", next=onwards, wrong=True), 401)
    response = redirect(onwards, 303)
    value = current_tokens().cookies.dumps(token.digest.hex())
    response.set_cookie(
        COOKIE,
        value,
        max_age=SIGNED_IN_SECONDS,
        path=request.script_root or "/",
        secure=request.is_secure,
        httponly=True,
        samesite="Strict",
    )
    return response


@blueprint.post("/signout")
def sign_out() -> AnyResponse:
    """Forgets the token in this browser."""
    response = redirect(url_for("access.sign_in"), 303)
    response.delete_cookie(COOKIE, path=request.script_root or "/")
    return response


def _next(asked: str) -> str:
    """A place of this service to go on to: never another host."""
    parts = urlsplit(asked)
    own = asked.startswith("/") and not parts.netloc and not asked.startswith(("//", "/\\"))
    return asked if own else url_for("pages.page")


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()
