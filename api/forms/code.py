"""The code behind a question: its parameters, what answers them, and what writes the answer on each surface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, Protocol, TypeVar

from marshmallow import Schema
from msgspec import Struct

from api.formats import lists
from api.formats.charts.figure import Drawn
from api.formats.json import to_json
from api.formats.page import LIST, Page
from api.formats.sheet import Sheet
from api.formats.tables import Table
from api.formats.terminal.grid import View
from api.questions.schemas.layout import Layout
from api.reports.paging import Rest
from api.service import Service


class Report(Protocol):
    """What a question answers, before it is written in one form or another."""

    @property
    def name(self) -> str:
        """What a browser saves it as, without the ending."""
        ...

    @property
    def rest(self) -> Rest | None:
        """The rows that a list leaves out; None for one that is whole, and for what is no list."""
        ...

    def document(self) -> object: ...


R = TypeVar("R", bound=Report)


class Code(Struct, Generic[R], frozen=True):
    """What answers a question: a report made from parsed `parameters`, whose `document` is the JSON answer.

    A list has its `table`, which writes it on every surface. What is no list, or reads better otherwise somewhere, has a function
    of its own for that surface. The terminal takes the parameters `in_terminal` where these are others.
    """

    parameters: type[Schema]
    report: Callable[[Service, Any, dict[str, Any]], R]
    document: type
    table: Table | None = None
    terminal: Callable[[R, View], Iterator[str]] | None = None
    html: Callable[[R], Page] | None = None
    sheet: Callable[[R], Sheet] | None = None
    csv: Callable[[R, Layout], Iterator[bytes]] | None = None
    xlsx: Callable[[R, Layout], bytes] | None = None
    figure: Callable[[R], Drawn] | None = None
    json: Callable[[R, Layout], bytes] | None = None
    in_terminal: type[Schema] | None = None

    @property
    def is_sheet(self) -> bool:
        """Whether it has rows for CSV and for a workbook."""
        return bool(self.sheet or self.csv or (self.table and self.table.row))

    @property
    def is_html(self) -> bool:
        """Whether it is answered as a page."""
        return self.table is not None or self.html is not None

    def lines(self, report: R, view: View) -> Iterator[str]:
        """The answer in a terminal."""
        if self.terminal:
            return self.terminal(report, view)
        return lists.list_lines(self.listed, report, view)

    def page(self, report: R) -> Page:
        """The answer as a page; that of a list where nothing else is said."""
        return self.html(report) if self.html else Page(LIST, {})

    def encoded(self, report: R, layout: Layout) -> bytes:
        """The answer as JSON."""
        return self.json(report, layout) if self.json else to_json(report.document())

    def csv_of(self, report: R, layout: Layout) -> Iterator[bytes]:
        """The answer as CSV."""
        return self.csv(report, layout) if self.csv else self._sheet(report).csv(layout)

    def xlsx_of(self, report: R, layout: Layout) -> bytes:
        """The answer as a workbook."""
        return self.xlsx(report, layout) if self.xlsx else self._sheet(report).xlsx(layout)

    def _sheet(self, report: R) -> Sheet:
        return self.sheet(report) if self.sheet else lists.list_sheet(self.listed, report)

    @property
    def listed(self) -> Table:
        """The table of a list."""
        assert self.table is not None, "a question that is no list says what it looks like on each surface"
        return self.table
