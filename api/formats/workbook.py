"""Workbooks whose text stays text: cells by type of value, tables with headings, named cells."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from xlsxwriter import Workbook
from xlsxwriter.utility import xl_rowcol_to_cell

OPTIONS = {"in_memory": True, "strings_to_formulas": False, "strings_to_numbers": False, "strings_to_urls": False}
FORMATS = {
    "title": {"bold": True, "font_size": 14},
    "heading": {"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"},
    "input": {"bg_color": "#FFF2CC", "num_format": "#,##0.00######"},
    "money": {"num_format": "#,##0.00"},
    "rate": {"num_format": "#,##0.00######"},
    "hours": {"num_format": "#,##0.00"},
    "share": {"num_format": "0.0%"},
    "moment": {"num_format": "yyyy-mm-dd hh:mm"},
    "day": {"num_format": "yyyy-mm-dd"},
    "wrapped": {"text_wrap": True, "valign": "top"},
}


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula with the value it has now, for readers that do not calculate."""

    text: str
    value: Decimal | float | str | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, the name of its format, and its width in characters."""

    heading: str
    form: str | None = None
    width: float = 12


class Sheet:
    """One sheet."""

    def __init__(self, name: str, plain: Any, formats: dict[str, Any]) -> None:
        self.name = name
        self.plain = plain
        self._formats = formats

    def put(self, row: int, column: int, value: Any, form: str | None = None) -> None:
        """Writes a value as what it is. Text is never read as a formula, a number or a link; moments lose their UTC."""
        look = self._formats[form] if form else self._look(value)
        if value is None or value == "":
            self.plain.write_blank(row, column, None, look)
        elif isinstance(value, Formula):
            self.plain.write_formula(row, column, value.text, look, _cached(value.value))
        elif isinstance(value, bool):
            self.plain.write_boolean(row, column, value, look)
        elif isinstance(value, (int, float, Decimal)):
            self.plain.write_number(row, column, value, look)
        elif isinstance(value, date):
            self.plain.write_datetime(row, column, _without_zone(value), look)
        else:
            self.plain.write_string(row, column, str(value), look)

    def _look(self, value: Any) -> Any:
        form = "moment" if isinstance(value, datetime) else "day" if isinstance(value, date) else None
        return self._formats[form] if form else None

    def table(self, top: int, columns: Sequence[Column], rows: Iterable[Sequence[Any]]) -> int:
        """A table with headings from this row on, filters above it; returns the row after its last."""
        for position, column in enumerate(columns):
            self.plain.set_column(position, position, column.width)
            self.put(top, position, column.heading, "heading")
        row = top
        for row, values in enumerate(rows, top + 1):
            for position, (column, value) in enumerate(zip(columns, values, strict=True)):
                self.put(row, position, value, column.form)
        self.plain.autofilter(top, 0, row, len(columns) - 1)
        self.plain.freeze_panes(top + 1, 0)
        return row + 1

    def at(self, row: int, column: int) -> str:
        """The absolute address of a cell, for formulas anywhere."""
        return f"'{self.name}'!{xl_rowcol_to_cell(row, column, row_abs=True, col_abs=True)}"


class Book:
    """A workbook in memory."""

    def __init__(self, title: str, created: datetime) -> None:
        self._buffer = io.BytesIO()
        self.plain = Workbook(self._buffer, OPTIONS)
        self.plain.set_properties({"title": title, "created": _without_zone(created)})
        self.plain.set_calc_mode("auto")
        self._formats = {name: self.plain.add_format(look) for name, look in FORMATS.items()}

    def sheet(self, name: str) -> Sheet:
        """A further sheet at the end."""
        return Sheet(name, self.plain.add_worksheet(name), self._formats)

    def name(self, name: str, address: str) -> None:
        """Names a cell for formulas and readers."""
        self.plain.define_name(name, f"={address}")

    def finish(self) -> bytes:
        """The whole file."""
        self.plain.close()
        return self._buffer.getvalue()


def _cached(value: Decimal | float | str | None) -> float | str:
    return "" if value is None else value if isinstance(value, str) else float(value)


def _without_zone(value: date) -> date:
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value
