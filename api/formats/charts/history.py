"""The rates of machines over time: a line from the day on which each was first seen to the day on which it was last seen."""

from __future__ import annotations

from api.formats import words
from api.formats.charts.theme import Json, chart, nothing, told_apart
from api.reports.prices.history import HistoryReport


def spec(report: HistoryReport) -> Json:
    """The picture of a history."""
    rows: list[Json] = [
        {"from": f"{row.observed_at:%Y-%m-%d}", "to": f"{row.last_seen_at:%Y-%m-%d}", "rate": float(row.hourly_rate),
         "bought": words.bought(row), "region": row.region, "machine": f"{row.provider} {row.instance_type}",
         "currency": row.currency}
        for row in report.rows()
    ]  # fmt: skip
    if not rows:
        return nothing("No rate of such a machine was ever observed.")
    x: Json = {"field": "from", "type": "temporal", "title": None, "axis": {"format": "%Y-%m", "tickCount": 6}}
    y: Json = {"field": "rate", "type": "quantitative", "title": f"{rows[0]['currency']} per hour, effective"}
    colour, shape = told_apart("bought", (row["bought"] for row in rows))
    told = [{"field": name} for name in rows[0]]
    return chart(
        f"{', '.join(sorted({row['machine'] for row in rows}))}: rates per hour",
        "each line lasts from the first to the last day on which a rate was seen",
        data={"values": rows},
        layer=[
            {"mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1, "opacity": 0.5},
             "encoding": {"x": x, "y": y, "color": colour, "detail": [{"field": "region"}, {"field": "machine"}]}},
            {"mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.7},
             "encoding": {"x": x, "x2": {"field": "to"}, "y": y, "color": colour, "tooltip": told}},
            {"mark": {"type": "point", "filled": True, "size": 28, "opacity": 0.9},
             "encoding": {"x": x, "y": y, "color": colour, "shape": shape, "tooltip": told}},
        ],
    )  # fmt: skip
