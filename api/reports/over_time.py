"""What a training cost at several dates: what changed between them, what made it cheaper, and whether waiting ever paid."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import replace as dataclass_replace
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Generic, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from api.budget import Spent
from api.reports.paging import OfQuery
from api.reports.verdict import in_short
from api.service import Service
from costcalc.answers import Answer, Estimate
from costcalc.memory import Memory
from costcalc.money import cents, money
from costcalc.parameters import Part
from costcalc.units import in_words

Change = Literal["recipes", "chips", "prices", "speeds"]
PASSING_BYTES = 16 * 2**20
"""For what answers at past dates share."""
POINT_BYTES = 10_000
MOST_COUNTS = 100
"""Estimates of one type of machine, for each number of them: asking about one number shares nothing with what is known."""
A_FALL = Decimal("0.9")
"""A fall to this share of a year's first cost is worth speaking of."""
MANY: tuple[Part, ...] = ("own", "owned", "order", "pick", "page")
"""What such questions do not ask: each date has one estimate, the cheapest pick."""


class Point(Struct, frozen=True):
    """The cheapest pick at a date, its cost in the currency of the question and its hours on the calendar; which change since the
    point before made it another one, and that in words."""

    date: datetime
    cost: Decimal
    hours: float
    estimate: Estimate
    change: Change | None = None
    happened: str = ""

    @classmethod
    def of(cls, date: datetime, answer: Answer) -> Point | None:
        """The point of what an answer picks first; None where it picks nothing."""
        if estimate := answer.picked.get("cheapest"):
            return cls(date, estimate.cost(answer.query.basis).cost, estimate.calendar_hours, estimate)
        return None


@dataclass(frozen=True, slots=True)
class Drivers:
    """By how much the cost of today is that of the first point, as three factors: rates of the machines that were cheapest then,
    what recipes of today take on those, and what other machines cost with these. None where those are no longer rented, or to
    ask would take too long."""

    prices: float | None
    chips: float | None
    recipes: float | None


UNKNOWN = Drivers(None, None, None)


def at_past_dates(service: Service) -> Service:
    """The service with a memory of its own, so that answers at past dates push out nothing that answers of today share."""
    return service.changed(memory=Memory(PASSING_BYTES))


D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class Written(Generic[D]):
    """The JSON answer, and the points that it tells of, oldest first."""

    document: D
    points: tuple[Point, ...]

    @property
    def about_bytes(self) -> int:
        """The memory that both take, approximately."""
        return POINT_BYTES * (len(self.points) + 1)


@dataclass(frozen=True)
class OverTime(OfQuery, Generic[D]):
    """One question on several dates, a year, a month or a round apart; answered once a day while prices and runs stay."""

    drawn: ClassVar[tuple[str, str]]
    every: str

    @abstractmethod
    def written(self) -> Written[D]:
        """Asks on every date."""

    @cached_property
    def _answer(self) -> Written[D]:
        day, state = self.service.clock().date(), self.service.state(self.catalogue.snapshot)
        shelf = self.service.memory.shelf(self.query.model in self.service.own)
        return shelf.recall((type(self), state, day, self.query, self.every), self.written)

    def document(self) -> D:
        return self._answer.document

    @property
    def points(self) -> tuple[Point, ...]:
        return self._answer.points

    @cached_property
    def earlier(self) -> OverTime[D]:
        """The same question, with a memory for what answers at past dates share."""
        return dataclass_replace(self, service=at_past_dates(self.service))

    def compared(self, points: Iterable[Point | None]) -> tuple[tuple[Point, ...], Drivers]:
        """The points that there are with what changed at each, and what made the last one's cost of the first one's."""
        told = tuple(with_changes(filter(None, points)))
        try:
            return told, self._drivers(told)
        except Spent:
            return told, UNKNOWN

    def _drivers(self, points: Sequence[Point]) -> Drivers:
        if len(points) < 2 or not points[0].cost:
            return UNKNOWN
        first, last = points[0], points[-1]
        then, still = first.estimate, self.still_rented(first.estimate, as_of=last.date)
        if still is None:
            return UNKNOWN
        prices, recipes = float(still.hourly_rate / then.hourly_rate), still.hours / then.hours
        return Drivers(prices, float(last.cost / first.cost) / prices / recipes, recipes)

    def still_rented(self, then: Estimate, **changes: Any) -> Estimate | None:
        """The same training on the machine of an earlier estimate; None where that is no longer rented."""
        machine = {"provider": (then.provider,), "instance_type": (then.instance_type,), "limit": MOST_COUNTS}
        alike = self.ask(**machine, **changes).estimates
        return next((estimate for estimate in alike if estimate.nodes == then.nodes), None)


def with_changes(points: Iterable[Point]) -> Iterator[Point]:
    """Points with what made each another one than the point before."""
    before: Point | None = None
    for point in points:
        change, happened = changed(before.estimate, point.estimate) if before else (None, "")
        before = replace(point, change=change, happened=happened)
        yield before


def verdict(points: Sequence[Point], drivers: Drivers) -> Iterator[str]:
    """What it cost then and now, what made the difference, and how often a year's fall was followed by another."""
    if not points:
        return
    first, *_, last = (points[0], *points)
    goal = "" if last.estimate.target is None else f" to {last.estimate.target:g}"
    training = f"Training {last.estimate.model}{goal}"
    now = f"{_money(last)} in {last.date:%B %Y}"
    if len(points) == 1:
        yield f"{training} costs {now}. That is {_what(last.estimate)}, {in_words(last.hours)}."
        return
    yield f"{training} cost {_money(first)} in {first.date:%B %Y} and {now}."
    yield f"Then {_what(first.estimate)}, {in_words(first.hours)}; now {_what(last.estimate)}, {in_words(last.hours)}."
    for point in [point for point in points[1:-1] if point.date.month == last.date.month][-1:]:
        yield f"A year earlier it cost {_money(point)} ({_what(point.estimate)})."
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


def _what(each: Estimate) -> str:
    return f"{in_short(each)}, {each.recipe}"


def _money(point: Point) -> str:
    return money(point.cost, point.estimate.currency)
