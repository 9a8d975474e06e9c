"""Reports as HTTP responses: formats, entity tags, file names and caching."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import chain
from urllib.parse import urlencode

from flask import Response, current_app, g, request
from msgspec.structs import asdict, replace

from api.formats.charts.figure import picture
from api.formats.csv_export import has_rows
from api.forms.code import Report
from api.forms.question import FILES, Question
from api.questions.errors import BadParameters
from api.questions.links import text_of, to_url
from api.questions.schemas.layout import Layout
from api.questions.schemas.layout import layout as layout_of
from api.reports.paging import Rest
from api.web.asked import (
    PAGES,
    ROWS_ON_PAGE,
    TYPES,
    accepted,
    arguments,
    asked_of,
    current_service,
    path_asked,
    wants_page,
)
from api.web.asker import COOKIE, current_owner, current_token
from api.web.compression import can_unpack
from api.web.pages.answer import form_of, page_of
from api.web.replay import KEEP, LARGEST, MEMORY, REPLAYED, ROUTE, Asked, Keep, matches, tag
from costcalc.query import EstimateQuery

PICTURES = {"png": "image/png", "svg": "image/svg+xml"}  # by their paths alone
OTHERS = {"edition": "application/octet-stream", "atom": "application/atom+xml", "yaml": "application/yaml"}
Body = bytes | Iterator[bytes]
NARROW = "_narrow"
"""What our own pages add to the address of a picture for a phone."""


def answered(question: Question) -> Response:
    """The report that the request's parameters ask for, in the form asked for: JSON, or another of the question's.

    Raises BadParameters, NotFound and NotReady. Answers that have the same parameters, prices and day have the same tag.
    """
    service = current_service()
    catalogue = service.catalogue()
    values, layout = service.parse(question.schema, asked_of(question), catalogue)
    kind = chosen_format(layout, question.kinds)
    values = {**(question.drawn if kind in ("html", *PICTURES) else {}), **values}
    if kind == "html":
        values = question.listed(values, ROWS_ON_PAGE)
    moment = values.get("as_of") or values.get("until") or service.clock().date()
    parts = (catalogue.snapshot, sorted(values.items()), layout, moment)
    report: Report = question.code.report(service, catalogue, values)
    at = with_address(question, layout, service.clock())

    def tell(response: Response) -> None:
        if kind in TYPES:
            tell_rest(response, report.rest)
            tell_address(response, question, report, layout, kind)
        if kind == "csv":
            tell_nothing(response, report)

    response = cached(parts, kind, lambda: written(question, report, kind, at), tell)
    return name_file(response, f"{report.name}.{kind}", layout)


def form_or_rows(question: Question) -> Response:
    """A list about machines of one type; for a browser without a type, the form that asks for one."""
    try:
        return answered(question)
    except BadParameters as wrong:
        if wants_page() and list(wrong.errors) == ["instance_type"] and not any(arguments().get("instance_type", [])):
            return Response(form_of(question), headers={"Cache-Control": "no-store", "Vary": "Accept"})
        raise


def without_prices(question: Question, **named: str) -> Response:
    """What the evidence alone answers, about every model or the one that the path names."""
    service = current_service()
    chosen = layout_of(service.check(question.schema, arguments()))
    report = question.code.report(service, None, {name: service.model(text) for name, text in named.items()})
    kind, at = chosen_format(chosen, question.kinds), with_address(question, chosen, service.clock())
    return cached(("", report.name, at), kind, lambda: written(question, report, kind, at))


def with_address(question: Question, layout: Layout, now: datetime) -> Layout:
    """A layout with the whole address that was asked: a workbook is handed on, so that its address keeps the moment of its
    prices, and must not have the user's token."""
    given = _without_token()
    if "as_of" in question.schema.fields:
        given.setdefault("as_of", [text_of(now.replace(microsecond=0))])
    query = urlencode(given, doseq=True, safe=",:*")
    root = f"{request.host_url.rstrip('/')}{request.script_root}"
    return replace(layout, root=root, address=f"{request.base_url}{'?' * bool(query)}{query}")


def _without_token() -> dict[str, list[str]]:
    return {name: texts for name, texts in arguments().items() if name != "token"}


def written(question: Question, report: Report, kind: str, layout: Layout) -> Body:
    """The report as JSON, as a picture, or in another form of the question's."""
    if kind == "json":
        return question.code.encoded(report, layout)
    if kind in PICTURES and question.code.figure:
        return picture(question.code.figure(report), kind, NARROW in request.args)
    if kind == "html":
        return page_of(question, report)
    return question.code.csv_of(report, layout) if kind == "csv" else question.code.xlsx_of(report, layout)


def chosen_format(layout: Layout, forms: Iterable[str]) -> str:
    """By the path's ending, else `format=`, else Accept; JSON where that is none of `forms`.

    Raises BadParameters where the first two differ.
    """
    path, _, ending = path_asked().rpartition(".")
    if ending in PICTURES:
        if layout.format:
            raise BadParameters({"format": [f"this path is a picture: use {path} for {layout.format}"]})
        return ending
    if ending in TYPES and layout.format not in (None, ending):
        raise BadParameters({"format": [f"{path_asked()} is {ending.upper()}: use {path} for {layout.format}"]})
    wanted = ending if ending in TYPES else layout.format or accepted()
    if layout.profile == "focus" and wanted != "csv":
        raise BadParameters({"profile": ["focus is a CSV format: use /cost.csv, or add format=csv"]})
    if layout.fields != "all" and wanted in FILES:
        raise BadParameters({"fields": [f"is for JSON, which {wanted.upper()} is not: leave it out"]})
    return wanted if wanted in forms else "json"


def cached(
    parts: tuple[object, ...], kind: str, make: Callable[[], Body], tell: Callable[[Response], object] = lambda _: None
) -> Response:
    """What `make` returns, with the headers that `tell` adds; or from memory, however the question was spelt; or 304 where the
    client has it. `parts` tell answers apart.

    The first of `parts` is the snapshot that the answer stands on. A body in pieces is streamed where it is large.
    """
    service, snapshot = current_service(), str(parts[0])
    etag = tag(service.version(snapshot), request.path, kind, *parts)
    headers = {"ETag": etag, "Cache-Control": cache_control(), **varies()}
    if matches(request.headers.get("If-None-Match"), etag):
        return Response(status=304, headers=headers)
    g.state = service.state(snapshot)
    typed = (
        () if kind in TYPES else (request.query_string, COOKIE in request.cookies)
    )  # a page shows what was typed and by whom
    g.answer = etag, g.state, request.host_url, can_unpack(), *typed
    if kept := current_app.extensions[MEMORY].named(g.answer):
        request.environ[REPLAYED], g.kept = kept.route, kept
        return Response(kept.body, headers=kept.headers)
    body = make()
    pieces = [body] if isinstance(body, bytes) else whole_or_streamed(body)
    response = Response(pieces, headers=headers, content_type=(TYPES | PICTURES | PAGES | OTHERS)[kind])
    tell(response)
    return response


def varies() -> dict[str, str]:
    """What an answer varies by beside its encoding: by Accept unless its address names its form, and by who asks where that takes
    a token. Any cache can share the others."""
    is_named = "format" in request.args or path_asked().rpartition(".")[2] in TYPES | PICTURES
    by = [*([] if is_named else ["Accept"]), *(["Authorization", "Cookie"] if needs_token() else [])]
    return {"Vary": ", ".join(by)} if by else {}


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


def tell_rest(response: Response, rest: Rest | None) -> None:
    """Says how many rows there are and where the next begin, where some are left out (RFC 8288)."""
    if rest:
        query = urlencode({**_without_token(), "offset": [rest.offset]}, doseq=True)
        response.headers["X-Total-Count"] = str(rest.total)
        response.headers["Link"] = f'<{request.script_root}{request.path}?{query}>; rel="next"'


def tell_address(response: Response, question: Question, report: Report, layout: Layout, kind: str) -> None:
    """Names the one address of what several spellings ask (RFC 9110, section 8.7)."""
    if isinstance(query := getattr(report, "query", None), EstimateQuery):
        path = f"{request.script_root}{question.path}{'' if kind == 'json' else f'.{kind}'}"
        usual = asdict(Layout())
        beside = {
            name: text_of(value) for name, value in asdict(layout).items() if value != usual[name] and name != "format"
        }
        unnamed = ("target",) if query.target_of else ()
        response.headers["Content-Location"] = to_url(query, path, unnamed, **beside)


def tell_nothing(response: Response, report: Report) -> None:
    """Says in a header why a sheet has no rows: scripts rely on every row being one of the answer's."""
    if not response.is_streamed and not has_rows(response.get_data()):
        reason = getattr(report, "nothing", "") or "no row answers this question"
        response.headers["X-Message"] = reason.encode("ascii", "replace").decode()


def name_file(response: Response, name: str, layout: Layout) -> Response:
    """Has a browser save a workbook, or a sheet for Excel, under this name."""
    saved = name.endswith(".xlsx") or (name.endswith(".csv") and layout.excel)
    if saved and response.status_code == 200:
        plain = "".join(sign if sign.isalnum() or sign in "-._" else "-" for sign in name)
        response.headers["Content-Disposition"] = f'attachment; filename="{plain}"'
    return response


def remember(response: Response) -> None:
    """Leaves a finished answer of `cached` for `Replay`, every header included; streams are too large for that, and answers to a
    browser that is signed in must not outlive its sign-in, nor those to a token its last day."""
    token = current_token()
    is_ending = token is not None and token.until == current_service().clock().date()
    state = None if COOKIE in request.cookies or is_ending else g.get("state")
    if state is not None and response.status_code == 200 and request.method == "GET" and not response.is_streamed:
        request.environ[KEEP] = Asked(current_owner(), state, g.answer), g.get("kept") or _kept(response)


def _kept(response: Response) -> Keep:
    body = response.get_data()
    response.content_length = len(body)
    route = request.environ.get(ROUTE, "unknown")
    return Keep(response.headers["ETag"], route, response.headers.to_wsgi_list(), body)


def cache_control() -> str:
    """For a minute, and only in the client's own cache where tokens are needed."""
    return f"{'private' if needs_token() else 'public'}, max-age=60"


def needs_token() -> bool:
    """Whether only those may ask who have a token."""
    return bool(current_app.config["COSTCALC_PRIVATE"])
