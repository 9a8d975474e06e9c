"""The rows of an answer, from columns that stand once."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from msgspec import Struct

from api.formats import csv_export
from api.formats.blocks import verdict_of
from api.formats.csv_export import Column
from api.formats.sheet_columns import word_columns
from api.formats.tables import Table
from api.questions.schemas.layout import Layout
from api.reports.paging import Rest


class Total(Struct, frozen=True):
    """Sums of columns of a workbook, each amount with its formula, by what it is called: of all rows, or of those with this text
    in one of the user's own columns."""

    name: str
    rows: int
    sums: Mapping[str, tuple[Decimal | float, str]]


class Sheet(Struct, frozen=True):
    """Columns and rows, and `rest`, the rows that they leave out.

    A workbook has the title and the lines in front, the moment of the prices, the currency of all amounts, that of its rows where
    it is empty, and the `totals` of the columns it is left with. Of estimates it folds away what few need, but for the columns
    `kept`: None where rows are no estimates.
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
    totals: Callable[[Sequence[str]], Iterable[Total]] = lambda _: ()

    def csv(self, layout: Layout) -> Iterator[bytes]:
        """All rows, piece by piece."""
        return csv_export.with_last_line(csv_export.chunks(self.columns, self.rows, layout), self.rest, layout)


def list_sheet(table: Table, report: Any) -> Sheet:
    """A column for each field of the rows, the user's own words behind."""
    columns = [*csv_export.columns_of(table.row), *word_columns(getattr(report, "words", {}))] if table.row else []
    return sheet_of(table, report, columns, report.rows())


def sheet_of(table: Table, report: Any, columns: Sequence[Column], rows: Iterable[Any]) -> Sheet:
    """The sheet of a list with other columns than the fields of its rows."""
    lines, as_of = [table.intro, *verdict_of(report)], getattr(report, "as_of", None)
    return Sheet(table.title, table.title, lines, columns, rows, as_of, rest=report.rest)
