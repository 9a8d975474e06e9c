"""`/mlperf/all`: what every task of MLPerf cost at each round, as `python -m tools.mlperf_in_dollars` found it in the packaged
prices: asking each task anew takes too long for an answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources
from typing import Any, ClassVar

from api.reports.rounds import RoundRow
from api.service import Service
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence.tables import cells, typed

TABLE = "mlperf_in_dollars.csv"
MOMENT = datetime(2026, 11, 20, 12, tzinfo=UTC)
"""Today, as the packaged table means it."""
PARTS = "Of language models and Stable Diffusion the benchmark is a small part of the training that made them known."


@dataclass(frozen=True, slots=True)
class EveryRoundDocument:
    """The JSON answer: the rounds of each task, the first one first, at the packaged prices known at `as_of`."""

    as_of: datetime
    rounds: tuple[RoundRow, ...]


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
        return EveryRoundDocument(MOMENT, self.rows())


def every_round_report(_: Service, __: Catalogue, ___: dict[str, Any]) -> EveryRoundReport:
    """The report of `/mlperf/all`."""
    return EveryRoundReport()
