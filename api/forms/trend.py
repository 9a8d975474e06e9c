"""`/trend`: what a training cost at past dates."""

from __future__ import annotations

from msgspec.structs import replace

from api.formats import words
from api.formats.charts import over_time
from api.formats.charts.frame import days
from api.formats.column import Column
from api.formats.page import Headline, Page
from api.formats.tables import Table, day, number
from api.forms.code import Code
from api.reports.trend import TrendDocument, TrendReport, TrendRow, TrendSchema, trend_report
from costcalc.money import money

FIELDS = (("model", "Model", "resnet50"), ("target", "Target", "0.757"), ("provider", "Provider", "aws"),
          ("accelerator", "Accelerator", "H100"), ("currency", "Currency", "EUR"))  # fmt: skip

TABLE = Table(
    "What it cost before",
    "The cheapest machine that one could rent for this training at each date.",
    "date",
    TrendRow,
    (
        Column("Date", lambda row: day(row.date)),
        Column("Cost", lambda row: money(row.cost, row.currency), is_number=True),
        Column("Hours", lambda row: number(row.hours, ",.2f"), is_number=True),
        Column("Machine", lambda row: f"{row.provider} {row.instance_type}", words.accelerators),
        Column("Recipe", lambda row: row.recipe, leave=1),
        Column("What happened", lambda row: row.happened, leave=2),
    ),
    ("model", "target", "provider", "accelerator", "currency"),
)


def html(report: TrendReport) -> Page:
    """The verdict, the chart, what happened, and the point of each date with its arithmetic."""
    document = report.document()
    moments = [days(point.date) for point in document.points]
    shown = {
        "document": document,
        "headline": Headline.of(document.verdict),
        "fields": FIELDS,
        "places": [(moment - moments[0]) / (moments[-1] + 1 - moments[0]) for moment in moments],
        "on_its_day": lambda point: replace(report.query, as_of=point.date),
        "query": report.query,
    }
    return Page("trend.html", shown)


CODE: Code[TrendReport] = Code(TrendSchema, trend_report, TrendDocument, TABLE, html=html, figure=over_time.figure)
