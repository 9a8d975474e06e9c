"""The chart of the decision: places in percent, so that one drawing fits every width, for the page and for pictures alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from api.formats import words
from api.formats.charts.figure import Place, Tick, across, stepped, up
from api.formats.charts.frame import SHAPES, Axis, Frame, most_shown, short
from api.reports.glance import Point, Points
from costcalc.answers import Answer, Estimate
from costcalc.hardware import counted
from costcalc.money import money
from costcalc.query import Basis
from costcalc.units import Indices, in_words

MOST_DRAWN = 4000  # an estimate takes some 60 bytes of the page and 15 microseconds
MOST_NAMED = 6
APART = 0.11
"""The least distance between two names, as a share of the height of the chart."""
ROOM = 0.64
"""How far to the right a name still fits on the right of its point, where no frontier runs."""
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


class Chosen(NamedTuple):
    """An estimate that one may choose, on the frontier or a pick: its sign, its hours on the calendar and its cost."""

    mark: Mark
    hours: float
    cost: float


class Label(NamedTuple):
    """What is written beside a sign: the names of its picks, its cost and time, and what is rented; on its left or its right,
    above or below it."""

    mark: Mark
    names: str
    figures: str
    machine: str
    left: bool
    below: bool


class Track(NamedTuple):
    """Where one figure and its range lie between the least and the most of the picture."""

    low: str
    at: str
    high: str


class Card(NamedTuple):
    """What ties an estimate to a picture: its sign there, and where its cost and its time lie."""

    shape: str
    colour: int
    cost: Track
    hours: Track


@dataclass(frozen=True, slots=True)
class Plot:
    """All that the chart shows: the axes with their ends, in grey what something beats on both cost and time, in colour what one
    may choose, the ranges of the picks, some names, and a margin for what is free.

    Of very many points only every `one_in`-th is drawn, beside all of the frontier; `dearer` counts those that cost more than
    the chart shows. `signs` are the shape and colour of each pick by its name.
    """

    across: list[tuple[str, str]]
    up: list[tuple[str, str]]
    hours: Axis
    cost: Axis
    one_in: int
    behind: list[Mark]
    steps: list[Place]
    ranges: list[tuple[Place, Place]]
    chosen: list[Chosen]
    labels: list[Label]
    dearer: int
    most: str
    free: list[Mark]
    legend: list[tuple[str, int]]
    shapes: list[tuple[str, str]]
    signs: dict[str, tuple[str, int]]


def plot(answer: Answer, points: Points) -> Plot:
    """The chart of an answer, whose estimates are these points."""
    currency, figures = answer.query.currency, points.figures
    picked = {pick.estimate.rank for pick in answer.picks}
    choosable = figures.on_frontier | np.isin(figures.rank, [*picked])
    most = most_shown(answer)
    shown = (figures.cost > 0) & (figures.cost <= most)
    chosen = sorted(points.at(np.flatnonzero(shown & choosable)), key=lambda point: (point.hours, point.cost))
    frame = Frame.of(points, shown, chosen, [each.calendar_hours for each in answer.free])
    one_in = 1 + figures.every // MOST_DRAWN
    drawn = np.flatnonzero(shown & ~choosable)[:: 1 + len(figures.row) // MOST_DRAWN]
    front = [point for point in chosen if point.frontier]
    return Plot(
        across=across(frame.hours.at, _spaced(frame.hours)),
        up=up(frame.cost.at, frame.cost.amounts(currency)),
        hours=frame.hours,
        cost=frame.cost,
        one_in=one_in,
        behind=list(_marks(frame, points, drawn)),
        steps=stepped([_place(frame, point.hours, point.cost) for point in front]),
        ranges=[line for point in chosen if point.rank in picked for line in _ends(frame, point)],
        chosen=[Chosen(_told(frame, point, currency), point.hours, point.cost) for point in chosen],
        labels=_labels(frame, answer, chosen),
        dearer=points.asked.dearer(most),
        most=short(float(f"{most:.2g}"), currency),
        free=list(_free(frame, answer, points.at(np.flatnonzero(figures.cost == 0)))),
        legend=_legend(frame, chosen),
        shapes=_shapes(points),
        signs=dict(_signs(frame, answer)),
    )


def _signs(frame: Frame, answer: Answer) -> Iterator[tuple[str, tuple[str, int]]]:
    """The sign of each pick by its name, and of what the user owns."""
    yield from ((pick.name, _sign(frame, pick.estimate)) for pick in answer.picks)
    yield from ((words.YOURS, _sign(frame, mine.estimate)) for mine in answer.owned)


def _sign(frame: Frame, each: Estimate) -> tuple[str, int]:
    return SHAPES[each.purchase_option], frame.colour(each.provider)


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


def _spaced(axis: Axis) -> Iterator[Tick]:
    last = -1.0
    for tick in axis.times():
        place = axis.at(tick.value)
        if last + BETWEEN_TICKS <= place <= LAST_TICK:
            last = place
            yield tick


def _mark(frame: Frame, point: Point) -> Mark:
    return Mark(
        *_place(frame, point.hours, point.cost), SHAPES[point.purchase_option], frame.colour(point.provider), point.rank
    )


def _told(frame: Frame, point: Point, currency: str) -> Mark:
    """The point with a sentence: what to rent, its cost and its time."""
    cost, low, high = (
        money(Decimal(f"{amount:.2f}"), currency) for amount in (point.cost, point.cost_low, point.cost_high)
    )
    span = f" ({low} to {high})" if low != high else ""
    hours = f"{in_words(point.hours)} ({in_words(point.hours_low)} to {in_words(point.hours_high)})"
    bought = " ".join(filter(None, [point.purchase_option.replace("_", " "), point.term]))
    title = f"{_rented(point)} at {point.provider} ({_machines(point)}), {bought}: {cost}{span}, {hours}"
    return _mark(frame, point)._replace(words=title)


def _rented(point: Point) -> str:
    return counted(point.accelerators, point.accelerator)


def _machines(point: Point) -> str:
    nodes = f"{point.nodes} x " if point.nodes > 1 else ""
    return words.in_region(f"{nodes}{point.instance_type}", point.region)


def _marks(frame: Frame, points: Points, positions: Indices) -> Iterator[Mark]:
    """The estimates at these positions."""
    across = map(_percent, frame.hours.places(points.figures.hours[positions]).tolist())
    down = map(_percent, (1 - frame.cost.places(points.figures.cost[positions])).tolist())
    for x, y, (rank, provider, option) in zip(across, down, points.sold(positions), strict=True):
        yield Mark(x, y, SHAPES[option], frame.colour(provider), rank)


def _place(frame: Frame, hours: float, cost: float) -> Place:
    return Place.of(frame.hours.at(hours), frame.cost.at(cost))


def _ends(frame: Frame, point: Point) -> Iterator[tuple[Place, Place]]:
    yield _place(frame, point.hours_low, point.cost), _place(frame, point.hours_high, point.cost)
    yield _place(frame, point.hours, point.cost_low), _place(frame, point.hours, point.cost_high)


def _free(frame: Frame, answer: Answer, points: Iterable[Point]) -> Iterator[Mark]:
    """What costs nothing: the free tiers beside the estimates, and these among them."""
    for each in answer.free:
        yield _beside(frame, each)
    for point in points:
        title = f"{point.provider} {point.instance_type}: {in_words(point.hours)}"
        yield _mark(frame, point)._replace(words=title)


def _beside(frame: Frame, each: Estimate) -> Mark:
    at = frame.hours.at(each.calendar_hours)
    title = f"{words.machine(each)}: {in_words(each.calendar_hours)}"
    return Mark(_percent(at), "50%", SHAPES["free"], frame.colour(each.provider), 0, title, at > 1 / 2)


def _shapes(points: Points) -> list[tuple[str, str]]:
    """The shapes that occur with the ways to buy that they stand for."""
    used = points.drawn()
    by_shape: dict[str, list[str]] = {}
    for option, shape in SHAPES.items():
        if option in used:
            by_shape.setdefault(shape, []).append(option.replace("_", " "))
    return [(shape, ", ".join(options)) for shape, options in by_shape.items()]


def _labels(frame: Frame, answer: Answer, chosen: list[Point]) -> list[Label]:
    """Labels of the picks, and of others as far as there is room between them, MOST_NAMED in all."""
    names: dict[int, list[str]] = {}
    for pick in answer.picks:
        names.setdefault(pick.estimate.rank, []).append(pick.name)
    kept: dict[Point, bool] = {}  # with the side
    for point in sorted(chosen, key=lambda point: point.rank not in names):
        height, left = frame.cost.at(point.cost), frame.hours.at(point.hours) > (1 / 2 if point.frontier else ROOM)
        near = [side for each, side in kept.items() if abs(frame.cost.at(each.cost) - height) < APART]
        if len(kept) < MOST_NAMED and not (near and point.rank not in names) and len(near) < 2:
            kept[point] = not near[0] if near else left
    return [
        _label(frame, point, ", ".join(names.get(point.rank, ())), answer.query.currency, left)
        for point, left in kept.items()
    ]


def _label(frame: Frame, point: Point, names: str, currency: str, left: bool) -> Label:
    """Where the frontier does not run: on its left that is below a point of it, and above any other."""
    figures = f"{money(Decimal(f'{point.cost:.2f}'), currency)}, {in_words(point.hours)}"
    return Label(_mark(frame, point), names, figures, _rented(point), left, left and point.frontier)


def _legend(frame: Frame, chosen: list[Point]) -> list[tuple[str, int]]:
    """The providers of what one may choose, with their colours."""
    names = dict.fromkeys(frame.name(point.provider) for point in chosen)
    return sorted(((name, frame.colour(name)) for name in names), key=lambda entry: entry[1])
