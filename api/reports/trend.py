"""`/trend`: what a training cost at past dates, what made it cheaper, and whether it was ever worth waiting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

from api.service import Service, query_of
from costcalc.answers import Estimate, PriceBasis
from costcalc.assumptions import in_words
from costcalc.catalogue.catalogue import Catalogue
from costcalc.money import money
from costcalc.offers import PurchaseOption
from costcalc.query import EstimateQuery

A_FALL = Decimal("0.9")
"""Of a year's first cost: a fall of a tenth is worth speaking of."""


@dataclass(frozen=True, slots=True)
class Point:
    """The cheapest pick at a date, its cost in the currency of the question and its hours on the calendar."""

    date: datetime
    cost: Decimal
    hours: float
    estimate: Estimate


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


@dataclass(frozen=True, slots=True)
class Drivers:
    """By how much the cost of today is that of the first point, as three factors: rates of the machines that were cheapest then,
    what recipes of today take on those, and what other machines cost with these. None where those are no longer rented."""

    prices: float | None
    chips: float | None
    recipes: float | None


@dataclass(frozen=True, slots=True)
class TrendDocument:
    """The JSON answer; `points` are a year apart, oldest first, and end at the date asked for."""

    query: EstimateQuery
    prices: PriceBasis
    points: tuple[Point, ...]
    drivers: Drivers
    verdict: tuple[str, ...]


@dataclass(frozen=True)
class TrendReport:
    """One question at many dates."""

    rest: ClassVar = None
    service: Service
    catalogue: Catalogue
    query: EstimateQuery

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"trend-{self.query.model}-{self.query.target:g}"

    @cached_property
    def _whole(self) -> TrendDocument:
        latest = self.service.answer(self.query, self.catalogue)
        points = tuple(self._points(latest.prices.as_of))
        drivers = self._drivers(points)
        return TrendDocument(self.query, latest.prices, points, drivers, tuple(verdict(points, drivers)))

    def document(self) -> TrendDocument:
        """The whole answer."""
        return self._whole

    def rows(self) -> tuple[TrendRow, ...]:
        """The points as rows."""
        return tuple(map(_row, self._whole.points))

    def _points(self, last: datetime) -> Iterator[Point]:
        first = self.catalogue.first_observed_at or last
        for years in range(last.year - first.year, -1, -1):
            day = last if years == 0 else _years_before(last, years)
            picks = self.service.answer(replace(self.query, as_of=day), self.catalogue).picks if day >= first else ()
            if picks:
                cheapest = picks[0].estimate
                cost = cheapest.cost(self.query.basis).cost
                yield Point(day, cost, cheapest.calendar_hours, cheapest)

    def _drivers(self, points: Sequence[Point]) -> Drivers:
        if len(points) < 2 or not points[0].cost:
            return Drivers(None, None, None)
        first, last = points[0], points[-1]
        then = first.estimate
        asked = replace(
            self.query,
            provider=(then.provider,),
            instance_type=(then.instance_type,),
            nodes=then.nodes,
            as_of=last.date,
            limit=1,
        )
        found = self.service.answer(asked, self.catalogue).estimates
        if not found:
            return Drivers(None, None, None)
        [still] = found
        prices = float(still.hourly_rate / then.hourly_rate)
        recipes = still.hours / then.hours
        return Drivers(prices, float(last.cost / first.cost) / prices / recipes, recipes)


def verdict(points: Sequence[Point], drivers: Drivers) -> Iterator[str]:
    """What it cost then and now, what made the difference, and how often a year's fall was followed by another."""
    if not points:
        return
    last, earlier = points[-1], {point.date: point for point in (*points[-2:-1], *points[:-1][:1])}
    then = "".join(
        f"; on {date:%Y-%m-%d} it cost {_money(one)} ({_what(one.estimate)})" for date, one in earlier.items()
    )
    yield f"A run costs {_money(last)} and takes {in_words(last.hours)} ({_what(last.estimate)}){then}."
    if drivers.prices is not None and drivers.chips is not None and drivers.recipes is not None:
        yield (
            f"Since {points[0].date:%Y-%m-%d}, rates multiply the cost by {drivers.prices:.2g}, recipes by {drivers.recipes:.2g} "
            f"and other machines by {drivers.chips:.2g}."
        )
    yield from _waiting(points)


def _waiting(points: Sequence[Point]) -> Iterator[str]:
    fell = [later.cost <= A_FALL * earlier.cost for earlier, later in pairwise(points)]
    if len(fell) < 3:
        return
    followed = [after for before, after in pairwise(fell) if before]
    again = f"a fall of a tenth in one year was followed by another in {sum(followed)} of {len(followed)} cases"
    years = f"In {sum(fell)} of {len(fell)} years it fell by a tenth or more; {again}."
    likely = fell[-1] and 2 * sum(followed) > len(followed)
    yield f"{years} {'Waiting a year may pay.' if likely else 'Nothing here says that waiting pays.'}"
    yield "Only rates that were seen and confirmed by each date count, so a gap in what was seen looks like a rise."


def _years_before(moment: datetime, years: int) -> datetime:
    day = 28 if (moment.month, moment.day) == (2, 29) else moment.day
    return moment.replace(year=moment.year - years, day=day)


def _what(each: Estimate) -> str:
    return f"{each.accelerators} {each.accelerator} at {each.provider}, {each.recipe}"


def _money(point: Point) -> str:
    return money(point.cost, point.estimate.currency)


def _row(point: Point) -> TrendRow:
    each = point.estimate
    return TrendRow(
        point.date,
        point.cost,
        each.currency,
        point.hours,
        each.provider,
        each.region,
        each.instance_type,
        each.nodes,
        each.accelerator,
        each.accelerators,
        each.recipe,
        each.hourly_rate,
    )


def trend_report(service: Service, catalogue: Catalogue, values: dict[str, Any]) -> TrendReport:
    """The report that parsed parameters of `/trend` ask for: of machines on demand unless the question says otherwise."""
    query = query_of(values, purchase=(PurchaseOption.ON_DEMAND,))
    return TrendReport(service, catalogue, query)
