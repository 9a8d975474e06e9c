"""CSV for spreadsheets and scripts: RFC 4180, raw numbers, ISO dates, and no text that a sheet would run as a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from api.schemas import Layout
from costcalc.answers import Estimate

# OWASP's list of leading characters, the full-width forms that some sheets take for them, and NUL
FORMULA_STARTS = tuple("=+-@\t\r\n\0＝＋－＠")
BYTE_ORDER_MARK = "\ufeff"
_LEFT_OUT = ("components", "assumptions")

Reader = Callable[[Any], Any]


def estimate_columns() -> tuple[tuple[str, Reader], ...]:
    """Name and value of each column of `/cost.csv`: the estimate's keys in order, nested ones flat."""
    columns: list[tuple[str, Reader]] = []
    for name in Estimate.__dataclass_fields__:
        if name not in _LEFT_OUT:
            columns += _NESTED.get(name) or [(name, _attribute(name))]
    return tuple(columns)


def _attribute(name: str) -> Reader:
    return lambda row: getattr(row, name)


_NESTED: dict[str, list[tuple[str, Reader]]] = {
    "evidence": [
        ("throughput_evidence", lambda estimate: estimate.evidence.throughput),
        ("convergence_evidence", lambda estimate: estimate.evidence.convergence),
    ],
    "sources": [
        ("price_source", lambda estimate: estimate.sources.price.source),
        ("price_observed_at", lambda estimate: estimate.sources.price.observed_at),
        ("throughput_source", lambda estimate: estimate.sources.throughput.source),
        ("convergence_source", lambda estimate: estimate.sources.convergence.source),
    ],
}


def columns_of(row_type: type) -> tuple[tuple[str, Reader], ...]:
    """Name and value of each column of a flat row type."""
    names: Iterable[str] = row_type.__dataclass_fields__  # type: ignore[attr-defined]
    return tuple((name, _attribute(name)) for name in names)


def lines(columns: Sequence[tuple[str, Reader]], rows: Iterable[Any], layout: Layout) -> Iterator[str]:
    """The sheet line by line, header first."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=layout.sep, lineterminator="\r\n")
    writer.writerow([name for name, _ in columns])
    yield (BYTE_ORDER_MARK if layout.excel else "") + _taken(buffer)
    for row in rows:
        writer.writerow([cell(read(row), layout.decimal) for _, read in columns])
        yield _taken(buffer)


def document(columns: Sequence[tuple[str, Reader]], rows: Iterable[Any], layout: Layout) -> bytes:
    """The whole sheet in UTF-8."""
    return "".join(lines(columns, rows, layout)).encode()


def _taken(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text


def cell(value: Any, decimal: str = ".") -> str | None:
    """A value as a cell: numbers bare, dates ISO, yes and no as true and false, lists joined, formulas defused."""
    if value is None or value in ("", ()):
        return None
    for kind, write in _WRITERS:
        if isinstance(value, kind):
            return write(value, decimal)
    return text(";".join(map(str, value)))


def text(value: str) -> str:
    """Text that no sheet takes for a formula."""
    return "'" + value if value.startswith(FORMULA_STARTS) else str(value)


def number(value: Decimal | float) -> str:
    """A number in plain digits, without an exponent."""
    text = str(value)
    return f"{Decimal(text):f}" if "e" in text.lower() else text


_WRITERS: tuple[tuple[type | tuple[type, ...], Callable[[Any, str], str]], ...] = (
    (str, lambda value, _: text(value)),
    (bool, lambda value, _: "true" if value else "false"),
    (int, lambda value, _: str(value)),
    ((Decimal, float), lambda value, decimal: number(value).replace(".", decimal)),
    (datetime, lambda value, _: value.isoformat().replace("+00:00", "Z")),
)
