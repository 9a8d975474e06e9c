"""Which candidates come first: the picks, the best others, and what is folded away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from msgspec import Struct

from costcalc.answers import Folded, Ranges, Rented
from costcalc.catalogue.catalogue import OPTIONS, Catalogue
from costcalc.costing.bills import Tariffs
from costcalc.costing.candidates import CENTS, Candidates, Listing, Order, in_cents
from costcalc.costing.rentals import EVERYTHING, Rentals, cost_ranges
from costcalc.costing.requirements import are_sure
from costcalc.costing.storage_and_egress import Market
from costcalc.duration.training_matrix import TrainingMatrix
from costcalc.duration.training_times import TrainingTimes
from costcalc.hardware import Accelerator
from costcalc.memory import Few
from costcalc.offer import PurchaseOption
from costcalc.picks import (
    A_WAIT,
    AS_NARROW,
    BALANCED_TO_START,
    CHEAP_HOUR,
    CONFIRMED,
    MOST_FOR_SURE,
    MOST_TO_START,
    MOVING,
    RECIPE,
    RUNS,
    SAFE,
    TOO_MUCH,
    PickName,
)
from costcalc.query import EstimateQuery
from costcalc.units import Floats, Indices, chance_above, stays_below

MOST_BEST, MOST_OF_FRONTIER = 10, 50
MOSTLY_WORTH = 2.0
"""The least worth is mostly at most so many times the least middle."""
Kind = tuple[int, ...]
"""An instance type, a way to buy, a number of machines and a recipe, by their codes."""
FEW = 2**12
"""Of so many it is faster to look at all than to find those that matter."""
MOST_LOOKED_AT = 50  # of the best, before all are: ten different ones are mostly among these


class Safe(NamedTuple):
    """What the share SAFE of runs stays below, in cost and in hours, of the candidates at these positions. One counts `dearer` so
    many times where runs exceed a limit: TOO_MUCH times more for each that does."""

    positions: Indices
    cost: Floats
    hours: Floats
    dearer: Floats

    def worth(self, hour_worth: float) -> Floats:
        """Cost + `hour_worth` x hours, in cents."""
        return in_cents((self.cost + hour_worth * self.hours) * self.dearer)


Starts = Callable[[Rented, Mapping[str, Accelerator]], bool]
"""Whether a machine starts a recipe as it is, by the data sheets of accelerators."""


class Starting(NamedTuple):
    """What tells whether a machine starts a recipe as it is, what it told of kinds of candidates, and the data sheets."""

    starts: Starts
    known: Few[Kind, bool]
    accelerators: Mapping[str, Accelerator]


class Choice(Struct, frozen=True, eq=False, dict=True):
    """The candidates of a question, and which are `starting` as they are, None where that is not asked. Positions are those of
    the candidates. An hour on the calendar is worth `hour_worth` in the question's currency."""

    query: EstimateQuery
    catalogue: Catalogue
    matrix: TrainingMatrix
    times: TrainingTimes
    candidates: Candidates
    market: Market
    as_of: datetime
    starting: Starting | None
    hour_worth: float

    @cached_property
    def picks(self) -> dict[PickName, int]:
        """The position of each pick.

        The cheapest has the least cost, the balanced the least cost + `hour_worth` x hours, both by what the share SAFE of runs
        stays below, so that what is little known pays for it; of those that are known to start. The
        fastest is the cheapest of those that end within the range of the one with the fewest hours. The surest has the narrowest
        range of cost and hours (a bill of whole hours hides how long it may take), and costs at most MOST_FOR_SURE times the
        least. Of equal ones the one that costs least is picked.
        """
        pickable = self._pickable
        if not len(pickable):
            return {}
        cost, hours = self.candidates.cost, self.candidates.calendar_hours
        some = self._near()
        cheapest = self._best_to_start(some, 0.0, MOST_TO_START)
        balanced = self._best_to_start(some, self.hour_worth, BALANCED_TO_START)
        both = np.array([cheapest, balanced])
        soon = pickable[hours[pickable] <= self._latest(self._least(pickable, hours[pickable]))]
        picks: dict[PickName, int] = {
            "cheapest": cheapest,
            "fastest": self._cheapest(soon),
            "balanced": self._least(both, some.worth(self.hour_worth)[some.positions.searchsorted(both)]),
        }
        is_sure = are_sure(self.matrix, self.times)[self.candidates.time[pickable]]
        sure = pickable[is_sure & (cost[pickable] <= MOST_FOR_SURE * cost[cheapest])]
        ranges = self._ranges(sure)
        costs = ranges.cost_low > 0
        if costs.any():
            of_cost = ranges.cost_high[costs] / ranges.cost_low[costs]
            width = np.maximum(of_cost, ranges.hours_high[costs] / ranges.hours_low[costs])
            as_narrow = sure[costs][width <= AS_NARROW * width.min()]
            picks["surest"] = self._cheapest(as_narrow)
        return picks

    @cached_property
    def named_first(self) -> PickName | None:
        """The pick to act on: the one asked for, if there is one of that name; the fastest if the question goes by time; else the
        cheapest, or the balanced if it saves more than A_WAIT at less than CHEAP_HOUR of `hour_worth` an hour, since nobody waits
        a day to save a dollar an hour (shares of commitments don't count)."""
        picks = self.picks
        if not picks or self.query.pick in picks:
            return self.query.pick if picks else None
        if self.query.sort == "time":
            return "fastest"
        cheapest, balanced = picks["cheapest"], picks["balanced"]
        cost, hours = self.candidates.cost, self.candidates.calendar_hours
        saved, more = hours[cheapest] - hours[balanced], cost[balanced] - cost[cheapest]
        is_cheap = self.query.basis == "billed" and saved > A_WAIT and more < CHEAP_HOUR * self.hour_worth * saved
        return "balanced" if is_cheap else "cheapest"

    def first_that(self, fits: Callable[[Rented], bool]) -> int | None:
        """The position of the best candidate that can be a pick and fits, by what the first-named pick was chosen by: hours,
        cost, or both. None if none fits."""
        positions = self._order("cost").sorted(self._pickable)
        if self.named_first == "fastest":
            figures = self.candidates.calendar_hours[positions]
        else:
            figures = self._safe(positions).worth(self.hour_worth if self.named_first == "balanced" else 0.0)
        known = Few[Kind, bool](len(positions) + 1, 0)
        return next(self._fitting(positions[np.argsort(figures, kind="stable")], fits, known), None)

    def _best_to_start(self, some: Safe, hour_worth: float, most: float) -> int:
        """The position of the one that is worth least, of those that start as they are and are worth at most `most` times the
        least; of all where there are none, and where the question is not about what one would rent now."""
        worth, query = some.worth(hour_worth), self.query
        near = (worth <= most * worth.min()).nonzero()[0]
        if self.starting and not (query.as_of or query.own or {*query.purchase} - {PurchaseOption.ON_DEMAND}):
            starting = some.positions.searchsorted([*self._fitting(some.positions[near], *self.starting)])
            near = starting if len(starting) else near
        return self._least(some.positions[near], worth[near])

    def _near(self) -> Safe:
        """All that can be the cheapest or the balanced, of those that picks may come from; by their middles, which are less than
        what they are worth, many are left out."""
        positions, times = self._pickable, MOSTLY_WORTH
        if len(positions) <= FEW:
            return self._safe(positions)
        cost = self.candidates.cost[positions]
        both = cost + self.hour_worth * self.candidates.calendar_hours[positions]
        least, least_of_both = CENTS * cost.min(), CENTS * both.min()
        while True:
            near = CENTS * cost <= times * MOST_TO_START * least
            near |= CENTS * both <= times * BALANCED_TO_START * least_of_both
            some = self._safe(positions[near])
            worth, worth_of_both = some.worth(0.0).min(), some.worth(self.hour_worth).min()
            if worth <= times * least and worth_of_both <= times * least_of_both:
                return some
            times = 1.01 * max(worth / least, worth_of_both / least_of_both)

    def _safe(self, positions: Indices) -> Safe:
        some, query, ranges = self.candidates, self.query, self._ranges(positions)
        costs = some.cost.take(positions), ranges.cost_high
        hours = some.calendar_hours.take(positions), ranges.hours_high
        dearer = np.ones(len(positions))
        for limit, (middle, high) in ((query.max_cost, costs), (query.max_hours, hours)):
            if limit is not None:
                beyond = [
                    chance_above(float(limit), *each) for each in zip(middle.tolist(), high.tolist(), strict=True)
                ]
                dearer *= 1 + TOO_MUCH * np.array(beyond)
        return Safe(positions, stays_below(*costs, SAFE), stays_below(*hours, SAFE), dearer)

    def _fitting(
        self, positions: Indices, fits: Callable[..., bool], known: Few[Kind, bool], *by: object
    ) -> Iterator[int]:
        """Those of these positions whose machine and recipe fit `by` these facts, each kind asked about once."""
        words, columns, some = self.catalogue.vocabulary, self.catalogue.columns, self.candidates
        row, time = some.row[positions], some.time[positions]
        nodes = self.matrix.nodes[self.times.cluster[time]]
        codes = columns.instance[row], columns.option[row], nodes, self.times.recipe[time]
        kinds = zip(*(code.tolist() for code in codes), strict=True)
        for position, kind in zip(positions.tolist(), kinds, strict=True):
            fitting = known.get(kind)
            if fitting is None:
                (provider, name, machine), recipe = words.instances[kind[0]], self.matrix.recipes.recipes[kind[3]].name
                machines = Rented(provider, name, machine.accelerator, kind[2], OPTIONS[kind[1]], recipe)
                fitting = known.recall(kind, fits, machines, *by)
            if fitting:
                yield int(position)

    def best(self) -> list[int]:
        """The picks and the best others in the question's order, at most MOST_BEST: one for each recipe on each number and kind
        of accelerators, and in each region if all are asked for."""
        chosen, seen = dict.fromkeys(self.picks.values()), set()
        for count in (MOST_LOOKED_AT, len(self.candidates.row)):
            positions = self._order(self.query.sort).first(self._pickable, count)
            for position, kind in zip(positions.tolist(), self._kinds(positions), strict=True):
                if kind not in seen:
                    seen.add(kind)
                    chosen[position] = None
                    if len(chosen) == MOST_BEST:
                        return list(chosen)
        return list(chosen)

    def _kinds(self, positions: Indices) -> Iterator[tuple[int, ...]]:
        """What candidates have in common that count as alike: recipe, shape and number of machines, and region if all are asked
        for."""
        row, time = self.candidates.row[positions], self.candidates.time[positions]
        columns = self.catalogue.columns
        shapes = self.catalogue.shape_of_instance[columns.instance[row]]
        region = columns.region[row] * (self.query.regions == "all")
        nodes = self.matrix.nodes[self.times.cluster[time]]
        return zip(*(each.tolist() for each in (self.times.recipe[time], shapes, nodes, region)), strict=True)

    def ranges(self, positions: Indices) -> Ranges:
        """The ranges of the candidates at these positions."""
        some, times = self.candidates, self.times
        row, time, calendar = some.row.take(positions), some.time.take(positions), some.calendar_hours.take(positions)
        low, high = times.hours_low.take(time), times.hours_high.take(time)
        hours = times.train_hours.take(time) + times.overhead_hours.take(time)
        tariffs = Tariffs.of(self.catalogue.columns, row, self.matrix.nodes.take(times.cluster.take(time)))
        waits = calendar > hours
        rented = Rentals(row, EVERYTHING, time, hours, calendar, waits, tariffs)
        ends = cost_ranges(self.catalogue, self.query, rented, (low, high), self.market, self.as_of)
        return Ranges(np.where(waits, calendar, low), np.where(waits, calendar, high), *ends)

    def _ranges(self, positions: Indices) -> Ranges:
        """The same of some that picks may come from: of all of these at once, where they are few."""
        if len(self._pickable) > FEW:
            return self.ranges(positions)
        at = self._pickable.searchsorted(positions)
        return Ranges._make([column.take(at) for column in self._of_pickable])

    @cached_property
    def _of_pickable(self) -> Ranges:
        return self.ranges(self._pickable)

    def frontier(self) -> list[int]:
        """The positions of the frontier's candidates, at most MOST_OF_FRONTIER, the cheapest first."""
        on_frontier = self.candidates.on_frontier.nonzero()[0]
        positions: list[int] = self._order("cost").first(on_frontier, MOST_OF_FRONTIER).tolist()
        return positions

    def cheapest_unconfirmed(self) -> list[int]:
        """The position of the cheapest candidate without a confirmed rate; empty if there is none."""
        positions = (~self.candidates.confirmed).nonzero()[0]
        return [self._cheapest(positions)] if len(positions) else []

    def listing(self, every: int) -> Listing:
        """All candidates in the order in which they are shown, of which so many can be picked."""
        return Listing.of(self._order(self.query.sort), self.picks.values(), self.candidates.pickable, every)

    @cached_property
    def _pickable(self) -> Indices:
        """The positions that picks may come from."""
        return self.candidates.pickable.nonzero()[0]

    def _cheapest(self, positions: Indices) -> int:
        """The first of these positions by cost."""
        return int(self._order("cost").first(positions, 1)[0])

    def _least(self, positions: Indices, figures: Floats) -> int:
        """The position with the smallest figure."""
        least = positions[figures == figures.min()]
        return int(least[0]) if len(least) == 1 else self._cheapest(least)

    def _latest(self, position: int) -> float:
        """The high end of the range of a candidate's calendar hours."""
        time, calendar = self.candidates.time[position], float(self.candidates.calendar_hours[position])
        waits = calendar > self.times.train_hours[time] + self.times.overhead_hours[time]
        return calendar if waits else float(self.times.hours_high[time])

    def _order(self, by: Literal["cost", "time"]) -> Order:
        return self._by_cost if by == "cost" else self._by_cost.by_time()

    @cached_property
    def _by_cost(self) -> Order:
        return self.candidates.order("cost", self.catalogue)


def folded(by_marks: Sequence[int], needed: int) -> Folded:
    """How many cannot be picks for want of the `needed` marks, each counted once, of so many with each combination of marks."""
    counted = [0] * len(Folded.__struct_fields__)
    for marks, number in enumerate(by_marks):
        if number and marks & needed != needed:
            lacks = (not marks & CONFIRMED, not marks & RECIPE, not marks & RUNS, bool(marks & MOVING), True)
            counted[lacks.index(True)] += number
    return Folded(*counted)
