"""Answers as pages in the dress of the first screen; a list with filters, a table, and the same rows as files."""

from __future__ import annotations

from typing import Any

from flask import render_template, request, url_for

from api.formats.column import Link
from api.formats.lists import sentences
from api.formats.page import LIST
from api.formats.source_links import brief
from api.forms.question import Question
from api.questions.suggestions import squeeze
from api.web.asked import ROWS_ON_PAGE, asked_of
from api.web.pages.address import Address
from api.web.pages.filters import entry

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
        verdict=sentences(report),
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


def form_of(question: Question) -> bytes:
    """The form of a list for which nothing was asked yet."""
    return _drawn(question, title=question.code.listed.title, rows=None, is_whole=True)
