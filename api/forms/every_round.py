"""`/mlperf/all`: the least cost of every task of MLPerf by round, with a small picture of each, all on the same scales: as
`python -m tools.mlperf_in_dollars` found it in the packaged prices, since asking each task anew takes too long for an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from importlib import resources
from itertools import groupby
from math import log10
from operator import attrgetter
from statistics import median
from typing import ClassVar

from markupsafe import escape
from msgspec.structs import replace

from api.formats.charts.figure import Place, Scale, document, grid, line, more_lines, sign, text
from api.formats.charts.frame import days, months
from api.formats.column import Column, leading_to
from api.forms import mlperf
from api.forms.code import Code
from api.forms.mlperf import RoundRow
from api.questions.schemas.training import LayoutSchema
from api.questions.values import Values
from api.service import Service
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence.tables import cells, typed
from costcalc.money import money

FILE = "mlperf_in_dollars.csv"
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
        text = (resources.files("api.reports") / "data" / FILE).read_text("utf-8")
        return tuple(typed(FILE, cells(FILE, text), RoundRow))

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


WIDTH, HEIGHT = 860, 46
MOST_ACROSS, LEAST_WIDTH = 4, 150
GAP, TOP, TITLE = 18, 58, 32
ROOM = 1.6
"""How many times as high a small picture is as the largest change of any task."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """The picture: `tasks` are the rounds of each task, the first one first."""

    tasks: Sequence[Sequence[RoundRow]]

    def svg(self, width: int = WIDTH) -> str:
        """The picture in light colours, or in dark ones where the reader prefers these."""
        across = min((width - GAP) // (LEAST_WIDTH + GAP), MOST_ACROSS)
        rows, high = -(-len(self.tasks) // across), TITLE + HEIGHT + GAP
        title, subtitle = (
            "MLPerf in dollars",
            f"least cost on demand at each round; each panel is a factor of {10 ** self._decades():.0f} high",
        )
        top, wide = TOP + more_lines(width, title, subtitle), (width - (across + 1) * GAP) / across
        inside = "".join(
            f'<svg x="{GAP + number % across * (wide + GAP):g}" y="{top + number // across * high}" width="{wide:g}" '
            f'height="{TITLE + HEIGHT}" overflow="visible">{self._task(rounds, number >= len(self.tasks) - across)}</svg>'
            for number, rounds in enumerate(self.tasks)
        )
        return document(width, top + rows * high + 6, title, subtitle, inside)

    def _decades(self) -> float:
        """The height of a small picture in powers of ten."""
        costs = [[float(each.cost) for each in rounds if each.cost is not None] for rounds in self.tasks]
        return log10(ROOM * max(max(each) / min(each) for each in costs if each))

    def _years(self) -> Scale:
        moments = [days(each.published) for rounds in self.tasks for each in rounds]
        return Scale(min(moments), max(moments))

    def _task(self, rounds: Sequence[RoundRow], is_last: bool) -> str:
        """A task's name, its first and last cost, and the costs between; years below the bottom row."""
        priced = [each for each in rounds if each.cost is not None]
        ends = dict.fromkeys(each for each in (*priced[:1], *priced[-1:]))
        costs = (
            ", ".join(f"{each.published:%Y} {_amount(each)}" for each in ends) or "nothing that trains it was for rent"
        )
        name = f'<text class="ink" style="font-weight:600" y="10">{escape(rounds[0].task)}</text><text y="25">{costs}</text>'
        ticks = [(Place.of(self._years().at(tick.value), 0).x, tick.label[:4]) for tick in months(self._years())]
        years = "".join(text(Place(x, "100%"), label, "middle", 0, 14) for x, label in ticks[::2] if is_last)
        inside = f'<rect class="shade" width="100%" height="100%"/>{grid((x for x, _ in ticks), ())}{self._line(priced)}{years}'
        return f'{name}<svg y="{TITLE}" width="100%" height="{HEIGHT}" overflow="visible">{inside}</svg>'

    def _line(self, priced: Sequence[RoundRow]) -> str:
        costs, years = [log10(float(each.cost or 1)) for each in priced], self._years()
        middle = (max(costs, default=0) + min(costs, default=0)) / 2
        places = [
            Place.of(years.at(days(each.published)), 0.5 + (cost - middle) / self._decades())
            for each, cost in zip(priced, costs, strict=True)
        ]
        signs = (sign(place, "circle", "p1", _told(each)) for each, place in zip(priced, places, strict=True))
        return f"{line(places, 'p1')}{''.join(signs)}"


def _amount(each: RoundRow) -> str:
    """The least cost; without cents if large."""
    whole, _, cents = money(each.cost or Decimal(0), each.currency).partition(".")
    return whole if len(whole) > len("$99") else f"{whole}.{cents}"


def _told(each: RoundRow) -> str:
    machine = f"{each.accelerators} {each.accelerator} at {each.provider}"
    return f"{each.round}, {each.published:%Y-%m-%d}: {_amount(each)}, {machine}"


def figure(report: EveryRoundReport) -> Rounds:
    """The picture of all rounds."""
    return Rounds([list(rounds) for _, rounds in groupby(report.rows(), attrgetter("task"))])


TABLE = replace(
    mlperf.TABLE,
    intro="The least that each task's training cost on demand on the day of each round, at the packaged prices of "
    f"{MOMENT:%Y-%m-%d}. {PARTS} A task's name leads to its rounds at this server's prices.",
    columns=(
        Column("Task", lambda row: row.task, link=lambda row: leading_to("/mlperf", model=row.task)),
        *mlperf.TABLE.columns,
    ),
    filters=(),
    beside=(("All tasks", "/tasks"),),
)

CODE: Code[EveryRoundReport] = Code(LayoutSchema, every_round_report, EveryRoundDocument, TABLE, figure=figure)
