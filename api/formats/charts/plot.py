"""Cost against time as the page draws it: places in percent, so that one drawing fits every width, for a template to write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from api.formats import words
from api.formats.charts.figure import Tick
from api.formats.charts.frame import MOST_COLOURS, REST, SHAPES, Axis, Frame, short
from api.reports.cost import Point, Points
from costcalc.answers import Answer, Estimate, Overview
from costcalc.assumptions import in_words
from costcalc.query import Basis
from costcalc.units import Indices

MOST_DRAWN = 4000  # an estimate takes some 60 bytes of the page and 15 microseconds
FINE = 1000  # units of the drawing of ranges, which is stretched
NEAR = (0.16, 0.06)
BETWEEN_TICKS, LAST_TICK = 0.16, 0.96


class Mark(NamedTuple):
    """A sign at a place, in percent of the plot; `left` says that words beside it stand on its left."""

    x: str
    y: str
    shape: str
    colour: int
    rank: int = 0
    words: str = ""
    left: bool = False


class ColourCount(NamedTuple):
    """A name of the legend with its colour and how many estimates have it."""

    name: str
    colour: int
    many: int


class Segment(NamedTuple):
    """A line between two places."""

    x1: str
    y1: str
    x2: str
    y2: str


class Track(NamedTuple):
    """Where one figure and its range lie between the least and the most of the picture."""

    low: str
    at: str
    high: str


class Card(NamedTuple):
    """What ties a pick to the picture: its sign there, and where its cost and its time lie."""

    shape: str
    colour: int
    cost: Track
    hours: Track


@dataclass(frozen=True, slots=True)
class Plot:
    """All that the picture shows: points by colour, the ranges of all as one path, the frontier with its ranges, and margins for
    what is free and for what costs more than the axis holds. `cards` are the picks by their names. Of very many points only
    every `one_in`-th is drawn, beside the whole frontier; `many_beyond` counts all that cost more."""

    across: list[tuple[str, str]]
    up: list[tuple[str, str]]
    one_in: int
    ranges: str
    behind: list[tuple[int, list[Mark]]]
    steps: list[Segment]
    front_ranges: list[Segment]
    front: list[Mark]
    beyond: list[Mark]
    many_beyond: int
    free: list[Mark]
    names: list[Mark]
    legend: list[ColourCount]
    shapes: list[tuple[str, str]]
    most: str
    cards: dict[str, Card]


def plot(answer: Answer, points: Points) -> Plot:
    """The picture of an answer, all of whose estimates are these points."""
    frame = Frame.of(points, [each.calendar_hours for each in answer.free])
    cost, on_frontier, pickable = points.figures.cost, points.figures.on_frontier, points.figures.pickable
    inside = pickable & (cost > 0) & (cost <= frame.cost.high)
    beyond = np.flatnonzero(pickable & (cost > frame.cost.high))
    front = sorted(points.at(np.flatnonzero(inside & on_frontier)), key=lambda point: point.hours)
    one_in = 1 + int(pickable.sum()) // MOST_DRAWN
    drawn = np.flatnonzero(inside & ~on_frontier)[::one_in]
    return Plot(
        across=[(_percent(frame.hours.at(tick.value)), tick.label) for tick in _spaced(frame.hours)],
        up=[(_down(frame.cost, tick.value), tick.label) for tick in frame.cost.amounts(answer.query.currency)],
        one_in=one_in,
        ranges=_ranges(frame, points.figures, drawn),
        behind=_by_colour(_marks(frame, points, drawn)),
        steps=list(_steps(frame, front)),
        front_ranges=[segment for point in front for segment in _ends(frame, point)],
        front=[_told(frame, point, answer.query.currency) for point in front],
        beyond=list(_marks(frame, points, beyond[::one_in])),
        many_beyond=len(beyond),
        free=list(_free(frame, answer, points.at(np.flatnonzero(pickable & (cost == 0))))),
        names=list(_names(frame, answer)),
        legend=_legend(frame, points),
        shapes=_shapes(points),
        most=short(float(f"{frame.cost.high:.1g}"), answer.query.currency),
        cards={pick.name: card(frame, pick.estimate, answer.query.basis) for pick in answer.picks},
    )


def card(frame: Frame, each: Estimate, basis: Basis) -> Card:
    """How a card shows an estimate that is in the picture."""
    cost, low, high = map(float, each.cost(basis))
    waiting = each.calendar_hours / each.hours
    return Card(
        SHAPES[each.purchase_option],
        frame.colour(each.provider),
        _track(frame.cost, low, cost, high),
        _track(frame.hours, each.hours_low * waiting, each.calendar_hours, each.hours_high * waiting),
    )


def _track(axis: Axis, *values: float) -> Track:
    return Track(*(_percent(axis.at(value)) for value in values))


def _percent(share: float) -> str:
    return f"{share * 100:.2f}%"


def _down(axis: Axis, value: float) -> str:
    return _percent(1 - axis.at(value))


def _spaced(axis: Axis) -> Iterator[Tick]:
    last = -1.0
    for tick in axis.times():
        place = axis.at(tick.value)
        if last + BETWEEN_TICKS <= place <= LAST_TICK:
            last = place
            yield tick


def _mark(frame: Frame, point: Point) -> Mark:
    x, y = _percent(frame.hours.at(point.hours)), _down(frame.cost, point.cost)
    return Mark(x, y, SHAPES[point.purchase_option], frame.colour(point.provider), point.rank)


def _told(frame: Frame, point: Point, currency: str) -> Mark:
    """With its figures in words."""
    nodes = f"{point.nodes} × " if point.nodes > 1 else ""
    bought = point.purchase_option.replace("_", " ")
    told = (
        f"{in_words(point.hours)} ({in_words(point.hours_low)} to {in_words(point.hours_high)}), "
        f"{point.cost:,.2f} {currency} ({point.cost_low:,.2f} to {point.cost_high:,.2f}): "
        f"{point.provider} {nodes}{point.instance_type}, {point.accelerators} × {point.accelerator}, {bought}"
    )
    return _mark(frame, point)._replace(words=told)


def _marks(frame: Frame, points: Points, positions: Indices) -> Iterator[Mark]:
    """The estimates at these positions."""
    across = map(_percent, frame.hours.places(points.figures.hours[positions]).tolist())
    down = map(_percent, (1 - frame.cost.places(points.figures.cost[positions])).tolist())
    for x, y, point in zip(across, down, points.at(positions), strict=True):
        yield Mark(x, y, SHAPES[point.purchase_option], frame.colour(point.provider), point.rank)


def _by_colour(marks: Iterable[Mark]) -> list[tuple[int, list[Mark]]]:
    by_colour: dict[int, list[Mark]] = {}
    for mark in marks:
        by_colour.setdefault(mark.colour, []).append(mark)
    return sorted(by_colour.items(), reverse=True)  # those without a colour of their own lie below


def _ranges(frame: Frame, found: Overview, positions: Indices) -> str:
    """Both ranges of each as a cross, in one SVG path."""
    ends = found.ranges(positions)
    across = map(frame.hours.places, (found.hours[positions], ends.hours_low, ends.hours_high))
    down = (1 - frame.cost.places(each) for each in (found.cost[positions], ends.cost_low, ends.cost_high))
    places = zip(*(np.rint(each * FINE).astype(int).tolist() for each in (*across, *down)), strict=True)
    return "".join(f"M{low} {y}H{high}M{x} {bottom}V{top}" for x, low, high, y, bottom, top in places)


def _ends(frame: Frame, point: Point) -> Iterator[Segment]:
    x, y = _percent(frame.hours.at(point.hours)), _down(frame.cost, point.cost)
    yield Segment(_percent(frame.hours.at(point.hours_low)), y, _percent(frame.hours.at(point.hours_high)), y)
    yield Segment(x, _down(frame.cost, point.cost_low), x, _down(frame.cost, point.cost_high))


def _steps(frame: Frame, front: list[Point]) -> Iterator[Segment]:
    """A cost holds until a faster one is dearer."""
    for point, following in pairwise(front):
        here, there = (
            (_percent(frame.hours.at(each.hours)), _down(frame.cost, each.cost)) for each in (point, following)
        )
        yield Segment(*here, there[0], here[1])
        yield Segment(there[0], here[1], *there)


def _free(frame: Frame, answer: Answer, points: Iterable[Point]) -> Iterator[Mark]:
    """What costs nothing: the free tiers beside the estimates, and these among them."""
    for each in answer.free:
        yield _beside(frame, each)
    for point in points:
        told = f"{point.provider} {point.instance_type}: {in_words(point.hours)}"
        yield _mark(frame, point)._replace(words=told)


def _beside(frame: Frame, each: Estimate) -> Mark:
    at = frame.hours.at(each.calendar_hours)
    told = f"{words.machine(each)}: {in_words(each.calendar_hours)}"
    return Mark(_percent(at), "50%", SHAPES["free"], frame.colour(each.provider), 0, told, at > 1 / 2)


def _names(frame: Frame, answer: Answer) -> Iterator[Mark]:
    """The picks by name; those at one place share their line."""
    named: dict[tuple[float, float], list[str]] = {}
    for pick in answer.picks:
        cost = float(pick.estimate.cost(answer.query.basis).cost)
        if 0 < cost <= frame.cost.high:
            at = frame.hours.at(pick.estimate.calendar_hours), frame.cost.at(cost)
            near = (place for place in named if all(abs(a - b) < n for a, b, n in zip(place, at, NEAR, strict=True)))
            named.setdefault(next(near, at), []).append(pick.name)
    for (x, y), names in named.items():
        yield Mark(_percent(x), _percent(1 - y), "", 0, 0, ", ".join(names), x > 1 / 2)


def _legend(frame: Frame, points: Points) -> list[ColourCount]:
    counted: Counter[str] = Counter()
    for provider, number in points.drawn("provider").items():
        counted[frame.name(provider)] += number
    entries = [ColourCount(name, frame.colour(name), counted[name]) for name in frame.providers if counted[name]]
    rest = [ColourCount(REST, MOST_COLOURS, counted[REST])] if counted[REST] else []
    return sorted(entries, key=lambda entry: -entry.many) + rest


def _shapes(points: Points) -> list[tuple[str, str]]:
    """The shapes that occur with the ways to buy that they stand for."""
    used = points.drawn("purchase")
    by_shape: dict[str, list[str]] = {}
    for option, shape in SHAPES.items():
        if option in used:
            by_shape.setdefault(shape, []).append(option.replace("_", " "))
    return [(shape, ", ".join(options)) for shape, options in by_shape.items()]
