"""Answers as pages in the dress of the first screen; a list with filters, a table, and the same rows as files."""

from __future__ import annotations

from typing import Any

from flask import Response, render_template, request, url_for

from api.formats.page import LIST
from api.formats.source_links import brief
from api.formats.tables import Link
from api.forms.question import Question
from api.questions.errors import BadParameters
from api.questions.schemas.layout import layout
from api.questions.suggestions import squeeze
from api.web.pages.address import Address
from api.web.pages.filters import entry
from api.web.responses import (
    ROWS_ON_PAGE,
    answered,
    arguments,
    asked_of,
    cached,
    chosen_format,
    current_service,
    wants_page,
    with_address,
    written,
)

MOST_SHOWN = 60


def page_of(question: Question, report: Any) -> bytes:
    """The page of an answer, below the filters of its question where it is a list."""
    page = question.code.page(report)
    if page.template == LIST:
        return _list_page(question, report, **page.shown)
    at = Address(request.path, asked_of(question))
    return render_template(page.template, at=at, **page.shown).encode()


def _list_page(question: Question, report: Any, **shown_too: Any) -> bytes:
    table, document = question.code.listed, report.document()
    wanted, offset = request.args.get("_find", ""), int(request.args.get("offset") or 0)
    rows = [row for row in table.rows(report) if not table.find or squeeze(wanted) in squeeze(table.find(row))]
    shown = len(rows) if wanted or not table.find or "_all" in request.args else MOST_SHOWN
    if table.first and not wanted:
        rows.sort(key=table.first)
    columns = [cell for cell in table.columns if any(cell.text(row) or cell.source(row) for row in rows[:shown])]
    bars = {cell.heading: max((cell.bar(row) or 0 for row in rows), default=0) for cell in table.columns if cell.bar}
    return _drawn(
        question,
        title=report.name if question.path.endswith("}") else table.title,
        rows=rows[:shown],
        columns=columns,
        verdict=getattr(document, "verdict", ()),
        bars=bars,
        wanted=wanted,
        first=offset + 1,
        count=getattr(document, "count", len(rows)),
        rest=report.rest,
        before=max(offset - ROWS_ON_PAGE, 0) if offset else None,
        sources=brief,
        is_whole=shown >= len(rows),
        address=_address,
        **shown_too,
    )


def _drawn(question: Question, **shown: Any) -> bytes:
    at = Address(request.path, asked_of(question))
    fields = [entry(name, question.schema.fields[name], at) for name in question.code.listed.filters]
    return render_template(
        "list.html", question=question, table=question.code.listed, at=at, fields=fields, **shown
    ).encode()


def _address(link: Link) -> str:
    """Where a link leads: what something costs is asked on the first screen."""
    name, parameters = link
    return url_for("pages.page" if name == "cost" else f"questions.{name}", **parameters)


def form_or_rows(question: Question) -> Response:
    """A list about machines of one type; for a browser without a type, the form that asks for one."""
    try:
        return answered(question)
    except BadParameters as wrong:
        if wants_page() and list(wrong.errors) == ["instance_type"] and not any(arguments().get("instance_type", [])):
            form = _drawn(question, title=question.code.listed.title, rows=None, is_whole=True)
            return Response(form, headers={"Cache-Control": "no-store", "Vary": "Accept"})
        raise


def without_prices(question: Question, **named: str) -> Response:
    """What the evidence alone answers, about every model or the one that the path names."""
    service = current_service()
    chosen = layout(service.check(question.schema, arguments()))
    report = question.code.report(service, None, {name: service.model(text) for name, text in named.items()})
    kind, at = chosen_format(chosen, question.kinds), with_address(question, chosen, service.clock())
    return cached(("", report.name, at), kind, lambda: written(question, report, kind, at))
