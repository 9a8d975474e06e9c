"""The code behind a question: its parameters, what answers them, and what writes the answer on each surface."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, Protocol, TypeVar

from marshmallow import Schema
from msgspec import Struct

from api.formats.blocks import Block, blocks_of
from api.formats.charts.figure import Drawn
from api.formats.json import to_json
from api.formats.page import Page
from api.formats.sheet import Sheet, list_sheet
from api.formats.tables import Table
from api.formats.terminal.blocks import printed
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

    The `blocks` of a report, those of a list by default, are what people read on every surface, below the title and the filters
    of `table`. What is made by hand somewhere has a function for that surface. The terminal takes the parameters `in_terminal`
    where these are others.
    """

    parameters: type[Schema]
    report: Callable[[Service, Any, dict[str, Any]], R]
    document: type
    table: Table | None = None
    blocks: Callable[[R], Iterable[Block]] | None = None
    terminal: Callable[[R, View], Iterator[str]] | None = None
    html: Callable[[R], Page] | None = None
    sheet: Callable[[R], Sheet] | None = None
    csv: Callable[[R, Layout], Iterator[bytes]] | None = None
    xlsx: Callable[[R, Layout], bytes] | None = None
    figure: Callable[[R], Drawn] | None = None
    json: Callable[[R, Layout], bytes] | None = None
    in_terminal: type[Schema] | None = None

    @property
    def is_list(self) -> bool:
        """Whether it has the rows of its table, which may come page by page."""
        return bool(self.table and self.table.row)

    @property
    def is_sheet(self) -> bool:
        """Whether it has rows for CSV and for a workbook."""
        return bool(self.sheet or self.csv or self.is_list)

    @property
    def is_html(self) -> bool:
        """Whether it is answered as a page."""
        return self.table is not None or self.html is not None

    def answer(self, report: R) -> Iterable[Block]:
        """The answer as blocks."""
        return self.blocks(report) if self.blocks else blocks_of(self.heading, report, bool(self.figure))

    def lines(self, report: R, view: View) -> Iterator[str]:
        """The answer in a terminal."""
        return self.terminal(report, view) if self.terminal else printed(self.answer(report), view)

    def encoded(self, report: R, layout: Layout) -> bytes:
        """The answer as JSON."""
        return self.json(report, layout) if self.json else to_json(report.document())

    def csv_of(self, report: R, layout: Layout) -> Iterator[bytes]:
        """The answer as CSV."""
        return self.csv(report, layout) if self.csv else self._sheet(report).csv(layout)

    def xlsx_of(self, report: R, layout: Layout) -> bytes:
        """The answer as a workbook."""
        from api.formats.xlsx.tables import workbook  # XlsxWriter is paid for by those who ask for a workbook

        return self.xlsx(report, layout) if self.xlsx else workbook(self._sheet(report), layout)

    def _sheet(self, report: R) -> Sheet:
        return self.sheet(report) if self.sheet else list_sheet(self.heading, report)

    @property
    def heading(self) -> Table:
        """The table of what is answered in blocks."""
        assert self.table is not None, "what is not made by hand has a table"
        return self.table
