"""Encoded answers as HTTP responses: formats, entity tags, and what may be kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, cast

from flask import Response, current_app, g, request

from api.questions.errors import CSV_TYPE, BadParameters
from api.questions.schemas import Layout
from api.service import Service
from api.web.cache import KEEP, LARGEST, Keep, matches, tag

JSON_TYPE = "application/json"
XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
TYPES = {"json": JSON_TYPE, "csv": CSV_TYPE, "xlsx": XLSX_TYPE}
PICTURES = {"png": "image/png", "svg": "image/svg+xml"}  # by their paths alone
Body = bytes | Iterator[bytes]


def service() -> Service:
    """The service of the running application."""
    return cast(Service, current_app.extensions["costcalc"])


def arguments() -> dict[str, list[str]]:
    """The query string's parameters with all their values."""
    return request.args.to_dict(flat=False)


def chosen_format(layout: Layout | None = None) -> str:
    """A key of TYPES: by the path's ending, else `format=`, else Accept. Raises BadParameters where the first two differ."""
    asked = layout.format if layout else None
    path, _, ending = request.path.rpartition(".")
    if ending not in TYPES:
        return asked or _accepted()
    if asked not in (None, ending):
        raise BadParameters({"format": [f"{request.path} is {ending.upper()}: ask {path} for {asked}"]})
    return ending


def page_of(filters: Mapping[str, Any], usual_limit: int | None = None) -> slice:
    """The rows that `offset` and `limit` ask for; without a limit, or a usual one, all the rest."""
    start, limit = filters.get("offset", 0), filters.get("limit", usual_limit)
    return slice(start, None if limit is None else start + limit)


def wants_csv() -> bool:
    """Whether an error should be told in a cell."""
    if request.path.endswith(".csv"):
        return True
    asked = request.args.get("format", "").strip().lower()
    return asked == "csv" if asked else _accepted() == "csv"


def _accepted() -> str:
    accept = request.accept_mimetypes
    return max(TYPES, key=lambda kind: accept[TYPES[kind].partition(";")[0]])  # of equals the first


def answered(parts: tuple[object, ...], layout: Layout, make: Mapping[str, Callable[[], Body]], name: str) -> Response:
    """`cached` in the form asked for, else JSON. Browsers save a workbook, or a sheet for Excel, as `name` with its ending."""
    asked = chosen_format(layout)
    kind = asked if asked in make else "json"
    response = cached((*parts, layout), kind, make)
    saved = kind == "xlsx" or (kind == "csv" and layout.excel)
    return name_file(response, f"{name}.{kind}") if saved else response


def cached(parts: tuple[object, ...], kind: str, make: Mapping[str, Callable[[], Body]]) -> Response:
    """The answer of `make[kind]`, or 304 before it is computed where the client has it. `parts` tell answers apart.

    The first of `parts` is the snapshot that the answer stands on. A body in pieces is streamed where it is large.
    """
    asked = service()
    version = asked.version(str(parts[0]))
    etag = tag(version, request.path, kind, *parts)
    headers = {"ETag": etag, "Cache-Control": _cache_control(), "Vary": "Accept, Authorization"}
    if matches(request.headers.get("If-None-Match"), etag):
        return Response(status=304, headers=headers)
    g.version = version
    body = make[kind]()
    pieces = [body] if isinstance(body, bytes) else whole_or_streamed(body)
    return Response(pieces, headers=headers, content_type=(TYPES | PICTURES)[kind])


def whole_or_streamed(pieces: Iterator[bytes]) -> Iterable[bytes]:
    """All pieces where they are few enough to be kept, else the same iterator."""
    head: list[bytes] = []
    size = 0
    for piece in pieces:
        head.append(piece)
        size += len(piece)
        if size > LARGEST:
            return chain(head, pieces)
    return head


def name_file(response: Response, name: str) -> Response:
    """Has a browser save the answer under this name."""
    if response.status_code == 200:
        plain = "".join(sign if sign.isalnum() or sign in "-._" else "-" for sign in name)
        response.headers["Content-Disposition"] = f'attachment; filename="{plain}"'
    return response


def remember(response: Response) -> None:
    """Leaves a finished answer of `cached` for `Replay`, every header included; streams are too large for that."""
    version = g.get("version")
    if version is not None and response.status_code == 200 and request.method == "GET" and not response.is_streamed:
        body = response.get_data()
        response.content_length = len(body)
        request.environ[KEEP] = Keep(version, response.headers["ETag"], response.headers.to_wsgi_list(), body)


def _cache_control() -> str:
    scope = "private" if current_app.config["COSTCALC_TOKENS"] else "public"
    return f"{scope}, max-age=60"
