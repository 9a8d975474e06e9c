"""The columns of sheets: an estimate's keys flat, and what all rows of an answer share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, Protocol

from api.formats import csv_export
from api.formats.csv_export import Column
from api.questions.schemas.layout import own_words
from costcalc.flat import NAMES
from costcalc.money import ExchangeRate
from costcalc.query import EstimateQuery, parameters_of


class Answered(Protocol):
    """What answers of every path have."""

    @property
    def query(self) -> EstimateQuery: ...

    @property
    def exchange(self) -> ExchangeRate | None: ...


_LEFT_OUT = ("components", "assumptions")
_KNOWN_OF = ("throughput", "convergence")
_NESTED: dict[str, list[Column]] = {
    "evidence": [(f"{name}_evidence", attrgetter(f"evidence.{name}")) for name in _KNOWN_OF],
    "sources": [
        ("price_source", attrgetter("sources.price.source")),
        ("price_observed_at", attrgetter("sources.price.observed_at")),
        *((f"{name}_source", attrgetter(f"sources.{name}.source")) for name in _KNOWN_OF),
    ],
    "evidence_notes": [(f"{name}_note", attrgetter(f"evidence_notes.{name}")) for name in _KNOWN_OF],
}


@cache
def estimate_columns() -> tuple[Column, ...]:
    """The estimate's keys in order, nested ones flat."""
    columns: list[Column] = []
    for name in NAMES:
        if name not in _LEFT_OUT:
            columns += _NESTED.get(name) or [csv_export.attribute(name)]
    return tuple(columns)


def shared_columns(answer: Answered) -> Iterator[Column]:
    """What all rows share and only some answers have: the exchange rate, the user's own words."""
    if answer.exchange:
        yield constant("exchange_rate_per_usd", answer.exchange.per_usd)
        yield constant("exchange_rate_date", answer.exchange.date)
        yield constant("exchange_rate_source", answer.exchange.source)
    yield from word_columns({name: getattr(answer.query, name) for name in parameters_of("words")})


def word_columns(given: Mapping[str, Any]) -> list[Column]:
    """These words, repeated in every row."""
    return [constant(name, words) for name, words in own_words(given).items()]


def constant(name: str, value: Any) -> Column:
    """The same value in every row."""
    return name, lambda _: value


def within(part: Callable[[Any], Any], column: Column) -> Column:
    """The column of a part of each row, blank where the row has no such part."""
    name, read = column
    return name, lambda row: None if (part_of_row := part(row)) is None else read(part_of_row)
