"""`/tasks`: every task besides ImageNet."""

from __future__ import annotations

from typing import Any

from api.formats import words
from api.formats.column import Column, leading_to
from api.formats.tables import Table, least_cost, number
from api.forms.code import Code
from api.questions.schemas.training import LayoutSchema
from api.questions.suggestions import many
from api.reports.tasks import IMAGENET, TaskRow, TasksDocument, TasksReport, tasks_report
from costcalc.tasks.goals import value_in_words
from costcalc.tasks.tables import MLPERF, benchmark_of, tasks
from costcalc.units import in_words


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
