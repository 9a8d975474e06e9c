"""`/trend`: what a training cost at past dates, what made it cheaper, and whether it was ever worth waiting."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import Annotated, ClassVar, Literal

from msgspec import Struct
from msgspec.structs import replace

from api.questions.declared import fields_of
from api.questions.fields import LAST_SECOND
from api.questions.schemas.training import TrainingSchema
from api.questions.values import Values, taken
from api.reports.over_time import (
    MANY,
    POINT_BYTES,
    Change,
    Drivers,
    Point,
    at_past_dates,
    drivers_of,
    verdict,
    with_changes,
)
from api.reports.paging import OfQuery
from api.service import Service, query_of
from costcalc.answers import PriceBasis
from costcalc.catalogue.catalogue import Catalogue
from costcalc.fields import filled
from costcalc.offer import PurchaseOption
from costcalc.parameters import Param
from costcalc.query import EstimateQuery, parameters_of

MONTHS = {"year": 12, "quarter": 3, "month": 1}
STEPS = ("year", "quarter", "month")


class TrendParameters(Struct):
    """What a question about the past asks beside its training."""

    every: Annotated[
        Literal["year", "quarter", "month"],
        Param("how far apart the dates are; default year", "date", "quarter", use="everyday"),
    ] = "year"


class TrendSchema(TrainingSchema):
    """The parameters of `/trend`."""

    class Meta:
        """Each point has one estimate, the cheapest pick of its date."""

        include = fields_of(TrendParameters)
        exclude = parameters_of(*MANY)


@dataclass(frozen=True, slots=True)
class TrendRow:
    """A point as a row of a sheet."""

    date: datetime
    cost: Decimal
    currency: str
    hours: float
    provider: str
    region: str
    instance_type: str
    nodes: int
    accelerator: str
    accelerators: int
    recipe: str
    hourly_rate: Decimal
    change: Change | None
    happened: str


@dataclass(frozen=True, slots=True)
class TrendDocument:
    """The JSON answer; `points` are a year, a quarter or a month apart, oldest first, and end at the date asked for."""

    query: EstimateQuery
    prices: PriceBasis
    points: tuple[Point, ...]
    drivers: Drivers
    verdict: tuple[str, ...]

    @property
    def about_bytes(self) -> int:
        return POINT_BYTES * len(self.points)


@dataclass(frozen=True)
class TrendReport(OfQuery):
    """One question at many dates."""

    drawn: ClassVar = (
        "the price of this training",
        "the cheapest machine that one could rent on each date, with its 80 % range; prices seen by then and confirmed",
    )
    every: str = "year"

    @property
    def name(self) -> str:
        return f"trend-{self.query.model}-{self.query.target:g}"

    @cached_property
    def _whole(self) -> TrendDocument:
        name = "trend", self.service.state(self.catalogue.snapshot), self.service.clock().date(), self.query, self.every
        shelf = self.service.memory.shelf(self.query.model in self.service.own)
        return shelf.recall(name, self._worked_out)

    def _worked_out(self) -> TrendDocument:
        latest = self.service.answer(self.query, self.catalogue)
        points = tuple(with_changes(self._points(latest.prices.as_of)))
        drivers = drivers_of(self.service, self.catalogue, self.query, points)
        return TrendDocument(self.query, latest.prices, points, drivers, tuple(verdict(points, drivers)))

    def document(self) -> TrendDocument:
        return self._whole

    def rows(self) -> tuple[TrendRow, ...]:
        return tuple(filled(TrendRow, point, point.estimate) for point in self._whole.points)

    @property
    def points(self) -> tuple[Point, ...]:
        return self._whole.points

    def _points(self, last: datetime) -> Iterator[Point]:
        first = self.catalogue.first_observed_at or last
        passing = at_past_dates(self.service)
        months, step = 12 * (last.year - first.year + 1), MONTHS[self.every]
        for earlier in range(months, -1, -step):
            day = _months_before(last, earlier)
            service = passing if earlier else self.service
            picks = (
                service.answer(replace(self.query, as_of=day, limit=1), self.catalogue).picks if day >= first else ()
            )
            if picks:
                cheapest = picks[0].estimate
                cost = cheapest.cost(self.query.basis).cost
                yield Point(day, cost, cheapest.calendar_hours, cheapest)


def _months_before(moment: datetime, months: int) -> datetime:
    """The end of the same day so many months earlier, or of the month's last day; the moment itself before no month."""
    if not months:
        return moment
    year, month = divmod(moment.year * 12 + moment.month - 1 - months, 12)
    day = min(moment.day, monthrange(year, month + 1)[1])
    return datetime.combine(moment.replace(year=year, month=month + 1, day=day).date(), LAST_SECOND)


def trend_report(service: Service, catalogue: Catalogue, values: Values) -> TrendReport:
    """The report that parsed parameters of `/trend` ask for: of machines on demand unless the question says otherwise."""
    beside = taken(TrendParameters, values)
    query = query_of(values, purchase=(PurchaseOption.ON_DEMAND,))
    return TrendReport(service, catalogue, query, beside.every)
