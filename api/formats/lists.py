"""A list on each surface: its table in a terminal, and its rows as sheets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from msgspec.structs import replace

from api.formats import csv_export
from api.formats.column import Column, nothing
from api.formats.sheet_columns import word_columns
from api.formats.tables import Table
from api.formats.terminal.grid import View, paragraph, table
from api.questions.schemas.layout import Layout
from api.questions.suggestions import many

MOST_WORKBOOK_ROWS = 10_000
"""Takes a second to write."""


def sentences(report: Any) -> Sequence[str]:
    """What a list says before its rows."""
    return getattr(report.document(), "verdict", ())


def list_lines(listed: Table, report: Any, view: View) -> Iterator[str]:
    """What the list says, how many rows there are and how many are shown, then their table."""
    document, rows = report.document(), list(listed.rows(report))
    count = getattr(document, "count", len(rows))
    shown, more = (f"{len(rows):,} of ", "; --limit shows more") if len(rows) < count else ("", "")
    for sentence in sentences(report):
        yield from paragraph(sentence, view.width, 2)
    yield from paragraph(f"{shown}{many(count, listed.noun)} {listed.when(document)}{more}", view.width)
    if rows:
        columns = [replace(each, heading=each.heading.lower().replace(" ", "\n", 1)) for each in listed.columns]
        sources = [Column("source", each.source, leave=1) for each in columns if each.source is not nothing]
        yield from table([*columns, *sources], rows, view.width)


def list_csv(table: Table, report: Any, layout: Layout) -> Iterator[bytes]:
    """A column for each field of the rows, the user's own words behind."""
    pieces = csv_export.chunks(_list_columns(table, report), report.rows(), layout)
    return csv_export.with_last_line(pieces, report.rest, layout)


def list_xlsx(table: Table, report: Any, layout: Layout) -> bytes:
    """A workbook of at most `MOST_WORKBOOK_ROWS` rows; its summary counts the others."""
    shown = list(islice(report.rows(), MOST_WORKBOOK_ROWS))
    left = report.rest.total - len(shown) if report.rest else 0
    lines = [f"{left:,} rows are not in this workbook: filter them, or take all as CSV."] if left else []
    return list_workbook(table, [*sentences(report), *lines], _list_columns(table, report), shown, report, layout)


def list_workbook(
    table: Table,
    lines: Sequence[str],
    columns: list[csv_export.Column],
    rows: Sequence[Any],
    report: Any,
    layout: Layout,
) -> bytes:
    """A workbook of these rows, with the lines on its front."""
    from api.formats.xlsx import tables  # XlsxWriter is paid for by those who ask for a workbook

    quoted = {getattr(row[1] if isinstance(row, tuple) else row, "currency", "") for row in rows}
    currency = quoted.pop() if len(quoted) == 1 else ""
    front = tables.Front(table.title, [table.intro, *lines], layout.address, getattr(report, "as_of", None), currency)
    folded = () if layout.columns else None
    return tables.workbook(table.title, front, csv_export.chosen_columns(columns, layout), rows, folded)


def _list_columns(table: Table, report: Any) -> list[csv_export.Column]:
    return [*csv_export.columns_of(table.row), *word_columns(getattr(report, "words", {}))] if table.row else []
