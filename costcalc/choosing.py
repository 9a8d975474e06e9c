"""Which candidates of a question are looked at first: its picks, the best others beside them, and what is folded away."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from costcalc.answers import Folded, Ranges
from costcalc.catalogue.catalogue import OPTIONS, Catalogue
from costcalc.costing.candidates import Candidates, first
from costcalc.duration.running import YES
from costcalc.duration.training_matrix import TrainingMatrix
from costcalc.duration.training_times import TrainingTimes
from costcalc.offers import PurchaseOption
from costcalc.picks import Options, PickName, picks
from costcalc.query import EstimateQuery
from costcalc.units import Flags, Indices

MOST_BEST = 10
SHORT_LIVED = (OPTIONS.index(PurchaseOption.SPOT), OPTIONS.index(PurchaseOption.CAPACITY_BLOCK))


@dataclass(frozen=True, eq=False)
class Choice:
    """The candidates of a question, which of their training times can be the surest, and their ranges. Positions are those of the
    candidates."""

    query: EstimateQuery
    catalogue: Catalogue
    matrix: TrainingMatrix
    times: TrainingTimes
    candidates: Candidates
    sure: Flags
    ranges: Callable[[Candidates], Ranges]

    def picks(self, hour_worth: float) -> dict[PickName, int]:
        """The position of each pick, an hour on the calendar being worth so much in the question's currency."""
        positions = self._in_order(self.candidates.pickable)
        some = self.candidates.take(positions)
        ranges = self.ranges(some)
        spread = np.full(len(positions), np.inf)
        sure = np.flatnonzero(self.sure[some.time] & (ranges.cost_low > 0))
        spread[sure] = ranges.cost_high[sure] / ranges.cost_low[sure]
        options = Options(some.cost, some.calendar_hours, ranges.hours_high, spread)
        return {name: int(positions[each]) for name, each in picks(options, hour_worth)}

    def best(self, picked: Iterable[int]) -> list[int]:
        """The picks and the best others, at most MOST_BEST, in the question's order: one for each recipe on each number and kind
        of accelerators, in each region where all are asked for."""
        positions = self._in_order(self.candidates.pickable, self.query.sort)
        some = self.candidates.take(positions)
        shapes = self.catalogue.shape_of_instance[self.catalogue.columns.instance[some.row]]
        region = self.catalogue.columns.region[some.row] * (self.query.regions == "all")
        alike = np.stack(
            [self.times.recipe[some.time], shapes, self.matrix.nodes[self.times.cluster[some.time]], region]
        )
        _, each = np.unique(alike, axis=1, return_index=True)
        found = dict.fromkeys([*picked, *positions[np.sort(each)].tolist()])
        return list(found)[:MOST_BEST]

    def cheapest_unconfirmed(self) -> list[int]:
        """The position of the cheapest candidate whose rate is not confirmed; empty where all are."""
        found: list[int] = self._in_order(~self.candidates.confirmed)[:1].tolist()
        return found

    def folded(self) -> Folded:
        """How many candidates picks don't come from, each counted once."""
        some = self.candidates
        spot = np.isin(self.catalogue.columns.option[some.row], SHORT_LIVED)
        kind = np.select([some.pickable, ~some.confirmed, some.runs_here != YES, spot], [0, 1, 2, 3], 4)
        return Folded(*np.bincount(kind, minlength=5)[1:].tolist())

    def _in_order(self, flags: Flags, by: Literal["cost", "time"] = "cost") -> Indices:
        """The positions of the flagged candidates, the best first."""
        positions = np.flatnonzero(flags)
        return positions[first(self.candidates.take(positions).order(by, self.catalogue), len(positions))]
