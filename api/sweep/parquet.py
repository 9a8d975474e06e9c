"""Sweeps as Parquet: the columns of the CSV with their types, money as exact decimals, and the question beside every estimate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from types import NoneType
from typing import Any, NamedTuple, get_args, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq

from api.formats.sheet_columns import estimate_columns
from api.questions.fields import Flag, Moment, Number
from api.sweep.questions import SCHEMA, Question
from costcalc.answers import Estimate
from costcalc.money import cents

CENTS, RATE = pa.decimal128(38, 2), pa.decimal128(38, 12)
MOMENT = pa.timestamp("us", "UTC")
ASKED = "asked_"
PARTITION = "model"  # the folder of a part says it; readers put it back
_TYPES: dict[type, pa.DataType] = {
    bool: pa.bool_(), int: pa.int64(), float: pa.float64(), Decimal: CENTS, datetime: MOMENT, date: pa.date32(),
}  # fmt: skip
_STEP = Decimal("1e-12")
_HINTS = get_type_hints(Estimate)


class Column(NamedTuple):
    """A column: its type, and its value for a question and one of its estimates, None where it has none."""

    name: str
    type: pa.DataType
    read: Callable[[Question, Estimate | None], Any]


def encoded(questions: Iterable[Question], parameters: tuple[str, ...]) -> bytes:
    """One Parquet file with a row for each estimate, and one for a question without any; `parameters` are those asked."""
    columns = _columns(parameters)
    rows = list(_rows(questions))
    arrays = [pa.array([column.read(*row) for row in rows], column.type) for column in columns]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(arrays, [column.name for column in columns]), sink, compression="zstd")
    return bytes(sink.getvalue())


def _rows(questions: Iterable[Question]) -> Iterator[tuple[Question, Estimate | None]]:
    for question in questions:
        estimates = question.answer.estimates if question.answer else ()
        yield from ((question, estimate) for estimate in estimates or (None,))


@lru_cache(maxsize=8)
def _columns(parameters: tuple[str, ...]) -> tuple[Column, ...]:
    """The question, what was asked, how it fared, the estimate's columns of the CSV, and the rate of its currency."""
    return (
        Column("question", pa.int64(), lambda question, _: question.number),
        *(_asked(name) for name in parameters if name != PARTITION),
        Column("message", pa.string(), lambda question, _: question.message),
        Column("count", pa.int64(), lambda question, _: question.answer.count if question.answer else 0),
        *(_estimated(name, read) for name, read in estimate_columns() if name != PARTITION),
        _exchanged("per_usd", RATE),
        _exchanged("date", pa.date32()),
        _exchanged("source", pa.string()),
    )


def _asked(name: str) -> Column:
    """What was given for a parameter, with its type where it is one number, moment or flag."""
    field = SCHEMA.fields[name]
    kind = (
        field.kind
        if isinstance(field, Number)
        else datetime
        if isinstance(field, Moment)
        else bool
        if isinstance(field, Flag)
        else str
    )
    typed = RATE if kind is Decimal else _TYPES.get(kind, pa.string())
    if kind is str:
        return Column(ASKED + name, typed, lambda question, _: ";".join(question.given[name]).replace(",", ";"))
    return Column(ASKED + name, typed, lambda question, _: _fitting(field.deserialize(question.given[name])))


def _estimated(name: str, read: Callable[[Any], Any]) -> Column:
    typed = RATE if name == "hourly_rate" else _type(name)
    return Column(name, typed, lambda _, estimate: None if estimate is None else _fitting(read(estimate)))


def _type(name: str) -> pa.DataType:
    """The type of an attribute of an estimate; of what is nested in one only the moment is no text."""
    hint = datetime if name == "price_observed_at" else _HINTS.get(name, str)
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not NoneType]
    return _TYPES.get(kinds[0], pa.string())


def _exchanged(name: str, typed: pa.DataType) -> Column:
    """An attribute of the rate of the currency asked for; null for dollars."""

    def read(question: Question, _: object) -> Any:
        exchange = question.answer.exchange if question.answer else None
        return exchange and _fitting(getattr(exchange, name))

    return Column(f"exchange_rate_{name}", typed, read)


def _fitting(value: Any) -> Any:
    """The same; an exact amount with more decimals than any column has is rounded to as many."""
    return value.quantize(_STEP, ROUND_HALF_UP) if isinstance(value, Decimal) and value != cents(value) else value
