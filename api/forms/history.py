"""`/offers/history`: every rate ever observed of a machine."""

from __future__ import annotations

from api.formats import words
from api.formats.charts.figure import Figure, Place, Scale, across, line, nothing, sign, stepped, told_apart, up
from api.formats.charts.frame import days, months
from api.formats.column import Column
from api.formats.tables import BOUGHT, MACHINE, RATE, SEEN, Table, day
from api.forms.code import Code
from api.reports.prices.history import HistoryDocument, HistoryReport, HistoryRow, HistorySchema, history_report

TABLE = Table(
    "History of a rate",
    "Every rate that was observed for a machine, and when each was first and last seen.",
    "rate",
    HistoryRow,
    (MACHINE, BOUGHT, RATE, SEEN, Column("Last seen", lambda row: day(row.last_seen_at))),
    ("instance_type", "provider", "region", "purchase", "since", "until"),
    lambda document: f"until {day(document.until)}",
)


def figure(report: HistoryReport) -> Figure:
    """The picture of a history."""
    rows = list(report.rows())
    if not rows:
        return nothing("No rate of such a machine was ever observed.")
    x = Scale.around([days(moment) for row in rows for moment in (row.observed_at, row.last_seen_at)])
    y = Scale.around([float(row.hourly_rate) for row in rows], 0.0)
    ways = told_apart(words.bought(row) for row in rows)
    lines: dict[tuple[str, ...], list[Place]] = {}
    marks = []
    for row in rows:
        way = ways[words.bought(row)]
        first, last = (
            Place.of(x.at(days(at)), y.at(float(row.hourly_rate))) for at in (row.observed_at, row.last_seen_at)
        )
        lines.setdefault((row.provider, row.instance_type, row.region, way.name), []).append(first)
        dates = f"from {row.observed_at:%Y-%m-%d} to {row.last_seen_at:%Y-%m-%d}"
        title = f"{float(row.hourly_rate):,.6g} {row.currency} per hour {dates}"
        marks.append(line([first, last], f"p{way.colour}"))
        marks.append(sign(first, way.sign, f"p{way.colour}", f"{title}: {row.provider} {row.region}, {way.name}"))
    thin = (line(stepped(places), f"p{ways[key[-1]].colour} thin faint") for key, places in lines.items())
    return Figure(
        f"{', '.join(sorted({f'{row.provider} {row.instance_type}' for row in rows}))}: rates per hour",
        "each line lasts from the first to the last day on which a rate was seen",
        across(x.at, months(x)),
        up(y.at, y.ticks()),
        "",
        f"{rows[0].currency} per hour, effective",
        "".join((*thin, *marks)),
        list(ways.values()),
    )


CODE: Code[HistoryReport] = Code(HistorySchema, history_report, HistoryDocument, TABLE, figure=figure)
