"""A list as a sheet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from api.formats import csv_export
from api.formats.blocks import verdict_of
from api.formats.sheet import Sheet
from api.formats.sheet_columns import word_columns
from api.formats.tables import Table


def list_sheet(table: Table, report: Any) -> Sheet:
    """A column for each field of the rows, the user's own words behind."""
    columns = [*csv_export.columns_of(table.row), *word_columns(getattr(report, "words", {}))] if table.row else []
    return sheet_of(table, report, columns, report.rows())


def sheet_of(table: Table, report: Any, columns: Sequence[csv_export.Column], rows: Iterable[Any]) -> Sheet:
    """The sheet of a list with other columns than the fields of its rows."""
    lines, as_of = [table.intro, *verdict_of(report)], getattr(report, "as_of", None)
    return Sheet(table.title, table.title, lines, columns, rows, as_of, rest=report.rest)
