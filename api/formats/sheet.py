"""The rows of an answer as CSV and as a workbook, from columns that stand once."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from msgspec import Struct

from api.formats import csv_export
from api.formats.blocks import verdict_of
from api.formats.csv_export import Column
from api.formats.sheet_columns import word_columns
from api.formats.tables import Table
from api.questions.schemas.layout import Layout
from api.reports.paging import Rest

MOST_WORKBOOK_ROWS = 10_000
"""Takes a second to write."""


class Sheet(Struct, frozen=True):
    """Columns and rows, and `rest`, the rows that they leave out.

    A workbook has the title and the lines in front, the moment of the prices, and the currency of all amounts, that of its rows
    where it is empty. Of estimates it folds away what few need, but for the columns `kept`: None where rows are no estimates.
    """

    name: str
    title: str
    lines: Sequence[str]
    columns: Sequence[Column]
    rows: Iterable[Any]
    as_of: datetime | None = None
    currency: str = ""
    kept: Container[str] | None = None
    rest: Rest | None = None

    def csv(self, layout: Layout) -> Iterator[bytes]:
        """All rows, piece by piece."""
        return csv_export.with_last_line(csv_export.chunks(self.columns, self.rows, layout), self.rest, layout)

    def xlsx(self, layout: Layout) -> bytes:
        """A workbook of at most `MOST_WORKBOOK_ROWS` rows; its front counts the others."""
        from api.formats.xlsx import estimates, tables  # XlsxWriter is paid for by those who ask for a workbook

        rows = iter(self.rows)
        shown = list(islice(rows, MOST_WORKBOOK_ROWS))
        left = self.rest.total - len(shown) if self.rest else sum(1 for _ in rows)
        note = f"{left:,} rows are not in this workbook: filter them, or take all as CSV."
        lines, currency = [*self.lines, *([note] if left else [])], self.currency or _currency(shown)
        front = tables.Front(self.title, lines, layout.address, self.as_of, currency)
        columns = csv_export.chosen_columns(self.columns, layout)
        return tables.workbook(self.name, front, columns, shown, estimates.folded(self.columns, self.kept, layout))


def _currency(rows: Sequence[Any]) -> str:
    """The currency of rows that all have the same."""
    quoted = {getattr(row[-1] if isinstance(row, tuple) else row, "currency", "") for row in rows}
    return quoted.pop() if len(quoted) == 1 else ""


def list_sheet(table: Table, report: Any) -> Sheet:
    """A column for each field of the rows, the user's own words behind."""
    columns = [*csv_export.columns_of(table.row), *word_columns(getattr(report, "words", {}))] if table.row else []
    return sheet_of(table, report, columns, report.rows())


def sheet_of(table: Table, report: Any, columns: Sequence[Column], rows: Iterable[Any]) -> Sheet:
    """The sheet of a list with other columns than the fields of its rows."""
    lines, as_of = [table.intro, *verdict_of(report)], getattr(report, "as_of", None)
    return Sheet(table.title, table.title, lines, columns, rows, as_of, rest=report.rest)
