"""Workbooks whose text stays text: cells by type of value, tables that are sorted, filtered and printed, named columns."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from math import ceil, isfinite
from typing import Any

from msgspec import Struct
from xlsxwriter import Workbook, xmlwriter
from xlsxwriter.utility import xl_col_to_name, xl_rowcol_to_cell_fast
from xlsxwriter.worksheet import CellFormulaTuple, CellNumberTuple, CellStringTuple, Worksheet

from costcalc.money import SIGNS
from costcalc.offer import OLD_DAYS

# LibreOffice reads `_x5_` as a control character too, as Excel reads `_x0005_`: names such as wide_x1_0 are escaped alike.
xmlwriter.re_control_chars_1 = re.compile("(_x[0-9a-fA-F]{1,4}(?=_))")
OPTIONS = {"in_memory": True, "strings_to_formulas": False, "strings_to_numbers": False, "strings_to_urls": False}
LONGEST_ADDRESS = 2000  # Excel opens none of more than 2,079 characters
AMOUNTS, TEXTS = ("money", "rate", "input"), ("text", "long_text")
SPELT = {"vcpus": "vCPUs", "gib": "GiB", "kwh": "kWh", "usd": "USD", "gmacs": "GMACs", "top1": "top-1", "top5": "top-5"}
FORMATS: dict[str, dict[str, Any]] = {
    "title": {"bold": True, "font_size": 14},
    "heading": {"bold": True, "bottom": 1, "text_wrap": True, "valign": "top", "align": "left", "indent": 1},
    "heading_of_rows": {"bold": True, "bottom": 1},
    "heading_of_numbers": {"bold": True, "bottom": 1, "text_wrap": True, "valign": "top", "align": "right"},
    "text": {"indent": 1},
    "long_text": {"indent": 1, "text_wrap": True},
    "input": {"bg_color": "#FFF2CC", "num_format": "#,##0.00######"},
    "input_hours": {"bg_color": "#FFF2CC", "num_format": "#,##0.00##"},
    "input_share": {"bg_color": "#FFF2CC", "num_format": "0.0##%"},
    "money": {"num_format": "#,##0.00"},
    "rate": {"num_format": "#,##0.00######"},
    "hours": {"num_format": "#,##0.00"},
    "share": {"num_format": "0.0##%"},
    "percent": {"num_format": "0.0%"},
    "large": {"num_format": "#,##0.0"},
    "moment": {"num_format": "yyyy-mm-dd hh:mm"},
    "day": {"num_format": "yyyy-mm-dd"},
    "wrapped": {"text_wrap": True},
    "address": {"font_color": "#0563C1", "underline": 1, "text_wrap": True},
    "headline": {"bold": True, "font_size": 12},
    "wrapped_headline": {"bold": True, "font_size": 12, "text_wrap": True, "valign": "top"},
    "logical": {"num_format": '"TRUE";"TRUE";"FALSE"'},  # without it LibreOffice 7.4 shows 1 and 0 on some sheets
    "doubtful": {"bg_color": "#F8CBAD", "num_format": '0;-0;"FALSE"'},
}
LOOKS: Mapping[type, str] = {bool: "logical", datetime: "moment", date: "day"}
"""The format of a value that is given none."""
A4 = 9
NUMBERS = int | float | Decimal
HEADING_HEIGHT, LINE_HEIGHT = 45, 15  # points: three lines, and one
LAST_OF_ADDRESS, ADDRESS_LINE = 7, 70  # a column, and characters
LEGIBLE = 270  # characters across a printed page, in some 6 points
DOUBTFUL: Mapping[str, Callable[[Any], bool]] = {
    "price_age_days": lambda days: days is not None and days > OLD_DAYS,
    "price_first_hand": lambda first_hand: first_hand is False,
}
ROW = "#"  # in the text of a formula: the number of its own row
OF_ROW = re.compile(r"\[(\w+)\]")


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula with the value it has now, for readers that do not calculate."""

    text: str
    value: Decimal | float | str | None = None


class OwnRow:
    """Formulas over cells of their own row: `[hours]` stands for the row's cell in the column `hours`.

    They say the same wherever a row is sorted to.
    """

    def __init__(self, columns: Iterable[str]) -> None:
        self._cells = {name: f"${xl_col_to_name(position)}{ROW}" for position, name in enumerate(columns)}
        self._known: dict[str, str] = {}

    def formula(self, template: str, row: int, value: Decimal | float | None) -> Formula:
        """The template in the row with this index, and the value it has there."""
        text = self._known.get(template)
        if text is None:
            text = self._known[template] = "=" + OF_ROW.sub(lambda name: self._cells[name[1]], template)
        return Formula(text.replace(ROW, str(row + 1)), value)


class Column(Struct, frozen=True):
    """A column's name, the name of its format, its width in characters and its unit.

    A `detail` is folded away until someone unfolds it, and not printed.
    """

    name: str
    form: str | None = None
    width: float = 12
    unit: str = ""
    detail: bool = False

    @property
    def heading(self) -> str:
        """The name in words with the unit: `Billed cost (USD)`; as it is where it is the user's own."""
        name = self.name if self.name.startswith("_") else in_words(self.name)
        return f"{name} ({self.unit})" if self.unit else name


def in_words(name: str) -> str:
    """The name of a column as people write it: `Price age days`."""
    first, *others = name.split("_")
    return " ".join([SPELT.get(first, first[:1].upper() + first[1:]), *(SPELT.get(word, word) for word in others)])


def looks(currency: str) -> dict[str, dict[str, Any]]:
    """The formats of cells; amounts have the sign of this currency, none where it is empty or has no sign."""
    sign = SIGNS.get(currency)
    signed = {
        name: {**FORMATS[name], "num_format": f'"{sign}"{FORMATS[name]["num_format"]}'} for name in AMOUNTS if sign
    }
    return {**FORMATS, **signed}


class QuickSheet(Worksheet):  # type: ignore[misc]
    """A worksheet that is written in less time than XlsxWriter's own.

    XlsxWriter looks for 30 functions of Excel 365 in each formula, and for characters to escape in each cell's address. Ours have
    neither.
    """

    write_string = Worksheet._write_string
    write_number = Worksheet._write_number
    write_formula = Worksheet._write_formula

    def _prepare_formula(self, formula: str, expand_future_functions: bool = False) -> str:
        return formula.removeprefix("=")

    def _calculate_spans(self) -> None:
        """Does nothing: rows need not say which columns they fill."""

    def _write_cell(self, row: int, col: int, cell: Any) -> None:
        written = self._as_xml(cell)
        if written is None:
            super()._write_cell(row, col, cell)
        else:
            look = f' s="{cell.format._get_xf_index()}"' if cell.format else ""
            self.fh.write(f'<c r="{xl_rowcol_to_cell_fast(row, col)}"{look}{written}</c>')

    def _as_xml(self, cell: Any) -> str | None:
        """What follows a cell's place and look, for the three kinds of which there are many."""
        match cell:
            case CellStringTuple():
                return f' t="s"><v>{cell.string}</v>'
            case CellNumberTuple():
                return f"><v>{cell.number:.16G}</v>"
            case CellFormulaTuple() if not isinstance(cell.value, str):
                return f"><f>{self._escape_data(cell.formula)}</f><v>{cell.value}</v>"
        return None


def _fits_a_cell(value: Decimal | float) -> bool:
    """Whether a cell has this number: it has none that is infinite, not a number, or larger than any double."""
    try:
        return isfinite(value)
    except OverflowError:
        return False


class Sheet:
    """One sheet."""

    def __init__(self, book: Book, name: str, formats: Mapping[str, Any]) -> None:
        self.name = name
        self.plain = book.plain.add_worksheet(name, QuickSheet)
        self._book = book
        self._formats = formats
        self.plain.set_landscape()
        self.plain.set_paper(A4)
        self.plain.fit_to_pages(1, 0)
        self.plain.set_margins(left=0.4, right=0.4, top=0.5, bottom=0.6)
        self.plain.set_footer("&L&F, &A&R&P/&N")

    def put(self, row: int, column: int, value: Any, form: str | None = None) -> None:
        """Writes a value as what it is. Text is never read as a formula, a number or a link; moments lose their UTC."""
        kind = type(value)
        look = self._formats.get(form or LOOKS.get(kind, ""))
        if kind is str and value:
            self.plain.write_string(row, column, value, look)
        elif kind is Formula:
            self.plain.write_formula(row, column, value.text, look, _cached(value.value))
        elif isinstance(value, NUMBERS) and kind is not bool and _fits_a_cell(value):
            self.plain.write_number(row, column, float(value), look)
        elif value is None or value == "":
            if form:
                self.plain.write_blank(row, column, None, look)
        elif kind is bool:
            self.plain.write_boolean(row, column, value, look)
        elif isinstance(value, date):
            self.plain.write_datetime(row, column, _without_zone(value), look)
        else:
            self.plain.write_string(row, column, joined(value), look)

    def put_address(self, row: int, column: int, address: str) -> None:
        """Writes an address that opens at a click; one without a host, or a longer one than programs open, as text. It goes on in
        further lines, so that a long one makes no page wide and its print small."""
        self.plain.merge_range(row, column, row, LAST_OF_ADDRESS, "", self._formats["address"])
        self.plain.set_row(row, LINE_HEIGHT * ceil(len(address) / ADDRESS_LINE))
        if address.startswith("http") and len(address) <= LONGEST_ADDRESS:
            self.plain.write_url(row, column, address, self._formats["address"], address)
        else:
            self.put(row, column, address, "wrapped")

    def table(self, columns: Sequence[Column], rows: Iterable[Sequence[Any]], frozen: int = 0) -> int:
        """A table from the first row on, with filters in its headings, of which the first `frozen` columns stay in sight.

        Returns the index of its last row.
        """
        row, texts = 0, set()
        doubts = [DOUBTFUL.get(column.name) for column in columns]
        long = [position for position, column in enumerate(columns) if column.form == "long_text"]
        for row, values in enumerate(rows, 1):
            for position, (column, value, doubt) in enumerate(zip(columns, values, doubts, strict=True)):
                form = column.form
                if form is None and isinstance(value, str):
                    form = "text"
                    texts.add(position)
                self.put(row, position, value, "doubtful" if doubt and doubt(value) else form)
            lines = max((ceil(len(joined(values[at])) / columns[at].width) for at in long if values[at]), default=1)
            if lines > 1:
                self.plain.set_row(row, LINE_HEIGHT * lines)
        self._head(columns, texts)
        self.plain.autofilter(0, 0, row, len(columns) - 1)
        self.plain.freeze_panes(1, frozen)
        self.plain.repeat_rows(0)
        width = sum(column.width for column in columns if not column.detail)
        self.plain.fit_to_pages(ceil(width / LEGIBLE), 0)
        self.plain.repeat_columns(0)
        return row

    def _head(self, columns: Sequence[Column], texts: Collection[int]) -> None:
        for position, column in enumerate(columns):
            folded = {"level": 1, "hidden": True} if column.detail else {}
            self.plain.set_column(position, position, column.width, None, folded)
            is_text = position in texts or column.form in TEXTS
            self.put(0, position, column.heading, "heading" if is_text else "heading_of_numbers")
        self.plain.set_row(0, HEADING_HEIGHT)

    def name_columns(self, columns: Sequence[Column], wanted: Iterable[str], last: int) -> None:
        """Names columns of a table for formulas anywhere: `rates_offer` is all of `offer` on the sheet Rates."""
        places = {column.name: xl_col_to_name(position) for position, column in enumerate(columns)}
        for name in wanted:
            span = f"${places[name]}$2:${places[name]}${max(last, 1) + 1}"
            self._book.plain.define_name(f"{self.name.lower()}_{name}", f"='{self.name}'!{span}")


class Book:
    """A workbook in memory."""

    def __init__(self, title: str, created: datetime | None, currency: str = "") -> None:
        self._buffer = io.BytesIO()
        self.plain = Workbook(self._buffer, OPTIONS)
        self.plain.set_properties({"title": title} | ({"created": _without_zone(created)} if created else {}))
        self.plain.set_calc_mode("auto")
        self._formats = {name: self.plain.add_format(look) for name, look in looks(currency).items()}

    def sheet(self, name: str) -> Sheet:
        return Sheet(self, name, self._formats)

    def finish(self) -> bytes:
        self.plain.close()
        return self._buffer.getvalue()


def _cached(value: Decimal | float | str | None) -> float | str:
    return "" if value is None else value if isinstance(value, str) else float(value)


def joined(value: Any) -> str:
    """A value as text; several values are joined."""
    return str(value) if isinstance(value, str | NUMBERS) else ";".join(map(str, value))


def _without_zone(value: date) -> date:
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value
