"""`/mlperf`: what a task of MLPerf cost at each round."""

from __future__ import annotations

from api.formats.charts import over_time
from api.formats.column import Column, leading_to
from api.formats.tables import Table, day, least_cost
from api.forms.code import Code
from api.reports.mlperf import RoundRow, RoundsDocument, RoundsReport, RoundsSchema, rounds_report
from costcalc.money import money
from costcalc.units import in_words


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
