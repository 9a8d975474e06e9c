"""`/plan`: many questions at once, a row in and a row out, each with its best estimate or with what is wrong beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.formats import csv as csv_export
from api.formats.csv import Column
from api.formats.sheet_columns import WORDS, estimate_columns
from api.questions.errors import Refused
from api.questions.fields import Number
from api.questions.finance_schemas import SharedSchema
from api.questions.parsing import Arguments
from api.questions.schemas import Layout
from api.questions.suggestions import clip, counted
from api.reports.accuracy import optional
from api.reports.plan_rows import BEYOND, ROW, Given, check_columns
from api.service import Service, exchange_rates
from costcalc.answers import Answer, Estimate, PriceBasis
from costcalc.catalogue.catalogue import Catalogue
from costcalc.money import ExchangeRate
from costcalc.query import EstimateQuery

SHARED = SharedSchema()
ERROR = "error"


@dataclass(frozen=True, slots=True)
class Answered:
    """One question as it was given, from 1, with its best estimate or with why there is none."""

    row: int
    given: Given
    error: str | None
    count: int
    estimate: Estimate | None
    exchange: ExchangeRate | None


@dataclass(frozen=True, slots=True)
class PlanDocument:
    """The JSON answer: every row in the order given. `prices` is null where no row could be answered."""

    rows: tuple[Answered, ...]
    answered: int
    prices: PriceBasis | None


@dataclass(frozen=True, slots=True)
class Planner:
    """Answers rows by one service from one snapshot; `shared` stands in every row that doesn't say otherwise.

    Where `decimal` is a comma, that of cells that hold numbers is read as a point.
    """

    service: Service
    catalogue: Catalogue
    shared: Mapping[str, list[str]]
    decimal: str = "."

    def document(self, rows: Sequence[Given]) -> PlanDocument:
        """All rows. Raises BadParameters for a column that no row may have."""
        check_columns(rows)
        found = [self._row(number, self._worded(given)) for number, given in enumerate(rows, 1)]
        prices = next((answer.prices for _, answer in found if answer), None)
        answered = tuple(row for row, _ in found)
        return PlanDocument(answered, sum(row.estimate is not None for row in answered), prices)

    def _worded(self, given: Given) -> Given:
        """The row with the label and the cost centre of all rows, where it has none of its own."""
        common = {name: self.shared[name][0] for name in WORDS if name in self.shared and not given.get(name)}
        return {**given, **common}

    def _row(self, number: int, given: Given) -> tuple[Answered, Answer | None]:
        if BEYOND in given:
            cells = clip(given[BEYOND])
            return Answered(number, given, f"more cells than columns: {cells} has no column", 0, None, None), None
        own = {name: [self._read(name, text)] for name, text in given.items() if text and not name.startswith("_")}
        try:
            answer = self._answer({**self.shared, **own})
        except Refused as refused:
            return Answered(number, given, refused.detail, 0, None, None), None
        if not answer.estimates:
            return Answered(number, given, nothing(answer), 0, None, answer.exchange), answer
        return Answered(number, given, None, answer.count, answer.estimates[0], answer.exchange), answer

    def _read(self, name: str, text: str) -> str:
        is_number = isinstance(ROW.fields.get(name), Number) and text.count(",") == 1
        return text.replace(",", ".") if self.decimal == "," and is_number else text

    def _answer(self, asked: Mapping[str, list[str]]) -> Answer:
        values, _ = self.service.filters(ROW, asked, self.catalogue)
        return self.service.answer(
            EstimateQuery(**{**values, "model": values["model"].name, "limit": 1}), self.catalogue
        )


def layout_beside(service: Service, catalogue: Catalogue, given: Arguments) -> Layout:
    """The layout, once the parameters for all rows are known to be good. Raises BadParameters."""
    values, layout = service.filters(SHARED, given, catalogue)
    exchange_rates(
        values.get("currency", "USD"), (), (values.get("as_of") or service.clock()).date(), values.get("fx", ())
    )
    return layout


def nothing(answer: Answer) -> str:
    """Why a question has no estimate."""
    best = answer.best_reached
    if best and best.accuracy < answer.query.target:
        return f"nothing reaches {answer.query.target:g}: the best reached is {best.accuracy:g}, by {best.recipe}"
    return f"nothing fits: {counted(answer.rejections) or 'no offer passes the filters'}"


def columns(rows: Sequence[Answered]) -> list[Column]:
    """What was given, then the error, then the best estimate's columns; those whose name was given already start with best_."""
    names = list(dict.fromkeys(name for row in rows for name in row.given))
    best = [(f"best_{name}" if name in names else name, optional((name, read))[1]) for name, read in estimate_columns()]
    return [
        *((name, _of_given(name)) for name in names),
        (ERROR, lambda row: row.error),
        *((name, _of_estimate(read)) for name, read in best),
        *_exchange(rows),
    ]


def as_csv(document: PlanDocument, layout: Layout) -> Iterator[bytes]:
    """The sheet, one line per row in the order given."""
    return csv_export.chunks(columns(document.rows), document.rows, layout)


def _of_given(name: str) -> Any:
    return lambda row: row.given.get(name)


def _of_estimate(read: Any) -> Any:
    return lambda row: read(row.estimate)


def _exchange(rows: Sequence[Answered]) -> Iterator[Column]:
    if any(row.exchange for row in rows):
        for name in ("per_usd", "date", "source"):
            yield f"exchange_rate_{name}", _of_rate(name)


def _of_rate(name: str) -> Any:
    return lambda row: row.exchange and getattr(row.exchange, name)
