"""`GET /accuracy`: the highest accuracy that so much money or time buys, and on what."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from typing import Any

from flask import Blueprint, Response

from api.formats import csv as csv_export
from api.formats.csv import Column
from api.formats.sheet_columns import estimate_columns, shared_columns
from api.questions.finance_schemas import AccuracySchema
from api.questions.links import to_url
from api.questions.schemas import Layout
from api.questions.suggestions import counted
from api.reports.budget import STEPS, highest
from api.reports.documents import to_json
from api.service import Service, with_moment
from api.web.responses import Body, answered, arguments, service
from costcalc.answers import Answer, Estimate, PriceBasis
from costcalc.catalogue.catalogue import Catalogue
from costcalc.convergence.eligibility import BestReached
from costcalc.money import CENT, ExchangeRate
from costcalc.query import EstimateQuery

blueprint = Blueprint("accuracy", __name__)
ACCURACY = AccuracySchema()
LEAST = 1 / STEPS
LESS = (0.001, 0.0025, 0.005, 0.01, 0.02)
DEFAULT_ESTIMATES = 5
SHORT = Decimal("0.0001")


@dataclass(frozen=True, slots=True)
class AccuracyDocument:
    """The JSON answer. `estimates` reach `accuracy` within budget and time: those that no other beats on both, best first;
    `less` are the best of slightly lower targets. `query.target` is the accuracy; both are null where nothing fits."""

    accuracy: float | None
    message: str
    budget: Decimal | None
    max_hours: float | None
    query: EstimateQuery
    prices: PriceBasis
    exchange: ExchangeRate | None
    count: int
    estimates: tuple[Estimate, ...]
    less: tuple[Estimate, ...]
    rejections: dict[str, int]
    best_reached: BestReached | None


@dataclass(frozen=True, slots=True)
class Search:
    """Looks for the highest accuracy within the limits of one question; its own target does not count."""

    service: Service
    catalogue: Catalogue
    query: EstimateQuery

    def document(self) -> AccuracyDocument:
        """The whole answer."""
        least = self._ask(LEAST)
        limit = least.best_reached.accuracy if least.best_reached else 0.0
        accuracy = highest(self._fits, limit)
        found = least if accuracy is None else self._ask(accuracy, limit=self.query.limit, frontier=True)
        return AccuracyDocument(
            accuracy=accuracy,
            message=self._nothing(least) if accuracy is None else self._something(accuracy, found),
            budget=self.query.max_cost,
            max_hours=self.query.max_hours,
            query=with_moment(found.query, found.prices.as_of),
            prices=found.prices,
            exchange=found.exchange,
            count=found.count,
            estimates=found.estimates if accuracy is not None else (),
            less=tuple(self._less(accuracy)) if accuracy is not None else (),
            rejections=found.rejections,
            best_reached=found.best_reached,
        )

    def _ask(self, target: float, **changes: Any) -> Answer:
        return self.service.answer(replace(self.query, **{"target": target, "limit": 1, **changes}), self.catalogue)

    def _fits(self, target: float) -> bool:
        return self._ask(target).count > 0

    def _less(self, accuracy: float) -> Iterator[Estimate]:
        for less in LESS:
            if accuracy - less > LEAST:
                yield from self._ask(round(accuracy - less, 4)).estimates

    def _something(self, accuracy: float, found: Answer) -> str:
        best = found.estimates[0]
        told = f"{accuracy:.4f} on {best.nodes} x {best.instance_type} of {best.provider}: {self._costs(best)}."
        if self._ask(accuracy + LEAST, max_cost=None, max_hours=None).count:
            return told
        return f"{told} No recipe is known to reach more surely enough, whatever it costs."

    def _nothing(self, nothing: Answer) -> str:
        """Why nothing fits, and the least that would do."""
        if nothing.count:
            return "Nothing reaches any accuracy."
        cheapest = self._ask(LEAST, max_cost=None, sort="cost")
        for estimate, bill in zip(cheapest.estimates, cheapest.bills, strict=True):
            hours = Decimal(repr(estimate.hours))
            cost = bill.billed(hours) if self.query.basis == "billed" else bill.effective(hours)
            least = f"{cost.quantize(CENT, ROUND_CEILING):f} {estimate.currency}"
            return f"Nothing fits: the least that reaches any accuracy costs {least}; raise budget= to that."
        for estimate in self._ask(LEAST, max_cost=None, max_hours=None, sort="time").estimates:
            hours = Decimal(repr(estimate.hours)).quantize(SHORT, ROUND_CEILING)
            return f"Nothing fits: the quickest takes {hours:f} h; raise max_hours= to that."
        return f"No offer and recipe pass the filters: {counted(nothing.rejections) or 'none there are'}."

    def _costs(self, estimate: Estimate) -> str:
        cost = estimate.billed_cost if self.query.basis == "billed" else estimate.effective_cost
        waiting = f" ({estimate.calendar_hours:.4g} h with waiting)" if estimate.calendar_hours > estimate.hours else ""
        return f"{cost:f} {estimate.currency} in {estimate.hours:.4g} h{waiting}"


@blueprint.get("/accuracy")
@blueprint.get("/accuracy.csv")
def accuracy() -> Response:
    """Which accuracy does so much money, or time, buy?"""
    asked = service()
    catalogue = asked.catalogue()
    values, layout = asked.filters(ACCURACY, arguments(), catalogue)
    values["max_cost"] = values.pop("budget", None)
    defaults = {"limit": DEFAULT_ESTIMATES, "target": LEAST}
    query = EstimateQuery(**{**defaults, **values, "model": values["model"].name})
    search = Search(asked, catalogue, query)
    makers: dict[str, Callable[[], Body]] = {
        "json": lambda: to_json(search.document()),
        "csv": lambda: as_csv(search.document(), layout),
    }
    moment = "" if query.as_of else asked.clock().date()
    return answered((catalogue.snapshot, to_url(query), moment), layout, makers, f"accuracy-{query.model}")


def as_csv(document: AccuracyDocument, layout: Layout) -> Iterator[bytes]:
    """One row per estimate, or one that only says why there is none."""
    columns: list[Column] = [
        ("accuracy", lambda _: document.accuracy),
        ("message", lambda _: document.message),
        *(optional(column) for column in estimate_columns()),
        *shared_columns(document),
    ]
    return csv_export.chunks(columns, document.estimates or (None,), layout)


def optional(column: Column) -> Column:
    """The column, blank where there is no row."""
    name, read = column
    return name, lambda row: None if row is None else read(row)
