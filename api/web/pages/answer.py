"""Answers as pages in the dress of the first screen: the fields of a question, the blocks of its answer, and the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flask import render_template, request
from msgspec import Struct

from api.formats import words
from api.formats.blocks import Rows, Say
from api.formats.column import Column
from api.formats.page import Headline
from api.formats.source_links import brief
from api.forms.question import Question
from api.questions.suggestions import squeeze
from api.web.asked import ROWS_ON_PAGE, asked_of
from api.web.pages.address import Address
from api.web.pages.filters import entry

MOST_SHOWN = 60


class ShownRows(Struct, frozen=True):
    """The part of the rows that a page shows, in columns that have any text, and the longest bar of each; of a list that is found
    in by `wanted` or goes on, where it stands: `before` and `after` are offsets."""

    columns: Sequence[Column]
    rows: Sequence[Any]
    bars: Mapping[str, float]
    wanted: str = ""
    count: int | None = None
    first: int = 1
    is_whole: bool = True
    before: int | None = None
    after: int | None = None


def page_of(question: Question, report: Any) -> bytes:
    """The page of an answer."""
    at, code = Address(request.path, asked_of(question)), question.code
    if code.html:
        page = code.html(report)
        return render_template(page.template, at=at, **page.shown).encode()
    title = report.name if question.path.endswith("}") else code.heading.title
    return _drawn(question, title=title, blocks=list(code.answer(report)), query=getattr(report, "query", None))


def form_of(question: Question) -> bytes:
    """The form of a list for which nothing was asked yet."""
    return _drawn(question, title=question.code.heading.title, blocks=None)


def _drawn(question: Question, **shown: Any) -> bytes:
    at, table = Address(request.path, asked_of(question)), question.code.heading
    titles = {"target": words.target_name(shown["query"])} if shown.get("query") else {}
    fields = [entry(name, question.schema.fields[name], at, titles.get(name)) for name in table.filters]
    by = {"shown": shown_rows, "headline": Headline.of, "sources": brief}
    leads = any(isinstance(block, Say) and block.leads for block in shown["blocks"] or ())
    return render_template(
        "answer.html", question=question, table=table, at=at, fields=fields, leads=leads, **by, **shown
    ).encode()


def shown_rows(block: Rows) -> ShownRows:
    """What the page shows of these rows."""
    table, wanted, offset = block.table, request.args.get("_find", ""), int(request.args.get("offset") or 0)
    rows = [row for row in block.rows if not table.find or squeeze(wanted) in squeeze(table.find(row))]
    many = len(rows) if wanted or not table.find or "_all" in request.args else MOST_SHOWN
    if table.first and not wanted:
        rows.sort(key=table.first)
    return ShownRows(
        columns=block.columns(rows[:many]),
        rows=rows[:many],
        bars={each.heading: max((each.bar(row) or 0 for row in rows), default=0) for each in table.columns if each.bar},
        wanted=wanted,
        count=len(rows) if table.find else block.count,
        first=offset + 1,
        is_whole=many >= len(rows),
        before=max(offset - ROWS_ON_PAGE, 0) if offset else None,
        after=block.rest.offset if block.rest else None,
    )
