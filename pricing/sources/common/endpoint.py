"""A source's API: where it lives, which settings say otherwise, and calls whose faults are said in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pricing.sources.common.http import Http, HttpError
from pricing.sources.source import CredentialsMissing, Environment, SourceError


class NotThere(SourceError):
    """The provider has nothing at this address (404)."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where a source's API lives, and which variables say otherwise. An optional key is sent where there is one."""

    source: str
    url_setting: str
    url: str
    key_setting: str | None = None
    key_is_optional: bool = False

    @property
    def settings(self) -> dict[str, str | None]:
        """The environment variables it reads, with their defaults."""
        key: dict[str, str | None] = {self.key_setting: None} if self.key_setting else {}
        return {self.url_setting: self.url, **key}

    @property
    def secrets(self) -> frozenset[str]:
        """Those of the settings that are never shown."""
        return frozenset({self.key_setting} if self.key_setting else ())

    def missing(self, environment: Environment) -> str | None:
        """What to set. A plain-http address (a test server) is called without a key if none is set."""
        needed = self.key_setting and not self.key_is_optional and self._url(environment).startswith("https:")
        return f"set {self.key_setting} to an API key" if needed and not self._key(environment) else None

    def open(self, environment: Environment, http: Http) -> Endpoint:
        """The API as these settings name it."""
        key, missing = self._key(environment), self.missing(environment)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        hint = f"check {self.key_setting or self.url_setting}"
        refusal = missing and f"{self.source}: {missing}"
        return Endpoint(self.source, http, self._url(environment), headers, hint, refusal)

    def _url(self, environment: Environment) -> str:
        return (environment.get(self.url_setting) or self.url).rstrip("/")

    def _key(self, environment: Environment) -> str | None:
        return environment.get(self.key_setting) or None if self.key_setting else None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One API. Every call raises CredentialsMissing or SourceError, whose texts hold no query and no key."""

    source: str
    http: Http
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    hint: str = ""
    refusal: str | None = None

    def get(self, path: str, **params: str) -> Any:
        """The JSON answer to GET."""
        return self._call(lambda: self.http.get_json(self.url + path, params, self.headers))

    def post(self, path: str, body: Any) -> Any:
        """The JSON answer to a JSON POST."""
        return self._call(lambda: self.http.post_json(self.url + path, body, self.headers))

    def text(self, path: str) -> str:
        """The text of a page."""
        return str(self._call(lambda: self.http.get_text(self.url + path, self.headers)))

    def bytes(self, path: str) -> bytes:
        """A whole document as bytes, unpacked if it was sent compressed."""
        return bytes(self._call(lambda: _read(self.http, self.url + path)))

    def _call(self, send: Callable[[], Any]) -> Any:
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


def _read(http: Http, url: str) -> bytes:
    with http.stream(url) as stream:
        return bytes(stream.read())
