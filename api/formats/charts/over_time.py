"""The price of a training over time: its least cost with the 80 % range, its hours below, and what happened at each change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Protocol

from api.formats import words
from api.formats.charts.figure import Band, Entry, Figure, Place, Scale, across, line, nothing, sign, stepped, text, up
from api.formats.charts.frame import Axis, days, months
from api.reports.over_time import Point
from costcalc.money import money
from costcalc.query import EstimateQuery
from costcalc.units import in_words

SIGNS = {
    "chips": Entry("another machine", 0),
    "recipes": Entry("another recipe", 2, "diamond"),
    "prices": Entry("another rate", 4, "triangle-up"),
    "speeds": Entry("newer measurements", 6, "square"),
}
HOURS_HEIGHT = 70
APART, TIGHT = (0.2, 0.09), (0.5, 0.09)
"""The least distances between two names, as shares of the width and the height: usually, and in a narrow picture."""


class Drawable(Protocol):
    """What has a price at several dates: `drawn` are the words of its heading and what stands below it."""

    drawn: ClassVar[tuple[str, str]]

    @property
    def query(self) -> EstimateQuery: ...

    @property
    def points(self) -> Sequence[Point]: ...


def figure(report: Drawable) -> Figure:
    """The picture of a price over time."""
    points, query = report.points, report.query
    costs = [float(cost) for point in points for cost in point.estimate.cost(query.basis) if cost > 0]
    if not costs:
        return nothing("Nothing was known to reach it on any of these dates.")
    x, y = Scale(days(points[0].date), days(points[-1].date) + 1), Axis.around(costs)
    places = [Place.of(x.at(days(point.date)), y.at(float(point.cost))) for point in points]
    return Figure(
        f"{words.training(query)}: {report.drawn[0]}",
        report.drawn[1],
        across(x.at, months(x)),
        up(y.at, y.amounts(query.currency)),
        "",
        query.currency,
        "".join(_ranges(report, x, y)) + line(stepped(places), "ink") + "".join(_signs(points, places))
        + "".join(_names(points, x, y)),
        [entry for change, entry in SIGNS.items() if any(point.change == change for point in points)],
        [Band("hours", HOURS_HEIGHT, "".join(_hours(points, x)))],
    )  # fmt: skip


def _ranges(report: Drawable, x: Scale, y: Axis) -> Iterator[str]:
    points = report.points
    ends = [x.at(days(point.date)) for point in points[1:]] + [1.0]
    for point, end in zip(points, ends, strict=True):
        _, low, high = map(float, point.estimate.cost(report.query.basis))
        start = x.at(days(point.date))
        upper = Place.of(start, y.at(high))
        height = (y.at(high) - y.at(low)) * 100
        yield (
            f'<rect class="range" x="{upper.x}" y="{upper.y}" width="{(end - start) * 100:.2f}%" height="{height:.2f}%"/>'
        )


def _signs(points: Sequence[Point], places: Sequence[Place]) -> Iterator[str]:
    """A sign where something changed, and one at the end."""
    for point, place in zip(points, places, strict=True):
        if point.change:
            entry = SIGNS[point.change]
            title = f"{point.date:%Y-%m-%d}: {money(point.cost, point.estimate.currency)}, {point.happened}"
            yield sign(place, entry.sign, f"p{entry.colour}", title)
    yield sign(places[-1], "ring", "ink", f"{points[-1].date:%Y-%m-%d}: {_said(points[-1])}")


def _names(points: Sequence[Point], x: Scale, y: Axis) -> Iterator[str]:
    """What was rented, where it changed and there is room."""
    named: list[tuple[float, float]] = []
    for point in (points[0], points[-1], *(each for each in points if each.change == "chips")):
        at = x.at(days(point.date)), y.at(float(point.cost))
        if not _near(at, named, APART):
            css = f"ink{' end' if at[0] > 2 / 3 else ''}{' tight' if _near(at, named, TIGHT) else ''}"
            named.append(at)
            yield text(Place.of(*at), words.accelerators(point.estimate), css, -8 if at[0] > 2 / 3 else 8, -9)


def _near(at: tuple[float, float], others: list[tuple[float, float]], least: tuple[float, float]) -> bool:
    return any(all(abs(a - b) < apart for a, b, apart in zip(at, other, least, strict=True)) for other in others)


def _hours(points: Sequence[Point], x: Scale) -> Iterator[str]:
    y = Axis.around([point.hours for point in points])
    places = [Place.of(x.at(days(point.date)), y.at(point.hours)) for point in points]
    yield line(stepped(places), "p1")
    least, most = (choose(points, key=lambda point: point.hours) for choose in (min, max))
    for point in {each.date: each for each in (least, most, points[-1])}.values():
        at = x.at(days(point.date))
        place, side = Place.of(at, y.at(point.hours)), "end" if at > 1 / 2 else ""
        yield text(place, in_words(point.hours), side, -6 if at > 1 / 2 else 6, 12 if point is most else -5)


def _said(point: Point) -> str:
    each = point.estimate
    return f"{money(point.cost, each.currency)}, {in_words(point.hours)}, {words.accelerators(each)} at {each.provider}"
