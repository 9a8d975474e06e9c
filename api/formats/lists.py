"""A list on each surface: its table in a terminal, and its rows as sheets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from api.formats import csv_export
from api.formats.column import Column, nothing
from api.formats.sheet import Sheet
from api.formats.sheet_columns import word_columns
from api.formats.tables import Table
from api.formats.terminal.grid import View, paragraph, table
from api.questions.suggestions import many

MOST_ROWS = 50
"""Of a list that comes whole, in a terminal."""


def sentences(report: Any) -> Sequence[str]:
    """What a list says before its rows."""
    return getattr(report.document(), "verdict", ())


def list_lines(listed: Table, report: Any, view: View) -> Iterator[str]:
    """What the list says, how many rows there are and how many are shown, then their table."""
    document, rows = report.document(), list(listed.rows(report))
    count = getattr(document, "count", len(rows))
    rest = f"--limit {count} shows all"
    if listed.find and len(rows) > MOST_ROWS:  # it comes whole
        ordered = sorted(rows, key=listed.first) if listed.first else rows
        rows, rest = ordered[:MOST_ROWS], "--format json has all"
    shown, more = (f"{len(rows):,} of ", f"; {rest}") if len(rows) < count else ("", "")
    for sentence in sentences(report):
        yield from paragraph(sentence, view.width, 2)
    yield from paragraph(f"{shown}{many(count, listed.noun)} {listed.when(document)}".rstrip() + more, view.width)
    if rows:
        columns = [replace(each, heading=each.heading.lower().replace(" ", "\n", 1)) for each in listed.columns]
        sources = [Column("source", each.source, leave=1) for each in columns if each.source is not nothing]
        yield from table([*columns, *sources], rows, view.width)


def list_sheet(table: Table, report: Any) -> Sheet:
    """A column for each field of the rows, the user's own words behind."""
    columns = [*csv_export.columns_of(table.row), *word_columns(getattr(report, "words", {}))] if table.row else []
    return sheet_of(table, report, columns, report.rows())


def sheet_of(table: Table, report: Any, columns: Sequence[csv_export.Column], rows: Iterable[Any]) -> Sheet:
    """The sheet of a list with other columns than the fields of its rows."""
    lines, as_of = [table.intro, *sentences(report)], getattr(report, "as_of", None)
    return Sheet(table.title, table.title, lines, columns, rows, as_of, rest=report.rest)
