"""The rates of machines over time: a line from the day on which each was first seen to the day on which it was last seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime

from api.formats import words
from api.formats.charts.figure import Figure, Place, Scale, Tick, line, nothing, sign, told_apart
from api.formats.charts.figure import stepped as steps
from api.reports.prices.history import HistoryReport

MONTHS = (1, 2, 3, 6, 12, 24)
MOST_TICKS = 8


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
        told = f"{float(row.hourly_rate):,.6g} {row.currency} per hour {dates}"
        marks.append(line([first, last], f"p{way.colour}"))
        marks.append(sign(first, way.sign, f"p{way.colour}", f"{told}: {row.provider} {row.region}, {way.name}"))
    thin = (line(steps(places), f"p{ways[key[-1]].colour} thin faint") for key, places in lines.items())
    return Figure(
        f"{', '.join(sorted({f'{row.provider} {row.instance_type}' for row in rows}))}: rates per hour",
        "each line lasts from the first to the last day on which a rate was seen",
        [(Place.of(x.at(tick.value), 0).x, tick.label) for tick in months(x)],
        [(Place.of(0, y.at(tick.value)).y, tick.label) for tick in y.ticks()],
        "",
        f"{rows[0].currency} per hour, effective",
        "".join((*thin, *marks)),
        list(ways.values()),
    )


def days(moment: datetime | date) -> float:
    """A moment as a number of days, for an axis."""
    return float(moment.toordinal())


def months(scale: Scale) -> Sequence[Tick]:
    """First days of months, as far apart as needed."""
    return next((ticks for step in MONTHS if len(ticks := list(_months(scale, step))) <= MOST_TICKS), [])


def _months(scale: Scale, step: int) -> Iterator[Tick]:
    first, last = (date.fromordinal(int(end)) for end in (scale.low, scale.high))
    for number in range(first.year * 12, last.year * 12 + 12, step):
        day = date(number // 12, number % 12 + 1, 1)
        if scale.low <= day.toordinal() <= scale.high:
            yield Tick(float(day.toordinal()), f"{day:%Y-%m}")
