"""`/mlperf`: what a task's training cost when each round of MLPerf was published, and what those machines cost today."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time
from decimal import Decimal
from functools import cached_property
from itertools import islice
from typing import Annotated

from msgspec import Struct

from api.questions.asked import query_of
from api.questions.declared import fields_of
from api.questions.errors import NotFound
from api.questions.schemas.training import TrainingSchema
from api.questions.values import Values
from api.reports.over_time import MANY, Drivers, OverTime, Point, Written, verdict
from api.service import Service
from costcalc.answers import Estimate, PriceBasis
from costcalc.catalogue.catalogue import Catalogue
from costcalc.fields import filled
from costcalc.offer import PurchaseOption
from costcalc.parameters import Param
from costcalc.query import EstimateQuery, parameters_of
from costcalc.tasks.known import find_task, quality_on
from costcalc.tasks.tables import MLPERF, Result, Task, benchmark_of, results, rounds

END_OF_DAY = time(23, 59, 59)
MINUTES_PER_HOUR = 60


class RoundsParameters(Struct):
    """A task instead of a model."""

    model: Annotated[
        str,
        Param("task of MLPerf, as costcalc tasks lists them", "goal", "llama2-70b-lora", use="everyday"),
    ]


class RoundsSchema(TrainingSchema):
    """The parameters of `/mlperf`."""

    class Meta:
        """Each round is a date of its own, and has its own target."""

        include = fields_of(RoundsParameters)
        exclude = parameters_of(*MANY)


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
        latest = self.ask()
        now = latest.picks[0].estimate if latest.picks else None
        pairs = [self._round(name) for name in sorted(self._results, key=lambda name: rounds()[name].published)]
        last = Point.of(latest.prices.as_of, latest)
        points, drivers = self.compared(point for point in (*(point for _, point in pairs), last) if point)
        sentences = (*islice(verdict(points, drivers), 2), *self.in_vain())
        document = RoundsDocument(self.query, latest.prices, tuple(row for row, _ in pairs), now, drivers, sentences)
        return Written(document, points)

    def rows(self) -> tuple[RoundRow, ...]:
        return self.document().rounds

    @cached_property
    def _results(self) -> dict[str, Result]:
        """The fastest result of the task in each round that has any."""
        fastest_last = sorted(results()[self.task.name], key=lambda each: each.minutes)[::-1]
        return {result.round: result for result in fastest_last}

    def _round(self, held: str) -> tuple[RoundRow, Point | None]:
        day, best = datetime.combine(rounds()[held].published, END_OF_DAY, UTC), self._results[held]
        target = quality_on(self.task, day.date())
        row = RoundRow(
            task=self.task.name,
            round=held,
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
        cheapest, fastest = point.estimate, next(pick.estimate for pick in answer.picks if pick.name == "fastest")
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
