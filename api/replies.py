"""Encoded answers as HTTP responses: formats, entity tags, and what may be kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from flask import Response, current_app, g, request

from api.caching import KEEP, Keep, matches, tag
from api.problems import CSV_TYPE, BadParameters
from api.schemas import Layout
from api.service import Service

JSON_TYPE = "application/json"
TYPES = {"json": JSON_TYPE, "csv": CSV_TYPE}


def service() -> Service:
    """The service of the running application."""
    return cast(Service, current_app.extensions["costcalc"])


def arguments() -> dict[str, list[str]]:
    """The query string's parameters with all their values."""
    return request.args.to_dict(flat=False)


def chosen_format(layout: Layout | None = None) -> str:
    """`json` or `csv`: by the path's ending, else `format=`, else Accept. Raises BadParameters where the first two differ."""
    asked = layout.format if layout else None
    if request.path.endswith(".csv"):
        if asked not in (None, "csv"):
            raise BadParameters({"format": [f"{request.path} is CSV: ask {request.path[:-4]} for {asked}"]})
        return "csv"
    return asked or _accepted()


def wants_csv() -> bool:
    """Whether an error should be told in a cell."""
    if request.path.endswith(".csv"):
        return True
    asked = request.args.get("format", "").strip().lower()
    return asked == "csv" if asked else _accepted() == "csv"


def _accepted() -> str:
    accept = request.accept_mimetypes
    return "csv" if accept["text/csv"] > accept[JSON_TYPE] else "json"


def cached(parts: tuple[object, ...], kind: str, make: Mapping[str, Callable[[], bytes]]) -> Response:
    """The answer of `make[kind]`, or 304 before it is computed where the client has it. `parts` tell answers apart.

    The first of `parts` is the snapshot that the answer stands on.
    """
    asked = service()
    version = asked.version(str(parts[0]))
    etag = tag(version, request.path, kind, *parts)
    headers = {"ETag": etag, "Cache-Control": _cache_control(), "Vary": "Accept, Authorization"}
    if matches(request.headers.get("If-None-Match"), etag):
        return Response(status=304, headers=headers)
    g.version = version
    return Response(make[kind](), headers=headers, content_type=TYPES[kind])


def remember(response: Response) -> None:
    """Leaves a finished answer of `cached` for `Replay`, every header included."""
    version = g.get("version")
    if version is not None and response.status_code == 200 and request.method == "GET":
        body = response.get_data()
        response.content_length = len(body)
        request.environ[KEEP] = Keep(version, response.headers["ETag"], response.headers.to_wsgi_list(), body)


def _cache_control() -> str:
    scope = "private" if current_app.config["COSTCALC_TOKENS"] else "public"
    return f"{scope}, max-age=60"
