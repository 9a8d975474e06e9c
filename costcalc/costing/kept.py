"""What is kept of millions of pairs of an offer and a training time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, Protocol, get_args

import numpy as np
from msgspec import Struct

from costcalc.catalogue.catalogue import Catalogue
from costcalc.catalogue.columns import Int8
from costcalc.costing.candidates import CENTS, Order, frontier, in_cents
from costcalc.costing.rentals import AllowedOffers
from costcalc.picks import BALANCED_TO_START, MOST_DOUBTED, MOST_FOR_SURE, MOST_TO_START, TOO_MUCH, PickName
from costcalc.query import LAST_OFFSET, EstimateQuery
from costcalc.units import Flags, Floats, Indices

LEAST_KEPT = 2**13
"""So many of each tier are kept behind the offset: among these are the best ten of different recipes and machines."""
MOST_HELD = 2**15
"""So many may come together beside one and a half times those that stay."""


class Block(Struct, frozen=True, dict=True):
    """Offers [O] that bill alike on one cluster, each with training times there [R] of so many hours, and what says their `cost`
    [O, R], infinite beyond the question's limit."""

    costs: Callable[[Indices, Floats], Floats]
    entry: Indices
    time: Indices
    hours: Floats

    @cached_property
    def cost(self) -> Floats:
        return self.costs(self.entry, self.hours)

    def columns(self, which: Flags) -> Block:
        """The block with these training times alone."""
        return Block(self.costs, self.entry, self.time[which], self.hours[which])


class Sifting(Protocol):
    """What blocks come from: the question, its offers with their marks, and which training times are sure."""

    @property
    def query(self) -> EstimateQuery: ...
    @property
    def catalogue(self) -> Catalogue: ...
    @property
    def offers(self) -> AllowedOffers: ...
    @property
    def marks(self) -> Int8: ...
    @property
    def hour_worth(self) -> float: ...
    @property
    def sure(self) -> Flags: ...


class _Sifted(NamedTuple):
    """Pairs as columns of equal length; `pickable` says whether picks may come from them."""

    entry: Indices
    time: Indices
    hours: Floats
    cost: Floats
    pickable: Flags

    def take(self, which: Flags) -> _Sifted:
        """Only those that are flagged."""
        return _Sifted._make(column[which] for column in self)


_NONE = _Sifted(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros(0, bool))


class Kept:
    """What the sieve keeps of the pairs that have passed.

    `most` of each tier are listed first; `last` is the figure of the last of these, by cost or by time as the question sorts.
    Of what picks may come from, `front` has the hours and cents of the frontier, `least` is the least cost, and `best` the least
    that cost and hours are worth together.
    """

    def __init__(self, sieve: Sifting) -> None:
        self._sieve, self._by_time = sieve, sieve.query.sort == "time"
        self._most = min(sieve.query.offset, LAST_OFFSET) + max(sieve.query.limit, LEAST_KEPT) + len(get_args(PickName))
        self._last, self._front = {True: np.inf, False: np.inf}, np.array([[0.0], [np.inf]])
        self._least = self._best = np.inf
        is_limited = sieve.query.max_hours is not None or sieve.query.max_cost is not None
        self._doubted = MOST_DOUBTED * (1 + TOO_MUCH * is_limited)
        self._parts: list[_Sifted] = []
        self._thinned = self._held = 0

    def add(self, block: Block, pickable: bool) -> None:
        """Keeps what may matter of a block; now and then all that was kept is looked through again."""
        most = np.full(len(block.hours), self._last[pickable])
        if self._by_time:
            most = np.where(block.hours <= most, np.inf, -np.inf)
        if pickable:
            most = np.maximum(most, self._most_of_picks(block))
        which = block.cost <= most
        which[np.arange(len(which)), block.cost.argmin(axis=1)] = True
        entry, time = which.nonzero()
        cost = block.cost[entry, time]
        tier = np.full(len(entry), pickable)
        some = _Sifted(block.entry[entry], block.time[time], block.hours[time], cost, tier)
        self._parts.append(some.take(np.isfinite(cost)))
        self._held += len(self._parts[-1].cost)
        if self._held > 1.5 * self._thinned + MOST_HELD:
            self._thin()

    def _most_of_picks(self, block: Block) -> Floats:
        """Up to which cost each training time may be on the frontier, or near the best."""
        least = block.cost.min(axis=0)
        cents = in_cents(least)
        self._least = min(self._least, (cents.min() + 1) / CENTS)
        self._best = min(self._best, (least + self._sieve.hour_worth * block.hours).min())
        hours, best = self._front
        unbeaten = cents <= best[np.searchsorted(hours, block.hours, "right") - 1]
        return np.maximum(np.where(unbeaten, (cents + 1) / CENTS, 0.0), self._most_near(block.hours, block.time))

    def _most_near(self, hours: Floats, time: Indices) -> Floats:
        """Up to which cost these times are picked for being well known, starting as they are, or being sure."""
        least, best = MOST_TO_START * self._doubted * self._least, BALANCED_TO_START * self._doubted * self._best
        sure = np.where(self._sieve.sure[time], MOST_FOR_SURE * least, least)
        return np.asarray(np.maximum(sure, best - self._sieve.hour_worth * hours))

    def pairs(self) -> Indices:
        """The positions of the offers and of the times that were kept [2, n]."""
        self._thin()
        return np.stack(self._parts[0][:2])

    def _thin(self) -> None:
        """Leaves out what others have pushed behind."""
        held = _Sifted._make(map(np.concatenate, zip(_NONE, *self._parts, strict=True)))
        cents = in_cents(held.cost)
        keep = self._front_of(held, cents) | self._cheapest_of_each(held, cents)
        keys = (held.hours, cents) if self._by_time else (cents, held.hours)
        sieve = self._sieve
        order = Order(keys[0], keys[1], sieve.catalogue.scarcity, sieve.offers.row[held.entry], held.time)
        for tier in (True, False):
            positions = (held.pickable == tier).nonzero()[0]
            listed = order.first(positions, self._most)
            keep[listed] = True
            if len(positions) > self._most:
                last = keys[0][listed[-1]]
                self._last[tier] = last if self._by_time else (last + 0.5) / CENTS
        keep |= held.pickable & (held.cost <= self._most_near(held.hours, held.time))
        self._parts = [held.take(keep)]
        self._held = self._thinned = int(np.count_nonzero(keep))

    def _front_of(self, held: _Sifted, cents: Floats) -> Flags:
        """Which of what picks may come from nothing beats."""
        among, flags = held.pickable.nonzero()[0], np.zeros(len(cents), bool)
        flags[among] = frontier(cents[among], held.hours[among])
        front = flags.nonzero()[0][np.argsort(held.hours[flags])]
        self._front = np.array([[0.0, *held.hours[front]], [np.inf, *cents[front]]])
        return flags

    def _cheapest_of_each(self, held: _Sifted, cents: Floats) -> Flags:
        """Which are the cheapest of their machine, way to buy and tier, rates that are confirmed and others apart."""
        offers, flags = self._sieve.offers, np.zeros(len(cents), bool)
        of_offer = self._sieve.catalogue.columns.instance[offers.row[held.entry]], self._sieve.marks[held.entry]
        keys = (held.pickable, offers.option[held.entry], *of_offer)
        order = np.lexsort((held.hours, cents, *keys))
        first = np.ones(len(order), bool)
        first[1:] = np.any([key[order[1:]] != key[order[:-1]] for key in keys], axis=0)
        flags[order[first]] = True
        return flags
