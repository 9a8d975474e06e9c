"""`/trend`: what a training cost at past dates, what made it cheaper, and whether it was ever worth waiting."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import chain
from typing import Annotated, Literal

from msgspec import Struct
from msgspec.structs import replace

from api.budget import affordable
from api.formats import words
from api.formats.blocks import Block, Chart, Part, Rows, Say
from api.formats.charts import over_time
from api.formats.column import Column
from api.formats.figures import cost_range
from api.formats.tables import Table, day
from api.forms.code import Code
from api.questions.asked import query_of
from api.questions.fields import LAST_SECOND
from api.questions.links import narrowed, to_url
from api.questions.schemas.training import TrainingSchema, schema
from api.questions.values import Values, taken
from api.reports.over_time import MANY, Change, Drivers, OverTime, Point, Written, verdict
from api.reports.verdict import in_short
from api.service import Service
from costcalc.answers import Answer, PriceBasis
from costcalc.catalogue.catalogue import Catalogue
from costcalc.fields import filled
from costcalc.money import money
from costcalc.offer import PurchaseOption
from costcalc.parameters import Param
from costcalc.query import EstimateQuery, parameters_of
from costcalc.units import in_words

MONTHS = {"year": 12, "quarter": 3, "month": 1}


class TrendParameters(Struct):
    """What a question about the past asks beside its training."""

    every: Annotated[
        Literal["year", "quarter", "month"],
        Param("how far apart the dates are; default year", "date", "quarter", use="everyday"),
    ] = "year"


TrendSchema = schema(TrainingSchema, TrendParameters, without=parameters_of(*MANY))


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


@dataclass(frozen=True)
class TrendReport(OverTime[TrendDocument]):
    """One question at many dates."""

    drawn = (
        "the price of this training",
        "the cheapest machine that one could rent on each date, with its 80 % range; prices seen by then and confirmed",
    )

    @property
    def name(self) -> str:
        return f"trend-{self.query.model}-{self.query.target:g}"

    def written(self) -> Written[TrendDocument]:
        now = self.ask()
        last = now.prices.as_of
        dates = [*self._dates(last)]
        today, before = dates[-1:], reversed(dates[:-1])
        swept = chain(self.sweep("as_of", today, limit=1), self.earlier.sweep("as_of", before, limit=1))
        newest_first = [Point.of(day, answer) for day, answer in affordable(swept)]
        points, drivers = self.compared(reversed(newest_first))
        told = [*verdict(points, drivers), *_advised(now, points[-1:]), *self.in_vain()]
        for date in dates[: len(dates) - len(newest_first)][-1:]:
            told.append(
                f"{date:%B %Y} and before take more processor time than a question may: ask for them by as_of, or less often."
            )
        return Written(TrendDocument(self.query, now.prices, points, drivers, tuple(told)), points)

    def rows(self) -> tuple[TrendRow, ...]:
        return tuple(filled(TrendRow, point, point.estimate) for point in self.points)

    def _dates(self, last: datetime) -> Iterator[datetime]:
        """The dates of the points, oldest first."""
        first = self.catalogue.first_observed_at or last
        months, step = 12 * (last.year - first.year + 1), MONTHS[self.every]
        days = (_months_before(last, before) for before in range(months, -1, -step))
        yield from (day for day in days if day >= first)


def _advised(now: Answer, last: Sequence[Point]) -> Iterator[str]:
    """What today's answer names instead of the last point: it prefers what a launch file starts, as no past date can."""
    cheapest, basis = now.picked.get("cheapest"), now.query.basis
    if cheapest and any(point.cost < cheapest.cost(basis).cost for point in last):
        yield f"Today's answer names {in_short(cheapest)} for {cheapest.price(basis)}: a launch file starts it."


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


NOTHING = "No date has a price of this training."


def _how(row: Point) -> str:
    return f"{words.machine(row.estimate)}, {words.hourly(row.estimate)}; {row.estimate.recipe}"


TABLE = Table(
    "What it cost before",
    "The cheapest machine that one could rent for this training at each date.",
    "date",
    TrendRow,
    (
        Column("Date", lambda row: day(row.date)),
        Column("Cost", lambda row: money(row.cost, row.estimate.currency), is_number=True),
        Column("Time", lambda row: in_words(row.hours), is_number=True),
        Column("Machine", lambda row: words.accelerators(row.estimate), _how),
        Column("What happened", lambda row: row.happened, leave=1),
    ),
    ("model", "target", "provider", "accelerator", "currency", "every"),
)


def blocks(report: TrendReport) -> Iterator[Block]:
    """The verdict, the picture, and the point of each date, which leads to its arithmetic."""

    def arithmetic(row: Point) -> str:
        return to_url(narrowed(replace(report.query, as_of=row.date), row.estimate), "/estimate")

    yield Say(report.document().verdict or [NOTHING], leads=True)
    if report.points:
        yield Chart()
        date, cost, *others = TABLE.columns
        ranged = replace(cost, small=lambda row: cost_range(row.estimate, report.query.basis))
        table = replace(TABLE, columns=(replace(date, link=arithmetic), ranged, *others))
        yield Part("What happened", [Rows(table, report.points)])


CODE: Code[TrendReport] = Code(TrendSchema, trend_report, TrendDocument, TABLE, blocks, figure=over_time.figure)
