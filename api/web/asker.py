"""Who asks: by a token in the header or in the address, or by the cookie of a browser that signed in with one."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import blake2b, sha256
from ipaddress import IPv6Address, ip_address, ip_network
from typing import cast

from flask import current_app, g, request
from itsdangerous import BadSignature, URLSafeSerializer
from werkzeug.sansio.request import Request

from api.stored import StoredSignIns
from api.tokens import Token, Tokens
from pricing.store.changes import By
from pricing.store.store import SignIn

EXTENSION = "costcalc.access"
COOKIE = "costcalc"
SIGNED_IN = timedelta(days=30)


@dataclass(frozen=True)
class Access:
    """The tokens that are accepted, and who is signed in with one.

    A cookie holds a random text, signed with the store's key; the store has its digest alone. So neither a copy of the store nor
    the settings tell what opens the door.
    """

    tokens: Tokens
    sign_ins: StoredSignIns | KeptSignIns
    clock: Callable[[], datetime]

    def token_of(self, request: Request, look: bool = True) -> Token | None:
        """The accepted token of a request. A sign-in of this moment is looked up in the store only where one may wait for that.

        Raises NotReady where it cannot be looked up.
        """
        header = request.headers.get("Authorization", "")
        if header[:7].lower() == "bearer ":
            return self.tokens.sent(header[7:].strip(), self.clock())
        if "token" in request.args:
            return self.tokens.sent(request.args["token"], self.clock())
        cookie = request.cookies.get(COOKIE)
        return self._signed_in(cookie, look) if cookie and self.tokens.all else None

    def is_metrics(self, request: Request) -> bool:
        scheme, _, sent = request.headers.get("Authorization", "").partition(" ")
        token = self.tokens.metrics
        return token is not None and scheme.lower() == "bearer" and token.is_text(sent.strip(), self.clock())

    def sign_in(self, token: Token) -> str:
        """What the cookie of a browser that signs in holds. Raises NotReady."""
        text, now = secrets.token_urlsafe(24), self.clock()
        self.sign_ins.add(SignIn(_digest(text), token.id(self.sign_ins.key()), now + SIGNED_IN), now)
        return self._signer.dumps(text)

    def sign_out(self, cookie: str) -> None:
        id = self._id_in(cookie)
        if id:
            self.sign_ins.end(id)

    def _signed_in(self, cookie: str, look: bool) -> Token | None:
        identities = self.sign_ins.known()
        id = self._id_in(cookie) if identities or look else None
        if id is None:
            return None
        sign_in = self.sign_ins.find(id) if look else identities.get(id)
        now = self.clock()
        return self.tokens.of_id(sign_in.token, self.sign_ins.key(), now) if sign_in and now < sign_in.until else None

    def _id_in(self, cookie: str) -> str | None:
        try:
            return _digest(self._signer.loads(cookie))
        except (BadSignature, AttributeError):  # or signed, and no text
            return None

    @property
    def _signer(self) -> URLSafeSerializer:
        return URLSafeSerializer(self.sign_ins.key(), salt="signed in")


@dataclass
class KeptSignIns:
    """Sign-ins in the memory of one process, for an application that has no store."""

    _kept: dict[str, SignIn] = field(default_factory=dict)
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    def key(self) -> bytes:
        return self._key

    def known(self) -> Mapping[str, SignIn]:
        return self._kept

    def find(self, id: str) -> SignIn | None:
        return self._kept.get(id)

    def add(self, sign_in: SignIn, _: datetime) -> None:
        self._kept[sign_in.id] = sign_in

    def end(self, id: str) -> None:
        self._kept.pop(id, None)


def visitor_of(request: Request, token: Token | None) -> str:
    """Who asks, to be counted: the token if it is accepted, else the address, since anybody can make up another token. Of IPv6 it
    is the network, which has one subscriber."""
    if token:
        return blake2b(token.digest, digest_size=12).hexdigest()
    address = request.remote_addr or ""
    try:
        parsed = ip_address(address)
    except ValueError:  # through a Unix socket, or as a proxy says
        return address
    if isinstance(parsed, IPv6Address) and not parsed.ipv4_mapped:
        return str(ip_network((parsed, 64), strict=False))
    return address


def current_access() -> Access:
    """Who may ask the running application."""
    return cast(Access, current_app.extensions[EXTENSION])


def current_token() -> Token | None:
    """The token of the request that is being answered; None where none is needed."""
    return cast(Token | None, g.get("token"))


def current_visitor() -> str:
    """Who sends the request, to be counted."""
    return visitor_of(request, current_token())


def current_owner() -> str | None:
    """Whose runs the request sees beside those that everybody sees. Raises NotReady."""
    token = current_token()
    return token.owner(current_access().sign_ins.key()) if token else None


def current_sharer() -> str:
    """By which name everybody sees what the request shares: never an address. Raises NotReady."""
    token = current_token()
    return token.who(current_access().sign_ins.key()) if token else "somebody without a token"


def current_author() -> By:
    """Who changes something by the request. Raises NotReady."""
    access, token = current_access(), current_token()
    return By(
        token.who(access.sign_ins.key()) if token else f"somebody at {request.remote_addr or 'this machine'}",
        access.clock(),
    )


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
