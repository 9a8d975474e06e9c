"""`/mlperf/all`: what every task of MLPerf cost at each round, as `python -m tools.mlperf_in_dollars` found it in the packaged
prices: asking each task anew takes too long for an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources
from itertools import groupby
from operator import attrgetter
from statistics import median
from typing import ClassVar

from api.questions.values import Values
from api.reports.mlperf import RoundRow
from api.service import Service
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence.tables import cells, typed
from costcalc.money import money

TABLE = "mlperf_in_dollars.csv"
MOMENT = datetime(2026, 11, 20, 12, tzinfo=UTC)
"""Today, as the packaged table means it."""
PARTS = "For language models and Stable Diffusion the benchmark is a small part of the original training."


@dataclass(frozen=True, slots=True)
class EveryRoundDocument:
    """The JSON answer: the rounds of each task, the first one first, at the packaged prices known at `as_of`."""

    as_of: datetime
    rounds: tuple[RoundRow, ...]
    verdict: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EveryRoundReport:
    """Every round of every task."""

    name: ClassVar = "mlperf-in-dollars"
    rest: ClassVar = None
    as_of: ClassVar = MOMENT

    def rows(self) -> tuple[RoundRow, ...]:
        text = (resources.files("api.reports") / "data" / TABLE).read_text("utf-8")
        return tuple(typed(TABLE, cells(TABLE, text), RoundRow))

    def document(self) -> EveryRoundDocument:
        rows = self.rows()
        return EveryRoundDocument(MOMENT, rows, (fall(rows),))


def fall(rows: Sequence[RoundRow]) -> str:
    """How the cost moved from the first round of each task to its last, of those with a price in both."""
    costs = {
        task: [row.cost for row in some if row.cost is not None] for task, some in groupby(rows, attrgetter("task"))
    }
    shares = {task: some[-1] / some[0] for task, some in costs.items() if len(some) > 1}
    most = min(shares, key=shares.__getitem__)
    first, *_, last = (money(cost, rows[0].currency) for cost in costs[most])
    return (
        f"From a task's first round to its last, the cost fell to {100 * median(shares.values()):.0f} % at the median; it "
        f"fell for {sum(share < 1 for share in shares.values())} of {len(shares)} tasks, most for {most}: from {first} to {last}."
    )


def every_round_report(_: Service, __: Catalogue, ___: Values) -> EveryRoundReport:
    """The report of `/mlperf/all`."""
    return EveryRoundReport()
