"""Candidates: the rentals within the limits of the question, their order, and the list that is shown of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from costcalc.catalogue.catalogue import Catalogue
from costcalc.catalogue.columns import Int8
from costcalc.costing.rentals import Rentals
from costcalc.duration.overheads import ENDLESS_HOURS
from costcalc.picks import CONFIRMED
from costcalc.query import EstimateQuery
from costcalc.units import Flags, Floats, Indices

MOST_FREE = 3
CENTS = 100
HALF_UP = 0.5 + 1e-6
COARSE = 64  # one in so many is looked at first, for a bound on what the first few cost


def in_cents(cost: Floats) -> Floats:
    """Costs in whole cents, rounded as bills are: halves up, those included that binary fractions miss by a hair."""
    return np.floor(cost * CENTS + HALF_UP)


class Order(NamedTuple):
    """What sorts candidates: cost as it is printed, then time, or the other way round; of equal ones those come first that the
    provider said to be free. Further ties go by the offer's name, in whose order the catalogue's rows are, and the recipe's. The
    `scarcity` is that of the catalogue's rows, the others are columns of the candidates."""

    primary: Floats
    secondary: Floats
    scarcity: NDArray[np.int8]
    row: Indices
    time: Indices

    def by_time(self) -> Order:
        """The order of the same candidates in which time goes before cost, or cost before time."""
        return self._replace(primary=self.secondary, secondary=self.primary)

    def sorted(self, positions: Indices) -> Indices:
        """These rising positions, in this order."""
        row = self.row[positions]
        keys = self.time[positions], row, self.scarcity[row], self.secondary[positions], self.primary[positions]
        return positions[np.lexsort(keys)]

    def first(self, positions: Indices, count: int) -> Indices:
        """The first `count` of these positions, which rise, in order."""
        if not count:
            return positions[:0]
        for every in (COARSE, 1):  # the first of all cost no more than the first of some
            primary = self.primary.take(positions)
            some = primary[::every]
            if count < len(some):
                positions = positions[primary <= np.partition(some, count - 1)[count - 1]]
        return self.sorted(positions)[:count]

    def before(self, positions: Indices, position: int) -> int:
        """How many of these positions, which rise, come before one of them."""
        primary, limit = self.primary.take(positions), self.primary[position]
        tied = self.sorted(positions[primary == limit])
        return int(np.count_nonzero(primary < limit)) + int((tied == position).nonzero()[0][0])


class Listing(Struct, frozen=True):
    """The candidates of a question: its `picks` in their order, then two `tiers` of rising positions, each by the question's
    order: what else picks may come from, and what may not be picked. `starts` says how many estimates stand before each tier,
    made or not."""

    order: Order
    picks: Sequence[int]
    tiers: tuple[Indices, Indices]
    starts: tuple[int, int]

    @classmethod
    def of(cls, order: Order, picks: Iterable[int], pickable: Flags, every: int) -> Listing:
        """The listing of candidates of which these are picked, each shown once, and these flagged ones could be; `every` says how
        many could."""
        named, others = list(dict.fromkeys(picks)), pickable.copy()
        others[named] = False
        return cls(order, named, (others.nonzero()[0], (~pickable).nonzero()[0]), (len(named), every))

    def page(self, offset: int, limit: int) -> list[int]:
        """The positions of one page after the first `offset`."""
        end = offset + limit
        shown = list(self.picks[offset:end])
        for start, tier in zip(self.starts, self.tiers, strict=True):
            shown += self.order.first(tier, max(end - start, 0))[max(offset - start, 0) :].tolist()
        return shown

    def all(self, pickable: bool = False) -> Indices:
        """The positions of all, or of those alone that picks may come from, in order."""
        tiers = self.tiers[:1] if pickable else self.tiers
        return np.concatenate((np.array(self.picks, np.int64), *map(self.order.sorted, tiers)))

    def rank(self, position: int) -> int:
        """Where a candidate stands, counted from 1: among all that are made, where not all are."""
        if position in self.picks:
            return self.picks.index(position) + 1
        tier = next(tier for tier in self.tiers if position in tier)
        return self.start(position) + self.order.before(tier, position) + 1

    def start(self, position: int) -> int:
        """How many estimates stand before the tier of a candidate, the picks being a tier of their own."""
        if position in self.picks:
            return 0
        return next(start for start, tier in zip(self.starts, self.tiers, strict=True) if position in tier)

    def rank_behind(self, position: int, many: int) -> int:
        """The rank of a candidate that so many others precede of those that picks may come from, or of the rest."""
        if position in self.tiers[1]:
            return self.starts[1] + many + 1
        before = self.order.before(np.sort([*self.picks, position]), position)
        return self.starts[0] + many - before + 1


class Candidates(NamedTuple):
    """Rentals within the limits of the question, with their cost in the requested currency; time is that of the calendar.

    `runs_here` says whether public code of the recipe runs on the machine, `marks` have what picks need (`costcalc.picks`).
    Flags: `pickable` those that picks may come from, `on_frontier` those of these that no other beats on both cost, as it is
    printed, and time.
    """

    row: Indices
    time: Indices
    calendar_hours: Floats
    cost: Floats
    runs_here: Int8
    marks: Int8
    pickable: Flags
    on_frontier: Flags

    @classmethod
    def of(
        cls, rented: Rentals, cost: Floats, runs_here: Int8, of_times: Int8, marks: Int8, which: Indices
    ) -> Candidates:
        """These rentals as candidates. `runs_here` and the marks `of_times` are said of training times, `marks` of allowed
        offers; of none it is known yet how good it is."""
        time, none = rented.time.take(which), np.zeros(len(which), bool)
        known = of_times.take(time) | marks[rented.entry].take(which)
        figures = rented.calendar_hours.take(which), cost.take(which)
        return cls(rented.row.take(which), time, *figures, runs_here.take(time), known, none, none)

    @property
    def confirmed(self) -> Flags:
        """Which have a confirmed rate."""
        return (self.marks & CONFIRMED) > 0

    @property
    def cents(self) -> Floats:
        """The costs as they are printed."""
        return in_cents(self.cost)

    def take(self, which: Flags | Indices) -> Candidates:
        """Only these entries."""
        positions = which.nonzero()[0] if which.dtype == bool else which
        return Candidates._make([column.take(positions) for column in self])

    def followed_by(self, others: Candidates) -> Candidates:
        """These and others behind them."""
        columns: Iterator[tuple[NDArray[Any], NDArray[Any]]] = zip(self, others, strict=True)
        return Candidates._make(map(np.concatenate, columns))

    def order(self, by: Literal["cost", "time"], catalogue: Catalogue) -> Order:
        keys = self.cents, self.calendar_hours
        return Order(*(keys if by == "cost" else keys[::-1]), catalogue.scarcity, self.row, self.time)


def within_limits(query: EstimateQuery, rented: Rentals, cost: Floats) -> tuple[Indices, Indices, dict[str, int]]:
    """The positions of the rentals that end, within `max_hours` and `max_cost`; apart, those of the free tiers that stand beside
    them. Of the others those beyond a limit are counted by the first they break."""
    passing, beside, rejections = ~rented.beside, rented.beside, {}
    for reason, within in _limits(query, rented, cost):
        if not within.all():
            rejections[reason] = int(np.count_nonzero(passing & ~within))
            passing, beside = passing & within, beside & within
    return passing.nonzero()[0], beside.nonzero()[0], rejections


def with_frontier(candidates: Candidates, needed: int) -> Candidates:
    """The candidates, those with the `needed` marks as pickable, with the frontier among these."""
    candidates = candidates._replace(pickable=(candidates.marks & needed) == needed)
    among, unbeaten = candidates.pickable.nonzero()[0], np.zeros(len(candidates.row), bool)
    unbeaten[among] = frontier(candidates.cents[among], candidates.calendar_hours[among])
    return candidates._replace(on_frontier=unbeaten)


def _limits(query: EstimateQuery, rented: Rentals, cost: Floats) -> Iterator[tuple[str, Flags]]:
    """By rejection reason, which rentals stay within that limit."""
    yield "interrupted_too_often", rented.hours < ENDLESS_HOURS
    yield "no_exchange_rate", ~np.isnan(cost)
    yield "over_max_hours", rented.calendar_hours <= (np.inf if query.max_hours is None else query.max_hours)
    if query.max_cost is not None:
        yield "over_max_cost", cost <= float(query.max_cost)


def free_tiers(free: Candidates, catalogue: Catalogue) -> Indices:
    """Of each free tier the run that ends first on the calendar, at most three of them, in that order."""
    first_of: dict[int, int] = {}
    for position in free.order("time", catalogue).sorted(np.arange(len(free.row))).tolist():
        first_of.setdefault(int(free.row[position]), position)
    return np.array([*first_of.values()][:MOST_FREE], np.int64)


def frontier(cost: Floats, hours: Floats) -> Flags:
    """Which points no other beats: none is as good on both cost and time and better on one."""
    flags = np.zeros(len(cost), bool)
    if not len(cost):
        return flags
    one = np.argmin(cost * hours)  # what is worse on both is left out at once: few are left to sort
    near = ((cost <= cost[one]) | (hours <= hours[one])).nonzero()[0]
    order = near[np.lexsort((cost[near], hours[near]))]
    sorted_cost, sorted_hours = cost[order], hours[order]
    cheapest_before = np.concatenate(([np.inf], np.minimum.accumulate(sorted_cost)[:-1]))
    unbeaten = sorted_cost < cheapest_before
    same = (sorted_hours[1:] == sorted_hours[:-1]) & (sorted_cost[1:] == sorted_cost[:-1])
    for position in same.nonzero()[0]:
        unbeaten[position + 1] = unbeaten[position]
    flags[order] = unbeaten
    return flags
