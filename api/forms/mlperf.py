"""`/mlperf`: what a task's training cost when each round of MLPerf was published, and what those machines cost today."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time
from decimal import Decimal
from itertools import islice
from typing import Annotated

from msgspec import Struct

from api.formats.charts import over_time
from api.formats.column import Column, leading_to
from api.formats.tables import Table, day, least_cost
from api.forms.code import Code
from api.questions.asked import query_of
from api.questions.errors import NotFound
from api.questions.schemas.training import TrainingSchema, schema
from api.questions.values import Values
from api.reports.over_time import MANY, Drivers, OverTime, Point, Written, verdict
from api.service import Service
from costcalc.answers import Estimate, PriceBasis
from costcalc.catalogue.catalogue import Catalogue
from costcalc.fields import filled
from costcalc.money import money
from costcalc.offer import PurchaseOption
from costcalc.parameters import Param
from costcalc.query import EstimateQuery, parameters_of
from costcalc.tasks.known import find_task, quality_on
from costcalc.tasks.tables import MLPERF, Result, Task, benchmark_of, results, rounds
from costcalc.units import in_words

END_OF_DAY = time(23, 59, 59)
MINUTES_PER_HOUR = 60


class RoundsParameters(Struct):
    """A task instead of a model."""

    model: Annotated[
        str, Param("task of MLPerf, as costcalc tasks lists them", "goal", "llama2-70b-lora", use="everyday")
    ]


RoundsSchema = schema(TrainingSchema, RoundsParameters, without=parameters_of(*MANY))
"""Each round is a date of its own, and has its own target."""


@dataclass(frozen=True, slots=True)
class RoundRow:
    """A round: the least that the task's training then cost, `minutes` and machine, the least minutes that one could rent and
    what those cost. `cost_today` is the first at today's rate of that machine, null where it is no longer rented on demand.
    Everything is null where nothing that trains it was for rent. `record_minutes` is the fastest result of the round, on whatever
    system, for rent or not."""

    task: str
    round: str
    published: datetime
    target: float
    metric: str
    currency: str
    record_minutes: float
    record_system: str
    cost: Decimal | None = None
    minutes: float | None = None
    provider: str | None = None
    instance_type: str | None = None
    nodes: int | None = None
    accelerator: str | None = None
    accelerators: int | None = None
    recipe: str | None = None
    cost_today: Decimal | None = None
    least_minutes: float | None = None
    least_minutes_cost: Decimal | None = None
    least_minutes_machine: str | None = None


@dataclass(frozen=True, slots=True)
class RoundsDocument:
    """The JSON answer: the rounds, the first one first, then `now`, the training at today's prices with all that is known."""

    query: EstimateQuery
    prices: PriceBasis
    rounds: tuple[RoundRow, ...]
    now: Estimate | None
    drivers: Drivers
    verdict: tuple[str, ...]


@dataclass(frozen=True)
class RoundsReport(OverTime[RoundsDocument]):
    """A task's question on the day of each round that has results of it."""

    drawn = (
        "MLPerf in dollars",
        "the cheapest machine that one could rent on the day of each round and today, with its 80 % range",
    )
    task: Task

    @property
    def name(self) -> str:
        return f"mlperf-{self.task.name}"

    def written(self) -> Written[RoundsDocument]:
        latest, fastest_first = self.ask(), sorted(results()[self.task.name], key=lambda result: result.minutes)
        fastest = {result.round: result for result in reversed(fastest_first)}
        in_order = sorted(fastest.values(), key=lambda result: rounds()[result.round].published)
        rows, then = zip(*map(self._round, in_order), strict=True)
        points, drivers = self.compared((*then, Point.of(latest.prices.as_of, latest)))
        sentences, now = (*islice(verdict(points, drivers), 2), *self.in_vain()), latest.picked.get("cheapest")
        return Written(RoundsDocument(self.query, latest.prices, rows, now, drivers, sentences), points)

    def rows(self) -> tuple[RoundRow, ...]:
        return self.document().rounds

    def _round(self, best: Result) -> tuple[RoundRow, Point | None]:
        """The round of its fastest result."""
        day = datetime.combine(rounds()[best.round].published, END_OF_DAY, UTC)
        target = quality_on(self.task, day.date())
        row = RoundRow(
            task=self.task.name,
            round=best.round,
            published=day,
            target=target,
            metric=self.task.metric,
            currency=self.query.currency,
            record_minutes=best.minutes,
            record_system=f"{best.accelerators:,} x {best.accelerator}, {best.organisation}",
        )
        answer = self.earlier.ask(as_of=day, target=target)
        point = Point.of(day, answer)
        if point is None:
            return row, None
        cheapest, fastest = point.estimate, answer.picked["fastest"]
        priced = filled(
            RoundRow,
            cheapest,
            row,
            task=row.task,
            cost=point.cost,
            minutes=cheapest.hours * MINUTES_PER_HOUR,
            cost_today=self._today(cheapest),
            least_minutes=fastest.hours * MINUTES_PER_HOUR,
            least_minutes_cost=fastest.cost(self.query.basis).cost,
            least_minutes_machine=f"{fastest.accelerators} x {fastest.accelerator}, {fastest.provider}",
        )
        return priced, point

    def _today(self, then: Estimate) -> Decimal | None:
        """This run at today's rate of its machine."""
        still = self.still_rented(then)
        if still is None or not then.hourly_rate:
            return None
        return round(then.cost(self.query.basis).cost * still.hourly_rate / then.hourly_rate, 2)


def rounds_report(service: Service, catalogue: Catalogue, values: Values) -> RoundsReport:
    """The report that parsed parameters of `/mlperf` ask for: of machines on demand unless the question says otherwise. Raises
    NotFound for a network that is no task's."""
    query = query_of(values, purchase=(PurchaseOption.ON_DEMAND,))
    task = find_task(query.model)
    if task is None or benchmark_of(task) != MLPERF:
        raise NotFound(
            f"{query.model} is not a task of MLPerf: costcalc tasks lists those, /trend takes other networks", "model"
        )
    return RoundsReport(service, catalogue, query, "round", task)


def _on_its_day(row: RoundRow) -> str:
    """What the task cost on the day of a round."""
    return leading_to("/", model=row.task, target=f"{row.target:g}", as_of=day(row.published), purchase="on_demand")


TABLE = Table(
    "MLPerf in dollars",
    "The least that this task's training cost on demand on the day of each round, and the least minutes that one could rent. "
    "Only rates that were seen by then, and are confirmed, count.",
    "round",
    RoundRow,
    (
        Column("Round", lambda row: row.round, lambda row: day(row.published), link=_on_its_day),
        Column("Least cost", least_cost, lambda row: (row.minutes and in_words(row.minutes / 60)) or "", is_number=True),
        Column("Machine", lambda row: (row.provider and f"{row.provider} {row.instance_type}") or "",
               lambda row: (row.accelerator and f"{row.accelerators:,} {row.accelerator}") or ""),
        Column("Today", lambda row: (row.cost_today is not None and money(row.cost_today, row.currency)) or "",
               is_number=True, leave=2),
        Column("Least time", lambda row: (row.least_minutes and in_words(row.least_minutes / 60)) or "",
               lambda row: (row.least_minutes_cost is not None and money(row.least_minutes_cost, row.currency)) or "",
               is_number=True, leave=1),
        Column("Record", lambda row: f"{row.record_minutes:,.1f} min", lambda row: row.record_system, is_number=True, leave=3),
    ),
    ("model", "provider", "accelerator", "currency"),
    beside=(("All tasks in one picture", "/mlperf/all"), ("All tasks", "/tasks")),
)  # fmt: skip

CODE: Code[RoundsReport] = Code(RoundsSchema, rounds_report, RoundsDocument, TABLE, figure=over_time.figure)
