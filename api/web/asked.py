"""What a request asks for: its parameters, and the form in which it wants its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from flask import current_app, request

from api.forms.question import Question
from api.service import Service
from api.web.asker import current_owner

JSON_TYPE = "application/json"
CSV_TYPE = "text/csv; charset=utf-8"
XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
TYPES = {"json": JSON_TYPE, "csv": CSV_TYPE, "xlsx": XLSX_TYPE}
PAGES = {"html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8"}  # by what a browser accepts
ROWS_ON_PAGE = 50


def current_service() -> Service:
    """The service of the running application, beside what the user measured. Raises NotReady."""
    return cast(Service, current_app.extensions["costcalc"]).seen_by(current_owner())


def arguments() -> dict[str, list[str]]:
    """The query string's parameters with all their values."""
    return request.args.to_dict(flat=False)


def asked_of(question: Question) -> dict[str, list[str]]:
    """The parameters that were given; the question's example where a browser gives none, or the currency that it remembers."""
    given = arguments()
    return with_example(given, {name: [text] for name, text in question.example.items()}) if wants_page() else given


def with_example(given: dict[str, list[str]], example: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """What was given; beside an example where that is the currency at most."""
    return {**example, **given} if given.keys() <= {"currency"} else given


def wants_csv() -> bool:
    """Whether an error should be written as CSV."""
    if path_asked().endswith(".csv"):
        return True
    named = request.args.get("format", "").strip().lower()
    return named == "csv" if named else accepted() == "csv"


def path_asked() -> str:
    """The path, whether or not a slash is written behind it."""
    return request.path.rstrip("/")


def accepted() -> str:
    """The form that Accept wants most."""
    accept, types = request.accept_mimetypes, {**TYPES, "html": PAGES["html"]}
    return max(types, key=lambda kind: accept[types[kind].partition(";")[0]])  # of equals the first


def is_for_reading() -> bool:
    """Whether a browser asks for a page: it wants HTML more than JSON, whatever else it accepts."""
    accept = request.accept_mimetypes
    wants_page = accept["text/html"] > accept[JSON_TYPE]
    return request.method == "GET" and wants_page and "format" not in request.args


def wants_page() -> bool:
    """Whether a browser asks for the page of a path, not for one of its files."""
    return is_for_reading() and path_asked().rpartition(".")[2] not in TYPES
