"""HTTP: time limits, bounded retries, `Retry-After` honoured, JSON numbers kept exact; and posts that are tried once."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import requests
from msgspec import Struct
from requests.adapters import HTTPAdapter
from urllib3 import BaseHTTPResponse
from urllib3.util import Retry

from pricing.recording import Recording

TIMEOUT_SECONDS = (5, 30)  # connect, each read
LONGEST_RETRY_AFTER_SECONDS = 20  # three of them make a minute
STALLS_RETRIED = 1
THROTTLED_WAITS_LONGER = 20  # times: with 0, 20 and 40 seconds the quota of the next minute is there
UNCHANGED, TOO_MANY_REQUESTS = 304, 429
RETRIED = (TOO_MANY_REQUESTS, 500, 502, 503, 504)
MIB = 2**20
MOST_POSTED_BYTES = MIB  # what answers a post is a sentence
_HALF_CHARACTER = re.compile(rb"\\u[dD][89a-fA-F]")  # JSON can hold one half of a pair, which UTF-8 cannot write
_USER_INFO = re.compile(r"(?<=//)[^/@]*@")


class HttpError(Exception):
    """The other side refused, broke off or answered nonsense; the message names host, path and status, never a secret.

    `status` is the HTTP status, None where there was no whole answer.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class BrokenOff(HttpError):
    """An answer that ends too soon, or is no JSON."""


class Reply(Struct, frozen=True):
    """What a post was answered, whatever its status; `retry_after` as it was sent, empty if it was not."""

    status: int
    text: str
    retry_after: str


def post_once(url: str, body: object, timeout_seconds: tuple[float, float]) -> Reply:
    """Posts a JSON document to an address that may be a secret: no retry, no redirect followed.

    `timeout_seconds` are those to connect and of each read. Raises HttpError, which does not name the address.
    """
    try:
        with requests.post(url, json=body, timeout=timeout_seconds, allow_redirects=False, stream=True) as response:
            text = b"".join(_bounded(response, MOST_POSTED_BYTES, "the answer")).decode("utf-8", "replace")
            return Reply(response.status_code, text, response.headers.get("Retry-After", ""))
    except requests.RequestException as error:
        raise HttpError(_trouble(error)) from None


class _WithoutQueries(logging.Filter):
    """urllib3 logs whole URLs, and a query may hold a key: what stands behind `?` is not logged."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = re.sub(r"\?[^\s\"']+", "?...", record.getMessage()), None
        return True


logging.getLogger("urllib3.connectionpool").addFilter(_WithoutQueries())
logging.getLogger("urllib3.util.retry").addFilter(_WithoutQueries())


class _BoundedRetry(Retry):
    """Honours `Retry-After`, but one that asks for more than LONGEST_RETRY_AFTER_SECONDS is asked again then.

    One that throttles without it is left alone for a minute."""

    def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
        wait = super().get_retry_after(response)
        return None if wait is None else min(wait, LONGEST_RETRY_AFTER_SECONDS)

    def get_backoff_time(self) -> float:
        throttled = self.history and self.history[-1].status == TOO_MANY_REQUESTS
        return super().get_backoff_time() * (THROTTLED_WAITS_LONGER if throttled else 1)


class Http:
    """A session for one source. `retries` bounds the attempts after the first, `most_mib` each document that is read whole,
    unpacked; `recording` keeps these documents, and what a provider's own library reads."""

    def __init__(
        self,
        retries: int = 3,
        backoff_seconds: float = 0.5,
        recording: Recording | None = None,
        most_mib: int = 8,
    ) -> None:
        self.recording = recording
        self._most_mib = most_mib
        retry = _BoundedRetry(
            total=retries,
            read=min(retries, STALLS_RETRIED),
            backoff_factor=backoff_seconds,
            status_forcelist=RETRIED,
            allowed_methods=None,
            raise_on_status=False,
        )
        self._session = requests.Session()
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, HTTPAdapter(max_retries=retry))

    def close(self) -> None:
        self._session.close()

    def get_json(
        self, url: str, params: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> object:
        """The decoded JSON answer to GET, numbers as Decimal. Raises HttpError."""
        return self._json("GET", url, params=params, headers=headers)

    def post_json(self, url: str, body: object, headers: Mapping[str, str] | None = None) -> object:
        """The decoded JSON answer to a JSON POST, numbers as Decimal. Raises HttpError."""
        return self._json("POST", url, json=body, headers=headers)

    def get_text(self, url: str, headers: Mapping[str, str] | None = None) -> str:
        """The answer's text. Raises HttpError."""
        with self._send("GET", url, headers=headers, stream=True) as response:
            return self._whole(response, url).decode(response.encoding or "utf-8", "replace")

    def get_bytes(self, url: str) -> bytes:
        """A whole document, unpacked, of which no recording is kept. Raises HttpError."""
        with self._send("GET", url, stream=True) as response:
            return self._whole(response, url, is_recorded=False)

    def get_unless(self, url: str, tag: str) -> tuple[str, bytes] | None:
        """The entity tag and the bytes of a document, or None where it still has this tag. Raises HttpError."""
        try:
            with self._send("GET", url, headers={"If-None-Match": tag} if tag else None, stream=True) as response:
                return response.headers.get("ETag", ""), self._whole(response, url)
        except HttpError as error:
            if error.status == UNCHANGED:
                return None
            raise

    def _json(self, method: str, url: str, **options: Any) -> object:
        """Asked once more if the answer breaks off."""
        try:
            return self._parsed(method, url, **options)
        except BrokenOff:
            return self._parsed(method, url, **options)

    def _parsed(self, method: str, url: str, **options: Any) -> object:
        with self._send(method, url, stream=True, **options) as response:
            content = self._whole(response, url)
        try:
            document = json.loads(content, parse_float=Decimal, parse_int=int)
            return _writable(document) if _HALF_CHARACTER.search(content) else document
        except (ValueError, RecursionError):
            raise BrokenOff(f"{_place(url)} answered something that is not JSON") from None

    def _whole(self, response: requests.Response, url: str, *, is_recorded: bool = True) -> bytes:
        try:
            content = b"".join(_bounded(response, self._most_mib * MIB, _place(url)))
        except requests.exceptions.ChunkedEncodingError:
            raise BrokenOff(f"{_place(url)} broke off its answer") from None
        except requests.RequestException as error:
            raise HttpError(f"{_place(url)} {_trouble(error)}") from None
        if self.recording is not None and is_recorded:
            self.recording.keep(str(response.request.method), response.url, content)
        return content

    def _send(self, method: str, url: str, **options: Any) -> requests.Response:
        try:
            response = self._session.request(method, url, timeout=TIMEOUT_SECONDS, **options)
        except requests.exceptions.ChunkedEncodingError:
            raise BrokenOff(f"{_place(url)} broke off its answer") from None
        except requests.RequestException as error:
            # without its cause, whose text holds the whole URL
            raise HttpError(f"{_place(url)} {_trouble(error)}") from None
        if response.status_code != 200:
            response.close()  # a stream's socket stays open otherwise
            raise HttpError(f"{_place(url)} answered {response.status_code}", response.status_code)
        return response


def _trouble(error: requests.RequestException) -> str:
    if "Read timed out" in str(error):  # after retries requests calls it a ConnectionError
        return "stopped answering"
    return "cannot be reached" if isinstance(error, requests.ConnectionError) else f"failed: {type(error).__name__}"


def _writable(node: object) -> object:
    """The document with a question mark for each half of a character."""
    if isinstance(node, str):
        return node.encode("utf-8", "replace").decode()
    if isinstance(node, dict):
        return {_writable(name): _writable(value) for name, value in node.items()}
    return [_writable(each) for each in node] if isinstance(node, list) else node


def _bounded(response: requests.Response, most_bytes: int, place: str) -> Iterator[bytes]:
    """The unpacked body in pieces. Raises HttpError as soon as it is too large: a packed answer may unpack to a thousandfold."""
    size = 0
    for piece in response.iter_content(MIB):
        size += len(piece)
        if size > most_bytes:
            raise HttpError(f"{place} answered more than {most_bytes // MIB:,} MiB")
        yield piece


def _place(url: str) -> str:
    """Host and path: a password may stand before them, and a key in the query."""
    return _USER_INFO.sub("", url.split("?", 1)[0])
