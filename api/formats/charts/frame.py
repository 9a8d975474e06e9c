"""What pictures share: logarithmic axes and those of dates with their ticks, colours of providers and shapes of purchases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from math import ceil, floor, log10

import numpy as np

from api.formats.charts.figure import Scale, Tick
from api.reports.glance import Point, Points
from costcalc.answers import Answer
from costcalc.money import SIGNS
from costcalc.units import Flags, Floats

MINUTE, DAY = 1 / 60, 24
TIMES = tuple(
    (number * unit, f"{number} {name}")
    for name, unit, numbers in (
        ("min", MINUTE, (1, 2, 5, 10, 30)),
        ("h", 1, (1, 2, 5, 10)),
        ("d", DAY, (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)),
    )
    for number in numbers
)
THOUSANDS = ((1e12, "T"), (1e9, "bn"), (1e6, "M"), (1e3, "k"), (1, ""))
FEW_DECADES = 3
FAR_ABOVE = 20
"""How many times the balanced pick costs what the chart still shows."""
MARGIN = 0.03
MONTHS, MOST_TICKS = (1, 2, 3, 6, 12, 24), 8

COLOURED = ("aws", "gcp", "azure")
MOST_COLOURS = 6
REST = "others"
SHAPES = {
    "on_demand": "circle",
    "spot": "triangle-up",
    "reserved": "square",
    "savings_plan": "square",
    "committed_use": "square",
    "capacity_block": "diamond",
    "monthly": "cross",
    "owned": "triangle-down",
    "free": "stroke",
}


@dataclass(frozen=True, slots=True)
class Axis:
    """A logarithmic axis from its low to its high end; values beyond are shown at the ends."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Sequence[float] | Floats) -> Axis:
        """The axis that holds these values with a little room."""
        every = np.asarray(values, float)
        positive = every[every > 0] if (every > 0).any() else np.ones(1)
        low, high = log10(positive.min()), log10(positive.max())
        room = max((high - low) * MARGIN, 0.05)
        return cls(10 ** (low - room), 10 ** (high + room))

    def at(self, value: float) -> float:
        """The place of a value, from 0 at the low end to 1 at the high end."""
        return float(self.places(np.array([value]))[0])

    def places(self, values: Floats) -> Floats:
        low, high = np.log10((self.low, self.high))
        return np.asarray((np.log10(np.clip(values, self.low, self.high)) - low) / (high - low))

    def times(self) -> list[Tick]:
        """Ticks for hours, written as minutes, hours and days."""
        return [Tick(hours, label) for hours, label in TIMES if self.low <= hours <= self.high]

    def amounts(self, currency: str) -> list[Tick]:
        """Ticks for money: powers of ten, with twice and five times them between few."""
        steps = (1, 2, 5) if log10(self.high / self.low) < FEW_DECADES else (1,)
        exponents = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        values = [step * 10.0**exponent for exponent in exponents for step in steps]
        return [Tick(value, short(value, currency)) for value in values if self.low <= value <= self.high]


def short(value: float, currency: str) -> str:
    """An amount in few signs: `$20k`."""
    unit, name = next(((unit, name) for unit, name in THOUSANDS if value >= unit), THOUSANDS[-1])
    number = f"{value / unit:.2f}" if value < 1 else f"{value / unit:g}"
    sign = SIGNS.get(currency)
    return f"{sign}{number}{name}" if sign else f"{number}{name} {currency}"


@dataclass(frozen=True, slots=True)
class Frame:
    """The axes of a picture, and the providers that have a colour of their own in it."""

    hours: Axis
    cost: Axis
    providers: tuple[str, ...]

    @classmethod
    def of(cls, points: Points, shown: Flags, chosen: Sequence[Point], waiting: Iterable[float] = ()) -> Frame:
        """The frame of the points that are shown, and of free tiers that take so many hours. The providers of what one may choose
        have the colours."""
        costs = [cost for point in chosen for cost in (point.cost_low, point.cost_high)]
        hours = np.concatenate([points.figures.hours[shown], np.fromiter(waiting, float)])
        providers = Counter(point.provider for point in chosen)
        return cls(Axis.around(hours), Axis.around([*points.figures.cost[shown].tolist(), *costs]), coloured(providers))

    def colour(self, provider: str) -> int:
        return self.providers.index(provider) if provider in self.providers else MOST_COLOURS

    def name(self, provider: str) -> str:
        return provider if provider in self.providers else REST


def most_shown(answer: Answer) -> float:
    """The cost at which the chart ends: FAR_ABOVE times the balanced pick, and no pick lies beyond."""
    costs = {pick.name: float(pick.estimate.cost(answer.query.basis).cost) for pick in answer.picks}
    return max(FAR_ABOVE * costs.get("balanced", 0.0), max(costs.values(), default=0.0)) or float("inf")


def coloured(counted: Mapping[str, int]) -> tuple[str, ...]:
    """The providers with a colour: always the same for the three largest, and those of most estimates beside them."""
    others = [name for name, _ in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])) if name not in COLOURED]
    return (*COLOURED, *others[: MOST_COLOURS - len(COLOURED)])


def days(moment: datetime | date) -> float:
    """A moment as a number of days, for an axis."""
    return float(moment.toordinal())


def months(scale: Scale) -> Sequence[Tick]:
    """First days of months, as far apart as needed."""
    return next((ticks for step in MONTHS if len(ticks := list(_months(scale, step))) <= MOST_TICKS), [])


def _months(scale: Scale, step: int) -> Iterator[Tick]:
    first, last = (date.fromordinal(int(end)) for end in (scale.low, scale.high))
    for number in range(first.year * 12, last.year * 12 + 12, step):
        day = date(number // 12, number % 12 + 1, 1)
        if scale.low <= day.toordinal() <= scale.high:
            yield Tick(float(day.toordinal()), f"{day:%Y-%m}")
