"""A source's API: where it lives, which settings say otherwise, and calls whose faults are said in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from msgspec import Struct

from pricing.sources.common.http import Http, HttpError
from pricing.sources.source import Collected, CredentialsMissing, Environment, SourceError, SourceSetting, SourceSpec

T = TypeVar("T")
Read = Callable[["Endpoint", datetime], Collected]


class NotThere(SourceError):
    """The provider has nothing at this address (404)."""


def address(variable: str, url: str) -> SourceSetting:
    """The setting of an API's address."""
    return SourceSetting(variable, "address of the API, or of a mirror", url)


def one_call(path: str, offers: Callable[[object, datetime], Collected], **query: str) -> Read:
    """Reads an API of which a single GET lists everything."""
    return lambda api, now: offers(api.get(path, **query), now)


class ApiSource(Struct, frozen=True):
    """A source that is one API and a function that reads it."""

    api: Endpoint
    read: Read

    def collect(self, now: datetime) -> Collected:
        """Every current offer. Raises SourceError."""
        return self.read(self.api, now)


class Site(Struct, frozen=True):
    """Where a source's API is, and the settings that say otherwise. An optional key is sent where there is one."""

    source: str
    address: SourceSetting
    key: SourceSetting | None = None
    key_is_optional: bool = False

    @property
    def settings(self) -> tuple[SourceSetting, ...]:
        return (self.address, self.key) if self.key else (self.address,)

    def missing(self, environment: Environment) -> str | None:
        """What to set. A plain-http address (a test server) is called without a key if none is set."""
        if self.key is None or self.key_is_optional or self.key.read(environment) or self.is_plain(environment):
            return None
        return f"set {self.key.variable} to an API key"

    def is_plain(self, environment: Environment) -> bool:
        """Whether the address is one of plain HTTP, which needs no credentials."""
        return self.address.read(environment).startswith("http:")

    def open(self, environment: Environment, http: Http) -> Endpoint:
        key, missing = self.key.read(environment) if self.key else "", self.missing(environment)
        return Endpoint(
            self.source,
            http,
            self.address.read(environment).rstrip("/"),
            headers={"Authorization": f"Bearer {key}"} if key else {},
            hint=f"check {(self.key or self.address).variable}",
            refusal=missing and f"{self.source}: {missing}",
        )

    def spec(self, read: Read, label: str, **about: Any) -> SourceSpec:
        """The source that is this API alone, by the function that reads it; `about` are further fields of its SourceSpec."""
        return SourceSpec(
            self.source,
            label,
            lambda environment, http: ApiSource(self.open(environment, http), read),
            settings=self.settings,
            missing=self.missing,
            **about,
        )


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One API. Every call raises CredentialsMissing or SourceError, whose texts hold no query and no key."""

    source: str
    http: Http
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    hint: str = ""
    refusal: str | None = None

    def get(self, path: str, /, **params: str) -> Any:
        """The JSON answer to GET."""
        return self._call(lambda: self.http.get_json(self.url + path, params, self.headers))

    def post(self, path: str, body: object) -> Any:
        """The JSON answer to a JSON POST."""
        return self._call(lambda: self.http.post_json(self.url + path, body, self.headers))

    def text(self, path: str) -> str:
        return str(self._call(lambda: self.http.get_text(self.url + path, self.headers)))

    def bytes(self, path: str) -> bytes:
        """A whole document as bytes, unpacked if it was sent compressed."""
        return bytes(self._call(lambda: self.http.get_bytes(self.url + path)))

    def _call(self, send: Callable[[], T]) -> T:
        if self.refusal:
            raise CredentialsMissing(self.refusal)
        try:
            return send()
        except HttpError as error:
            if error.status in (401, 403):
                raise CredentialsMissing(f"{self.source}: {error}; {self.hint}") from None
            if error.status == 404:
                raise NotThere(f"{self.source}: {error}; check its address setting") from None
            raise SourceError(f"{self.source}: {error}") from None
