"""Which of millions of runs are worth making: all are costed in pieces, and a few are kept.

A question about every recipe in every region has as many pairs of an offer and a training time as both have together. Offers that
bill alike on one cluster share the hours of every recipe, so that their costs are one grid.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple
from weakref import ref

import numpy as np
from msgspec import Struct

from costcalc.catalogue.catalogue import Catalogue
from costcalc.catalogue.columns import Int8
from costcalc.costing.candidates import Candidates, in_cents, within_limits
from costcalc.costing.kept import Block, Kept
from costcalc.costing.rentals import (
    FREE,
    SPOT,
    TOGETHER,
    AllowedOffers,
    Pairs,
    Risks,
    costs,
    price_factors,
    rentals,
    storage_and_egress,
)
from costcalc.costing.requirements import are_sure
from costcalc.costing.storage_and_egress import Market, requested
from costcalc.duration.overheads import ENDLESS_HOURS
from costcalc.duration.running import YES
from costcalc.duration.training_matrix import TrainingMatrix
from costcalc.duration.training_times import TrainingTimes, interrupted, repeated
from costcalc.picks import HOUR_WORTH, MARKS, OF_TIMES, RECIPE, RUNS, Needed, needed
from costcalc.query import EstimateQuery, reset
from costcalc.units import Flags, Floats, Indices

MOST_PAIRS = 2**18
"""Pairs up to which all are made: more take too much memory."""
BY_TERMS = ("increment_seconds", "minimum_seconds", "period_hours", "minimum_periods", "sold_singly")
STEADY = -1


class Totals(NamedTuple):
    """How many candidates there are by their marks, how many are of each of these rows of the catalogue, and how many runs are
    beyond the question's limits, by reason."""

    by_marks: Indices
    rows: Indices
    of_row: Indices
    rejections: Mapping[str, int]

    @classmethod
    def of(cls, candidates: Candidates, rejections: Mapping[str, int]) -> Totals:
        """Those of some candidates."""
        by_marks = np.bincount(candidates.marks, minlength=MARKS)
        return cls(by_marks, candidates.row, np.ones_like(candidates.row), rejections)

    def plus(self, others: Totals) -> Totals:
        """Both together."""
        rows, of_row = (np.append(*both) for both in ((self.rows, others.rows), (self.of_row, others.of_row)))
        rejections = Counter(self.rejections) + Counter(others.rejections)
        return Totals(self.by_marks + others.by_marks, rows, of_row, rejections)

    def marked(self, marks: int) -> int:
        """How many have all of these marks."""
        return int(self.by_marks[np.arange(MARKS) & marks == marks].sum())

    @property
    def every(self) -> int:
        """How many candidates there are."""
        return int(self.by_marks.sum())


class Made(NamedTuple):
    """The candidates of a question and their training times, its free tiers, how many candidates there are in all, and what those
    need that picks may come from."""

    times: TrainingTimes
    candidates: Candidates
    free: Candidates
    totals: Totals
    needed: Needed


class Sieve(Struct, frozen=True, dict=True, weakref=True, eq=False):
    """The allowed offers [E] of a question with every training time [T] on their clusters. The user's own machines and free
    tiers, which are few, go past it. `best` are the recipes that picks may have, `marks` those of the offers."""

    query: EstimateQuery
    catalogue: Catalogue
    matrix: TrainingMatrix
    offers: AllowedOffers
    times: TrainingTimes
    risks: Risks
    market: Market
    best: Flags
    marks: Int8

    @property
    def name(self) -> tuple[Hashable, ...]:
        """Equal for questions that make the same of the same: whatever chose the recipes and the rates, they are these."""
        query, digest = reset(self.query, "recipe", "price", overheads=self.query.overheads), blake2b(digest_size=16)
        for column in (self.offers.row, self.offers.cluster, self.marks, self.risks, self.best, *self.times):
            digest.update(column.tobytes())
        terms = *self.market.exchange.values(), ref(self.market.rates)
        return ref(self.catalogue), ref(self.matrix), digest.digest(), query, *terms

    @cached_property
    def made(self) -> Made:
        """All pairs as candidates, or of very many those that matter."""
        if not self.is_large:
            return self._of(Pairs.every(self.offers, self.times))
        beside = self._beside()
        totals = self.totals().plus(self._of(Pairs(self.offers, self.times, beside[0], beside[1])).totals)
        need = needed(totals.by_marks.tolist())
        return self._of(self._sifted(need.marks, beside))._replace(totals=totals, needed=need)

    def _of(self, pairs: Pairs) -> Made:
        """These pairs as candidates and free tiers."""
        query, catalogue = self.query, self.catalogue
        times, rented = rentals(catalogue, self.matrix, pairs, query, self.risks)
        cost = costs(catalogue, query, rented, self.market)
        passing, apart, beyond = within_limits(query, rented, cost)
        runs_here, of_times = self.matrix.runs.at(times.recipe, times.cluster), self._marks_of(times)
        within, beside = (
            Candidates.of(rented, cost, runs_here, of_times, self.marks, some) for some in (passing, apart)
        )
        totals = Totals.of(within, beyond)
        return Made(times, within, beside, totals, needed(totals.by_marks.tolist()))

    @property
    def is_large(self) -> bool:
        """Whether there are too many pairs to make them all."""
        return int(self._on_cluster.take(self.offers.cluster).sum()) > MOST_PAIRS

    @cached_property
    def _trained(self) -> TrainingTimes:
        """The times of all repetitions."""
        return repeated(self.matrix, self.times, self.query) if self.query.runs > 1 else self.times

    @property
    def hour_worth(self) -> float:
        """What an hour of waiting is worth, in the requested currency."""
        asked, per_usd = self.query.hour_worth, self.market.exchange[self.query.currency].per_usd
        return float(HOUR_WORTH * per_usd if asked is None else asked)

    @cached_property
    def of_times(self) -> Int8:
        """The marks of training times [T]."""
        return self._marks_of(self.times)

    def _marks_of(self, times: TrainingTimes) -> Int8:
        """Whether the recipes are among the best, and their code runs there."""
        run = self.matrix.runs.at(times.recipe, times.cluster) == YES
        return np.asarray(RECIPE * self.best.take(times.recipe) + RUNS * run, np.int8)

    @cached_property
    def sure(self) -> Flags:
        """Which training times can be those of the surest pick."""
        return are_sure(self.matrix, self.times)

    @cached_property
    def _on_cluster(self) -> Indices:
        """The number of training times on each cluster."""
        return np.bincount(self.times.cluster, minlength=len(self.matrix.clusters))

    @cached_property
    def _of_cluster(self) -> list[Indices]:
        """The positions of the training times on each cluster."""
        order = np.argsort(self.times.cluster, kind="stable")
        return np.split(order, np.cumsum(self._on_cluster)[:-1])

    @cached_property
    def _aside(self) -> Flags:
        """Which offers are the user's own machines or free tiers."""
        return np.asarray(self.offers.own | (self.offers.option == FREE))

    @cached_property
    def _risk(self) -> Int8:
        """The interruption risk of each offer, STEADY for those that nothing interrupts."""
        spot = (self.offers.option == SPOT) & (self.query.overheads == "typical")
        return np.where(spot, self.risks.take(self.offers.row), STEADY).astype(np.int8)

    @cached_property
    def _alike(self) -> list[tuple[Indices, Indices, Floats]]:
        """The offers in groups of one cluster, risk and terms of billing, each with the training times there, in the order of
        their hours, and these."""
        tariffs = self.offers.tariffs
        keys = (self.offers.cluster, self._risk, *(getattr(tariffs, name) for name in BY_TERMS))
        order = np.lexsort(keys)
        order = order[~self._aside[order] & (self._on_cluster.take(self.offers.cluster[order]) > 0)]
        changes = np.zeros(max(len(order) - 1, 0), bool)
        for key in keys:
            changes |= key[order[1:]] != key[order[:-1]]
        groups = np.split(order, changes.nonzero()[0] + 1) if len(order) else []
        return [
            (group, *self._hours(int(self.offers.cluster[group[0]]), int(self._risk[group[0]]))) for group in groups
        ]

    @cached_property
    def _factor(self) -> Floats:
        return price_factors(self.catalogue, self.query, self.market.exchange, self.offers.row)

    def totals(self) -> Totals:
        """All of them, counted."""
        within, rejections = np.zeros((OF_TIMES + 1, len(self.marks)), np.int32), Counter[str]()
        for group, times, hours in self._alike:
            ends, priced = hours < ENDLESS_HOURS, group[~np.isnan(self._factor[group])]
            in_time = ends & self._in_time(hours)
            many, late = int(np.count_nonzero(ends)), int(np.count_nonzero(ends & ~in_time))
            rejections["interrupted_too_often"] += len(group) * (len(times) - many)
            rejections["no_exchange_rate"] += (len(group) - len(priced)) * many
            rejections["over_max_hours"] += len(priced) * late
            within[:, priced] = np.bincount(self.of_times[times[in_time]], minlength=OF_TIMES + 1)[:, None]
        if self.query.max_cost is not None:
            rejections["over_max_cost"] = int(within.sum())
            within[:] = 0
            for block in self.blocks(np.ones(len(self.marks), bool)):
                of_times, ends = self.of_times[block.time], np.isfinite(block.cost)
                within[:, block.entry] = [ends[:, of_times == each].sum(axis=1) for each in range(OF_TIMES + 1)]
            rejections["over_max_cost"] -= int(within.sum())
        by_marks = np.sum([np.bincount(self.marks | each, of, MARKS) for each, of in enumerate(within)], axis=0)
        return Totals(by_marks.astype(np.int64), self.offers.row, within.sum(axis=0), rejections)

    def blocks(self, which: Flags) -> Iterator[Block]:
        """These offers with all training times that end within the hours asked for, piece by piece."""
        which = which & ~np.isnan(self._factor)
        for group, every, all_hours in self._alike:
            entries, ends = group[which[group]], (all_hours < ENDLESS_HOURS) & self._in_time(all_hours)
            times, hours = every[ends], all_hours[ends]
            step = max(TOGETHER // max(len(times), 1), 1)
            for start in range(0, len(entries) if len(times) else 0, step):
                some = entries[start : start + step]
                yield Block(self._cost, some, times, hours)

    def _hours(self, cluster: int, risk: int) -> tuple[Indices, Floats]:
        """The training times on a cluster at a risk, in the order of their hours, and these."""
        times = self._of_cluster[cluster]
        trained = self._trained.take(times)
        if risk != STEADY:
            many = np.full(len(times), self.matrix.nodes[cluster])
            trained = interrupted(trained, many, np.full(len(times), risk))
        order = np.argsort(trained.hours, kind="stable")  # the first of equal costs ends first
        return times[order], trained.hours[order]

    def _in_time(self, hours: Floats) -> Flags:
        return np.asarray(hours <= (np.inf if self.query.max_hours is None else self.query.max_hours))

    def _cost(self, entries: Indices, hours: Floats) -> Floats:
        """What these offers cost for each of these hours, as `rentals.costs` says of one pair."""
        query, tariffs = self.query, self.offers.tariffs
        alike = tariffs.part(np.full(len(hours), entries[0]))
        grid = alike._replace(metered=tariffs.metered[entries, None], fee=tariffs.fee[entries, None])
        cost = grid.billed(hours) if query.basis == "billed" else grid.effective_each(hours, query.utilization)
        cost *= self._factor[entries, None]
        if any(requested(query)):
            once, hourly = storage_and_egress(self.catalogue, query, self.offers.row[entries], self.market)
            cost += once[:, None] + hourly[:, None] * hours
        if query.max_cost is not None:
            cost[cost > float(query.max_cost)] = np.inf
        return cost

    def _sifted(self, marks: int, beside: Indices) -> Pairs:
        """The pairs to make, of which those with these marks can be picks: what is listed first, the frontier, what can be
        the surest, and of each machine the cheapest by each way to buy; with those that stand beside."""
        kept = Kept(self)
        for block, pickable in self._tiers(marks):
            kept.add(block, pickable)
        entry, time = np.concatenate((kept.pairs(), beside), axis=1)
        order = np.lexsort((time, entry))
        return Pairs(self.offers, self.times, entry[order], time[order])

    def _beside(self) -> Indices:
        """The pairs that go past the sieve [2, n]."""
        of = [self._of_cluster[cluster] for cluster in self.offers.cluster[self._aside].tolist()]
        entry = np.repeat(self._aside.nonzero()[0], [len(times) for times in of])
        return np.stack((entry, np.concatenate((np.zeros(0, np.int64), *of))))

    def _tiers(self, needed: int) -> Iterator[tuple[Block, bool]]:
        """All blocks, those of what picks may come from apart from the rest."""
        offered = (self.marks & needed & ~OF_TIMES) == needed & ~OF_TIMES
        trained = (self.of_times & needed) == needed & OF_TIMES
        for block in self.blocks(offered):
            which = trained[block.time]
            for pickable, some in ((True, which), (False, ~which)):
                if some.any():
                    yield (block if some.all() else block.columns(some)), pickable
        yield from ((block, False) for block in self.blocks(~offered))

    def dearer(self, marks: int, cost: float) -> int:
        """How many pairs with these marks, of which picks may come, cost more."""
        blocks = (block.cost for block, pickable in self._tiers(marks) if pickable)
        return sum(int(np.count_nonzero(np.isfinite(block) & (block > cost))) for block in blocks)

    def before(self, marks: int, points: Candidates, recipe: Indices) -> list[int]:
        """How many pairs come before each of these candidates, with these recipes, by the question's order: of those that picks
        may come from for these, of the rest for others."""
        figures = points.pickable, points.cents, points.calendar_hours
        of = [*zip(*[column.tolist() for column in figures], self._names(points.row, recipe), strict=True)]
        counts, ahead = [0] * len(of), self._sooner if self.query.sort == "time" else self._cheaper
        for block, pickable in self._tiers(marks):
            for at, (tier, *point) in enumerate(of):
                if tier == pickable:
                    counts[at] += ahead(block, *point)
        return counts

    def _cheaper(self, block: Block, cents: float, hours: float, name: tuple[int, ...]) -> int:
        """How many pairs of a block come before one of so many cents and hours, and this name, by cost."""
        cost = in_cents(block.cost)
        entry, time = (cost == cents).nonzero()
        return int(np.count_nonzero(cost < cents)) + self._tied(block, entry, time, block.hours[time], (hours, name))

    def _sooner(self, block: Block, cents: float, hours: float, name: tuple[int, ...]) -> int:
        """The same by time; only a limit makes it necessary to know what all of them cost."""
        sooner, tied = block.columns(block.hours < hours), block.columns(block.hours == hours)
        many = len(sooner.entry) * len(sooner.time) if self.query.max_cost is None else np.isfinite(sooner.cost).sum()
        entry, time = np.isfinite(tied.cost).nonzero()
        return int(many) + self._tied(tied, entry, time, in_cents(tied.cost[entry, time]), (cents, name))

    def _tied(
        self, block: Block, entry: Indices, time: Indices, then: Floats, point: tuple[float, tuple[int, ...]]
    ) -> int:
        """How many pairs of a block that equal a point by the question's order come before it by what is sorted by next."""
        names = self._names(self.offers.row[block.entry[entry]], self.times.recipe[block.time[time]])
        return sum(other < point for other in zip(then.tolist(), names, strict=True))

    def _names(self, row: Indices, recipe: Indices) -> Iterator[tuple[int, ...]]:
        """What equal ones are sorted by."""
        return zip(self.catalogue.scarcity[row].tolist(), row.tolist(), recipe.tolist(), strict=True)
