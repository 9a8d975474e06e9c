"""Cost against time as a picture of its own: what the page draws, with a title and a legend."""

from __future__ import annotations

from api.formats import words
from api.formats.charts.figure import Band, Entry, Figure, nothing
from api.formats.charts.frame import MOST_COLOURS
from api.formats.charts.marks import area, free
from api.formats.charts.plot import Plot, plot
from api.reports.cost import CostReport


def figure(report: CostReport) -> Figure:
    """The picture of a question's estimates; words in its place where there are none."""
    answer, points = report.answer, report.glance.points
    query = answer.query
    if not len(points.rows):
        return nothing()
    drawn, figures = plot(answer, points), points.figures
    front, pickable = figures.on_frontier.sum(), len(figures.row)
    left_out = f"; one in {drawn.one_in:,} of the others is drawn" if drawn.one_in > 1 else ""
    share = "share of use" if query.basis == "effective" else "to pay"
    return Figure(
        f"{query.model} to {words.goal(query)}: cost against time",
        f"{front:,} of {pickable:,} to pick from are on the frontier{left_out}; prices of {answer.prices.as_of:%Y-%m-%d}",
        drawn.across,
        drawn.up,
        "time on the calendar",
        f"{query.currency} {share}",
        area(drawn),
        list(_legend(drawn)),
        below=[Band("free", 24 * len(drawn.free), free(drawn))] if drawn.free else [],
    )


def _legend(drawn: Plot) -> list[Entry]:
    providers = [Entry(name, colour) for name, colour in drawn.legend]
    return providers + [Entry(names, MOST_COLOURS, shape) for shape, names in drawn.shapes]
