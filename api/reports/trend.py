"""`/trend`: what a training cost at past dates, what made it cheaper, and whether it was ever worth waiting."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, Literal

from msgspec import Struct
from msgspec.structs import replace

from api.questions.fields import LAST_SECOND, Choice
from api.questions.schemas.training import COST_LAYOUT, OWNED_BY, TrainingSchema
from api.questions.values import Values
from api.reports.paging import OfQuery
from api.service import Service, query_of
from costcalc.answers import Estimate, PriceBasis
from costcalc.catalogue.catalogue import Catalogue
from costcalc.fields import filled
from costcalc.hardware import counted
from costcalc.memory import Memory
from costcalc.money import cents, money
from costcalc.offers import PurchaseOption
from costcalc.query import EstimateQuery
from costcalc.units import in_words
from pricing.packaged.providers import provider

MONTHS = {"year": 12, "quarter": 3, "month": 1}
Change = Literal["recipes", "chips", "prices", "speeds"]
PASSING_BYTES = 16 * 2**20
"""For what answers at past dates share: kept apart, so that it pushes out nothing that answers of today share."""
POINT_BYTES = 10_000
MOST_COUNTS = 100
"""Estimates of one type of machine, for each number of them: asking about one number shares nothing with what is known."""
A_FALL = Decimal("0.9")
"""Of a year's first cost: a fall of a tenth is worth speaking of."""


STEPS = ("year", "quarter", "month")


class TrendSchema(TrainingSchema):
    """The parameters of `/trend`."""

    every = Choice(STEPS, "how far apart the dates are; default year", example="quarter")

    class Meta:
        """Each point has one estimate, the cheapest pick of its date."""

        exclude: tuple[str, ...] = (
            *COST_LAYOUT, *OWNED_BY, "limit", "offset", "sort", "pick", "frontier", "recipes", "regions", "own"
        )  # fmt: skip


class Point(Struct, frozen=True):
    """The cheapest pick at a date, its cost in the currency of the question and its hours on the calendar; which change since the
    point before made it another one, and that in words."""

    date: datetime
    cost: Decimal
    hours: float
    estimate: Estimate
    change: Change | None = None
    happened: str = ""


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
class Drivers:
    """By how much the cost of today is that of the first point, as three factors: rates of the machines that were cheapest then,
    what recipes of today take on those, and what other machines cost with these. None where those are no longer rented."""

    prices: float | None
    chips: float | None
    recipes: float | None


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
        passing = self.service.changed(memory=Memory(PASSING_BYTES))
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


def with_changes(points: Iterable[Point]) -> Iterator[Point]:
    """Points with what made each another one than the point before."""
    before: Point | None = None
    for point in points:
        change, happened = changed(before.estimate, point.estimate) if before else (None, "")
        before = replace(point, change=change, happened=happened)
        yield before


def drivers_of(service: Service, catalogue: Catalogue, query: EstimateQuery, points: Sequence[Point]) -> Drivers:
    """What made the last point's cost of the first one's, oldest first."""
    if len(points) < 2 or not points[0].cost:
        return Drivers(None, None, None)
    first, last = points[0], points[-1]
    then, still = first.estimate, still_rented(service, catalogue, replace(query, as_of=last.date), first.estimate)
    if still is None:
        return Drivers(None, None, None)
    prices, recipes = float(still.hourly_rate / then.hourly_rate), still.hours / then.hours
    return Drivers(prices, float(last.cost / first.cost) / prices / recipes, recipes)


def still_rented(service: Service, catalogue: Catalogue, query: EstimateQuery, then: Estimate) -> Estimate | None:
    """The same training on the machine of an earlier estimate; None where that is no longer rented."""
    machine = replace(query, provider=(then.provider,), instance_type=(then.instance_type,), limit=MOST_COUNTS)
    return next((one for one in service.answer(machine, catalogue).estimates if one.nodes == then.nodes), None)


def verdict(points: Sequence[Point], drivers: Drivers) -> Iterator[str]:
    """What it cost then and now, what made the difference, and how often a year's fall was followed by another."""
    if not points:
        return
    first, *_, last = (points[0], *points)
    training = f"Training {last.estimate.model} to {last.estimate.target:g}"
    now = f"{_money(last)} in {last.date:%B %Y}"
    if len(points) == 1:
        yield f"{training} costs {now}. That is {_what(last.estimate)}, {in_words(last.hours)}."
        return
    yield f"{training} cost {_money(first)} in {first.date:%B %Y} and {now}."
    yield f"Then {_what(first.estimate)}, {in_words(first.hours)}; now {_what(last.estimate)}, {in_words(last.hours)}."
    for one in [point for point in points[1:-1] if point.date.month == last.date.month][-1:]:
        yield f"A year earlier it cost {_money(one)} ({_what(one.estimate)})."
    why = "; ".join(_driven(drivers))
    if why:
        yield f"{why[0].upper()}{why[1:]}."
    yield from _waiting(points)


def _driven(drivers: Drivers) -> Iterator[str]:
    """What made it cheaper or dearer by a twentieth or more."""
    factors = {
        "another recipe": drivers.recipes,
        "another machine": drivers.chips,
        "the first machine's new rate": drivers.prices,
    }
    for name, factor in factors.items():
        if factor and not 0.95 < factor < 1.05:
            by = f"{1 / factor:.2g} times cheaper" if factor < 1 else f"{factor:.2g} times dearer"
            yield f"{name} made it {by}"


def _waiting(points: Sequence[Point]) -> Iterator[str]:
    years = [point for point in points if point.date.month == points[-1].date.month]
    fell = [later.cost <= A_FALL * earlier.cost for earlier, later in pairwise(years)]
    if len(fell) < 3:
        return
    followed = [after for before, after in pairwise(fell) if before]
    again = f", and in {sum(followed) or 'none'} of the {len(followed)} years after such a fall" if followed else ""
    counted = f"It fell by a tenth or more in {sum(fell)} of {len(fell)} years{again}."
    likely = fell[-1] and 2 * sum(followed) > len(followed)
    yield f"{counted} {'Waiting a year may pay.' if likely else 'Nothing here suggests that waiting pays.'}"
    yield "Only rates confirmed by each date count, so a gap in the observations looks like a rise."


def changed(before: Estimate, after: Estimate) -> tuple[Change | None, str]:
    """What made another estimate the cheapest, or the same one cost another amount; nothing where both are alike."""
    recipe = f"{after.recipe} instead of {before.recipe}" if after.recipe != before.recipe else ""
    if _machine(after) != _machine(before):
        return "chips", "; ".join(filter(None, [f"{_machine(after)} instead of {_machine(before)}", recipe]))
    if recipe:
        return "recipes", recipe
    if after.hourly_rate != before.hourly_rate:
        return "prices", f"{_hourly(after)} an hour instead of {_hourly(before)}"
    if round(after.hours, 2) != round(before.hours, 2):
        now, then = in_words(after.hours), in_words(before.hours)
        return "speeds", f"{now} instead of {then}, from newer measurements" if now != then else "newer measurements"
    return None, ""


def _machine(each: Estimate) -> str:
    nodes = f"{each.nodes} x " if each.nodes > 1 else ""
    return f"{each.accelerators} {each.accelerator} at {each.provider} ({nodes}{each.instance_type})"


def _hourly(each: Estimate) -> str:
    return money(cents(each.hourly_rate), each.currency)


def _months_before(moment: datetime, months: int) -> datetime:
    """The end of the same day so many months earlier, or of the month's last day; the moment itself before no month."""
    if not months:
        return moment
    year, month = divmod(moment.year * 12 + moment.month - 1 - months, 12)
    day = min(moment.day, monthrange(year, month + 1)[1])
    return datetime.combine(moment.replace(year=year, month=month + 1, day=day).date(), LAST_SECOND)


def _what(each: Estimate) -> str:
    return f"{counted(each.accelerators, each.accelerator)} at {provider(each.provider).name}, {each.recipe}"


def _money(point: Point) -> str:
    return money(point.cost, point.estimate.currency)


def trend_report(service: Service, catalogue: Catalogue, values: Values) -> TrendReport:
    """The report that parsed parameters of `/trend` ask for: of machines on demand unless the question says otherwise."""
    every = values.get("every", "year")
    asked = {name: value for name, value in values.items() if name != "every"}
    query = query_of(asked, purchase=(PurchaseOption.ON_DEMAND,))
    return TrendReport(service, catalogue, query, every)
