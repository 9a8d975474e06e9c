"""What can go wrong with a request, and how it is told: problem+json (RFC 9457), or one cell of CSV."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

import msgspec

PROBLEM_TYPE = "application/problem+json"
CSV_TYPE = "text/csv; charset=utf-8"

Errors = dict[str, list[str]]


class Refused(Exception):
    """A request that gets an error status; `errors` names the parameters at fault."""

    def __init__(self, status: int, detail: str, errors: Errors | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = errors or {}


class BadParameters(Refused):
    """400: parameters that are missing, misspelt or out of range, each with what to type instead."""

    def __init__(self, errors: Errors) -> None:
        super().__init__(400, "; ".join(_lines(errors)), errors)


class NotFound(Refused):
    """404: a model or path we do not have; `parameter` names the one that asked for it."""

    def __init__(self, detail: str, parameter: str | None = None) -> None:
        super().__init__(404, detail, {parameter: [detail]} if parameter else None)


class NotReady(Refused):
    """503: no price snapshot is loaded yet."""

    def __init__(self, detail: str) -> None:
        super().__init__(503, detail)


@dataclass(frozen=True, slots=True)
class Problem:
    """The document of RFC 9457, with the parameters at fault in `errors`."""

    type: str
    title: str
    status: int
    detail: str
    errors: dict[str, list[str]] = field(default_factory=dict)


def problem(status: int, detail: str, errors: Mapping[str, list[str]] | None = None) -> Problem:
    """The document for a status; its title is the status's own phrase."""
    return Problem("about:blank", HTTPStatus(status).phrase, status, detail, dict(errors or {}))


def as_json(told: Problem) -> bytes:
    """The document as problem+json."""
    return msgspec.json.encode(told)


def as_csv(told: Problem) -> bytes:
    """The message as the only cell of a sheet, quoted, so that no locale's separator splits it."""
    text = told.detail.replace('"', '""')
    return f'"Error {told.status}: {text}"\r\n'.encode()


def _lines(errors: Errors) -> list[str]:
    return [f"{name}: {message}" for name, messages in errors.items() for message in messages]
