"""The order in which estimates are shown: the picks, what else picks may come from, then the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from msgspec import Struct

from costcalc.costing.candidates import Order
from costcalc.units import Flags, Indices


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
