"""`/trend`: what a training cost at past dates."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from api.formats import words
from api.formats.blocks import Block, Chart, Part, Rows, Say
from api.formats.charts import over_time
from api.formats.column import Column
from api.formats.figures import cost_range
from api.formats.tables import Table, day
from api.forms.code import Code
from api.questions.links import narrowed, to_url
from api.reports.over_time import Point
from api.reports.trend import TrendDocument, TrendReport, TrendRow, TrendSchema, trend_report
from costcalc.money import money
from costcalc.units import in_words

NOTHING = "No date has a price of this training."


def _how(row: Point) -> str:
    return f"{words.machine(row.estimate)}, {words.hourly(row.estimate)}; {row.estimate.recipe}"


TABLE = Table(
    "What it cost before",
    "The cheapest machine that one could rent for this training at each date.",
    "date",
    TrendRow,
    (
        Column("Date", lambda row: day(row.date)),
        Column("Cost", lambda row: money(row.cost, row.estimate.currency), is_number=True),
        Column("Time", lambda row: in_words(row.hours), is_number=True),
        Column("Machine", lambda row: words.accelerators(row.estimate), _how),
        Column("What happened", lambda row: row.happened, leave=1),
    ),
    ("model", "target", "provider", "accelerator", "currency", "every"),
)


def blocks(report: TrendReport) -> Iterator[Block]:
    """The verdict, the picture, and the point of each date, which leads to its arithmetic."""

    def arithmetic(row: Point) -> str:
        return to_url(narrowed(replace(report.query, as_of=row.date), row.estimate), "/estimate")

    yield Say(report.document().verdict or [NOTHING], leads=True)
    if report.points:
        yield Chart()
        date, cost, *others = TABLE.columns
        ranged = replace(cost, small=lambda row: cost_range(row.estimate, report.query.basis))
        table = replace(TABLE, columns=(replace(date, link=arithmetic), ranged, *others))
        yield Part("What happened", [Rows(table, report.points)])


CODE: Code[TrendReport] = Code(TrendSchema, trend_report, TrendDocument, TABLE, blocks, figure=over_time.figure)
