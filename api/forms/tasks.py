"""`/tasks`: what can be asked about beside networks on ImageNet, how far each is trained, and what its answers rest on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from api.formats import words
from api.formats.column import Column, leading_to
from api.formats.tables import Table, least_cost, number
from api.forms.code import Code
from api.questions.schemas.training import LayoutSchema
from api.questions.suggestions import many
from api.questions.values import Values
from api.reports.over_time import at_past_dates
from api.service import Service
from costcalc.catalogue.catalogue import Catalogue
from costcalc.fields import filled
from costcalc.recipes import Recipe
from costcalc.tasks.goals import value_in_words
from costcalc.tasks.tables import MLPERF, Task, benchmark_of, results, tasks
from costcalc.training import Metric
from costcalc.units import in_words

IMAGENET = "imagenet"
MACHINE = ("provider", "instance_type", "nodes", "accelerator", "accelerators")


class TaskRow(Struct, frozen=True):
    """A task: its `model` is what questions name; of ImageNet, any of `/models`. `quality` in `metric` is the target that may be
    left out, null where each network has another; `also` is what else is asked. `starts_from` says what is not trained anew,
    `whole_training` what was spent on the training that the task is a part of. `results` by `organisations` in `rounds` are on
    `fewest_accelerators` to `most_accelerators`; `spread` is the standard deviation of their minutes from run to run, as a
    fraction. `cost` and `hours` are those of the cheapest pick today, null of ImageNet, whose networks cost what each costs, and
    where nothing that trains it is for rent."""

    model: str
    title: str
    dataset: str
    metric: str
    better: str
    quality: float | None
    also: str | None
    unit: str
    sequence_length: int | None
    starts_from: str | None
    whole_training: str | None
    aliases: tuple[str, ...]
    results: int
    organisations: int
    rounds: str
    newest: date
    fewest_accelerators: int
    most_accelerators: int
    spread: float | None
    source: str
    cost: Decimal | None = None
    currency: str = "USD"
    hours: float | None = None
    provider: str | None = None
    instance_type: str | None = None
    nodes: int | None = None
    accelerator: str | None = None
    accelerators: int | None = None


@dataclass(frozen=True, slots=True)
class TasksDocument:
    """The JSON list."""

    tasks: tuple[TaskRow, ...]


@dataclass(frozen=True, slots=True)
class TasksReport:
    """Every task."""

    name: ClassVar = "tasks"
    rest: ClassVar = None
    service: Service
    catalogue: Catalogue

    def rows(self) -> tuple[TaskRow, ...]:
        """ImageNet's first, the others by how many results they have; worked out once for each snapshot and day."""
        name = "tasks", self.service.state(self.catalogue.snapshot), self.service.clock().date()
        return self.service.memory.shelf(False).recall(name, self._worked_out)

    def _worked_out(self) -> tuple[TaskRow, ...]:
        passing = at_past_dates(self.service)
        others = sorted((self._priced(task, passing) for task in tasks().values()), key=lambda row: -row.results)
        return self._imagenet(), *others

    def _priced(self, task: Task, passing: Service) -> TaskRow:
        query, _ = passing.question({"model": [task.name], "limit": ["1"]}, self.catalogue)
        answer = passing.answer(query, self.catalogue)
        if not answer.picks:
            return _row(task)
        machine = {name: getattr(answer.first, name) for name in MACHINE}
        return replace(_row(task), cost=answer.first.billed_cost, hours=answer.first.calendar_hours, **machine)

    def _imagenet(self) -> TaskRow:
        recipes = self.service.evidence.recipes
        counts = [recipe.system.accelerators for recipe in recipes if recipe.system]
        return TaskRow(
            model="any of /models",
            title=Recipe.title,
            dataset=IMAGENET,
            metric=Metric.TOP1,
            better="higher",
            quality=None,
            also=None,
            unit="images",
            sequence_length=None,
            starts_from=None,
            whole_training=None,
            aliases=(),
            results=len(recipes),
            organisations=len({recipe.organisation for recipe in recipes}),
            rounds="",
            newest=max(recipe.known_on for recipe in recipes),
            fewest_accelerators=min(filter(None, counts)),
            most_accelerators=max(counts),
            spread=None,
            source="each recipe names its own",
        )

    def document(self) -> TasksDocument:
        return TasksDocument(self.rows())


def _row(task: Task) -> TaskRow:
    entries = results()[task.name]
    rounds = sorted({entry.round for entry in entries})
    spreads = sorted((entry.minutes_sd or 0.0) / entry.minutes for entry in entries if entry.minutes_sd)
    return filled(
        TaskRow,
        task,
        as_usual=("accelerator", "accelerators", "cost", "currency", "hours", "instance_type", "nodes", "provider"),
        model=task.name,
        results=len(entries),
        organisations=len({entry.organisation for entry in entries}),
        rounds=f"{rounds[0]} to {rounds[-1]}" if len(rounds) > 1 else rounds[0],
        newest=max(entry.published for entry in entries),
        fewest_accelerators=min(entry.accelerators for entry in entries),
        most_accelerators=max(entry.accelerators for entry in entries),
        spread=round(spreads[len(spreads) // 2], 4) if spreads else None,
    )


def tasks_report(service: Service, catalogue: Catalogue, _: Values) -> TasksReport:
    """The report that parsed parameters of `/tasks` ask for."""
    return TasksReport(service, catalogue)


def _task(row: TaskRow) -> str:
    """What the task costs; the list of networks on ImageNet."""
    return "/models" if row.dataset == IMAGENET else leading_to("/", model=row.model)


def _takes(row: Any) -> str:
    return f"{in_words(row.hours)} on {words.accelerators(row)} at {row.provider}" if row.hours else ""


def _counts(row: TaskRow) -> str:
    """The fewest and the most accelerators of its results: `8`, `1 to 4,320`."""
    return " to ".join(f"{count:,}" for count in dict.fromkeys((row.fewest_accelerators, row.most_accelerators)))


def _rounds_of(row: TaskRow) -> str:
    """What a task of MLPerf cost at each round; other benchmarks have no rounds with prices."""
    task = tasks().get(row.model)
    return leading_to("/mlperf", model=row.model) if task and benchmark_of(task) == MLPERF else ""


TABLE = Table(
    "Tasks",
    "What you can ask about besides networks on ImageNet, and the least that each costs today at a confirmed rate on demand. "
    "Give a name as the model; the target may be left out.",
    "task",
    TaskRow,
    (
        Column("Model", lambda row: "networks on ImageNet" if row.dataset == IMAGENET else row.model, lambda row: row.title,
               link=_task),
        Column("Data set", lambda row: row.dataset, leave=2),
        Column("Quality", lambda row: value_in_words(row.metric, row.quality) if row.quality else words.measure(row.metric),
               lambda row: ", and ".join(filter(None, [f"{row.better} is better", row.also])), source=lambda row: row.source),
        Column("Cost today", lambda row: "by network" if row.dataset == IMAGENET else least_cost(row), _takes, is_number=True,
               link=_task),
        Column("Results", lambda row: number(row.results, ","), lambda row: many(row.organisations, "organisation"),
               is_number=True),
        Column("Accelerators", _counts, leave=3),
        Column("Rounds", lambda row: row.rounds, leave=1, link=_rounds_of),
        Column("Run to run", lambda row: number(row.spread, ".1%"), is_number=True, leave=4),
    ),
    beside=(("MLPerf in dollars", "/mlperf/all"), ("Language models by tokens", "/train")),
    find=lambda row: " ".join((row.model, row.title, *row.aliases)),
    example="llama",
)  # fmt: skip

CODE: Code[TasksReport] = Code(LayoutSchema, tasks_report, TasksDocument, TABLE)
