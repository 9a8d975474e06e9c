"""Cost against time: on the page, where estimates lead to their own addresses, and as a picture with title and legend.

Places are in percent, so that one drawing fits every width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from markupsafe import Markup, escape

from api.formats import words
from api.formats.charts.figure import (
    Band,
    Entry,
    Figure,
    Place,
    Tick,
    across,
    grid,
    lines,
    nothing,
    sign,
    stepped,
    text,
    up,
)
from api.formats.charts.frame import MOST_COLOURS, SHAPES, Axis, Frame, most_shown, short
from api.reports.glance import Point, Points
from costcalc.answers import Answer, Estimate
from costcalc.hardware import counted
from costcalc.money import money
from costcalc.query import Basis
from costcalc.tasks.goals import training_in_words
from costcalc.units import Indices, in_words

X_TITLE = "time on the calendar"
MOST_DRAWN = 4000  # an estimate takes some 60 bytes of the page and 15 microseconds
MOST_NAMED = 6
APART = 0.11
"""The least distance between two names, as a share of the height of the chart."""
ROOM = 0.64
"""How far to the right a name still fits on the right of its point, where no frontier runs."""
BETWEEN_TICKS, LAST_TICK = 0.16, 0.96
HIDDEN = ' aria-hidden="true"'
FREE_HEIGHT = 24

Link = Callable[[int], str]
"""The address of the estimate with this rank."""


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
    """All that the chart shows. In the `area`, what something beats on both cost and time is grey, and what one may choose has
    colour, those on the frontier a line through them, the picks their ranges and names; below it are rows of what is free.

    Of very many points only every `one_in`-th is drawn, beside all of the frontier; `dearer` counts those that cost more than
    the chart shows. `signs` are the shape and colour of each pick by its name.
    """

    frame: Frame
    across: list[tuple[str, str]]
    up: list[tuple[str, str]]
    area: Markup
    free: Markup
    free_height: int
    one_in: int
    dearer: int
    most: str
    legend: list[tuple[str, int]]
    shapes: list[tuple[str, str]]
    signs: dict[str, tuple[str, int]]


def figure(answer: Answer, points: Points) -> Figure:
    """The picture of an answer whose estimates are these points; words in its place where there are none."""
    query = answer.query
    if not points.totals.every:
        return nothing()
    drawn, figures = plot(answer, points), points.figures
    front, pickable = figures.on_frontier.sum(), figures.every
    left_out = f"; one in {drawn.one_in:,} of the others is drawn" if drawn.one_in > 1 else ""
    share = "share of use" if query.basis == "effective" else "to pay"
    providers = [Entry(name, colour) for name, colour in drawn.legend]
    return Figure(
        f"{training_in_words(query)}: cost against time",
        f"{front:,} of {pickable:,} to pick from are on the frontier{left_out}; prices of {answer.prices.as_of:%Y-%m-%d}",
        drawn.across,
        drawn.up,
        X_TITLE,
        f"{query.currency} {share}",
        drawn.area,
        [*providers, *(Entry(names, MOST_COLOURS, shape) for shape, names in drawn.shapes)],
        below=[Band("free", drawn.free_height, drawn.free)] if drawn.free else [],
    )


def plot(answer: Answer, points: Points, link: Link | None = None) -> Plot:
    """The chart of an answer, whose estimates are these points; with a `link`, each that one may choose leads to its address."""
    currency, figures, most = answer.query.currency, points.figures, most_shown(answer)
    shown = (figures.cost > 0) & (figures.cost <= most)
    picked = {pick.estimate.rank for pick in answer.picks}
    choosable = shown & (figures.on_frontier | np.isin(figures.rank, [*picked]))
    chosen = sorted(points.at(np.flatnonzero(choosable)), key=lambda point: (point.hours, point.cost))
    frame = Frame.of(points, shown, chosen, [each.calendar_hours for each in answer.free])
    hours, costs = across(frame.hours.at, _spaced(frame.hours)), up(frame.cost.at, frame.cost.amounts(currency))
    dearer, end = points.asked.dearer(most), short(float(f"{most:.2g}"), currency)
    behind = _signs(frame, points, np.flatnonzero(shown & ~choosable)[:: 1 + len(figures.row) // MOST_DRAWN])
    area = (
        f"{grid((x for x, _ in hours), (y for y, _ in costs))}"
        f'<g class="behind"{HIDDEN}>{"".join(_uses(behind) if link is None else _dots(behind))}</g>'
        f"{_frontier(frame, chosen)}{_ranges(frame, (point for point in chosen if point.rank in picked))}"
        f'<text class="end" x="100%" dx="-8" y="15">{f"+{dearer:,} dearer than {escape(end)}" if dearer else ""}</text>'
        f'{"".join(_choosable(frame, point, currency, link) for point in chosen)}'
        f'<g class="names ink"{HIDDEN}>{"".join(_labels(frame, answer, chosen))}</g>'
    )  # fmt: skip
    free = [*_free(frame, answer, points.at(np.flatnonzero(figures.cost == 0)))]
    return Plot(
        frame,
        hours,
        costs,
        Markup(area),
        _rows(frame, free),
        FREE_HEIGHT * len(free),
        one_in=1 + figures.every // MOST_DRAWN,
        dearer=dearer,
        most=end,
        legend=_legend(frame, chosen),
        shapes=_shapes(points),
        signs=_signs_of_picks(frame, answer),
    )


def card(frame: Frame, each: Estimate, basis: Basis) -> Card:
    """How a card shows an estimate that is in the picture."""
    cost, low, high = map(float, each.cost(basis))
    waiting = each.calendar_hours / each.hours
    hours = (each.hours_low * waiting, each.calendar_hours, each.hours_high * waiting)
    return Card(*_sign_of(frame, each), _track(frame.cost, low, cost, high), _track(frame.hours, *hours))


def _track(axis: Axis, *values: float) -> Track:
    return Track(*(_percent(axis.at(value)) for value in values))


def _sign_of(frame: Frame, each: Estimate) -> tuple[str, int]:
    return SHAPES[each.purchase_option], frame.colour(each.provider)


def _percent(share: float) -> str:
    return f"{share * 100:.2f}%"


def _place(frame: Frame, hours: float, cost: float) -> Place:
    return Place.of(frame.hours.at(hours), frame.cost.at(cost))


def _spaced(axis: Axis) -> Iterator[Tick]:
    last = -1.0
    for tick in axis.times():
        place = axis.at(tick.value)
        if last + BETWEEN_TICKS <= place <= LAST_TICK:
            last = place
            yield tick


def _signs(frame: Frame, points: Points, positions: Indices) -> Iterator[tuple[Place, str]]:
    """The places and shapes of the estimates at these positions."""
    across = map(_percent, frame.hours.places(points.figures.hours[positions]).tolist())
    down = map(_percent, (1 - frame.cost.places(points.figures.cost[positions])).tolist())
    for x, y, (_, _, option) in zip(across, down, points.sold(positions), strict=True):
        yield Place(x, y), SHAPES[option]


def _uses(signs: Iterable[tuple[Place, str]]) -> Iterator[str]:
    return (f'<use href="#{shape}" x="{place.x}" y="{place.y}"/>' for place, shape in signs)


def _dots(signs: Iterable[tuple[Place, str]]) -> Iterator[str]:
    """All circles as one path, which browsers draw in a fraction of the time of a sign each: ends of lines without length."""
    every = [*signs]
    yield from _uses(each for each in every if each[1] != "circle")
    path = "".join(f"M{place.x.rstrip('%')} {place.y.rstrip('%')}h0" for place, shape in every if shape == "circle")
    yield f'<svg viewBox="0 0 100 100" preserveAspectRatio="none"><path d="{path}"/></svg>'


def _frontier(frame: Frame, chosen: Iterable[Point]) -> str:
    places = [_place(frame, point.hours, point.cost) for point in chosen if point.frontier]
    return lines(pairwise(stepped(places)), "steps ink", HIDDEN)


def _ranges(frame: Frame, picked: Iterable[Point]) -> str:
    ends: list[tuple[Place, Place]] = []
    for point in picked:
        ends.append((_place(frame, point.hours_low, point.cost), _place(frame, point.hours_high, point.cost)))
        ends.append((_place(frame, point.hours, point.cost_low), _place(frame, point.hours, point.cost_high)))
    return lines(ends, "front-ranges ink thin", HIDDEN)


def _choosable(frame: Frame, point: Point, currency: str, link: Link | None) -> str:
    """The sign of what one may choose, with a sentence: what to rent, its cost and its time."""
    place, shape = _place(frame, point.hours, point.cost), SHAPES[point.purchase_option]
    css, sentence = f"front p{frame.colour(point.provider)}", _sentence(point, currency)
    if link is None:
        return sign(place, shape, css, sentence)
    inside = "".join([f"<title>{escape(sentence)}</title>", *_uses([(place, shape)])])
    figures = f'data-cost="{point.cost:.2f}" data-hours="{point.hours:.4f}"'
    return f'<a class="{css}" href="{escape(link(point.rank))}" aria-label="{escape(sentence)}" {figures}>{inside}</a>'


def _sentence(point: Point, currency: str) -> str:
    cost, low, high = (_money(amount, currency) for amount in (point.cost, point.cost_low, point.cost_high))
    span = f" ({low} to {high})" if low != high else ""
    hours = f"{in_words(point.hours)} ({in_words(point.hours_low)} to {in_words(point.hours_high)})"
    bought = " ".join(filter(None, [point.purchase_option.replace("_", " "), point.term]))
    nodes = f"{point.nodes} x " if point.nodes > 1 else ""
    machines = words.in_region(f"{nodes}{point.instance_type}", point.region)
    return f"{_rented(point)} at {point.provider} ({machines}), {bought}: {cost}{span}, {hours}"


def _rented(point: Point) -> str:
    return counted(point.accelerators, point.accelerator)


def _money(amount: float, currency: str) -> str:
    return money(Decimal(f"{amount:.2f}"), currency)


def _free(frame: Frame, answer: Answer, points: Iterable[Point]) -> Iterator[tuple[float, str, str, bool]]:
    """What costs nothing, the free tiers beside the estimates and those of these: the place across, the provider, and words,
    with whether they stand on the left."""
    for each in answer.free:
        at = frame.hours.at(each.calendar_hours)
        yield at, each.provider, f"{words.machine(each)}: {in_words(each.calendar_hours)}", at > 1 / 2
    for point in points:
        title = f"{point.provider} {point.instance_type}: {in_words(point.hours)}"
        yield frame.hours.at(point.hours), point.provider, title, False


def _rows(frame: Frame, free: list[tuple[float, str, str, bool]]) -> Markup:
    """A row for each of these."""
    rows = []
    for number, (at, provider, title, left) in enumerate(free):
        place = Place(_percent(at), f"{(number + 0.5) * 100 / len(free):.2f}%")
        inside = "".join([*_uses([(place, "stroke")]), _beside(place, title, left, 4)])
        rows.append(f'<g class="p{frame.colour(provider)}">{inside}</g>')
    return Markup("".join(rows))


def _beside(place: Place, words: str, left: bool, dy: int, css: str = "") -> str:
    side, dx = ("end", -9) if left else ("", 9)
    return text(place, words, f"{side}{css}", dx, dy)


def _labels(frame: Frame, answer: Answer, chosen: list[Point]) -> Iterator[str]:
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
    for point, left in kept.items():
        yield _label(frame, point, ", ".join(names.get(point.rank, ())), answer.query.currency, left)


def _label(frame: Frame, point: Point, names: str, currency: str, left: bool) -> str:
    """Where the frontier does not run: on its left that is below a point of it, and above any other."""
    name = f"<tspan>{escape(names)}</tspan> " if names else ""
    figures = f"{_money(point.cost, currency)}, {in_words(point.hours)}"
    inside = (
        f'{name}<tspan class="figures">{escape(figures)}</tspan><tspan class="what">, {escape(_rented(point))}</tspan>'
    )
    place, dy = _place(frame, point.hours, point.cost), 15 if left and point.frontier else -6
    return _beside(place, Markup(inside), left, dy, "" if names else " more")


def _signs_of_picks(frame: Frame, answer: Answer) -> dict[str, tuple[str, int]]:
    named = [(pick.name, pick.estimate) for pick in answer.picks]
    owned = [(words.YOURS, mine.estimate) for mine in answer.owned]
    return {name: _sign_of(frame, each) for name, each in (*named, *owned)}


def _legend(frame: Frame, chosen: Iterable[Point]) -> list[tuple[str, int]]:
    """The providers of what one may choose, with their colours."""
    names = dict.fromkeys(frame.name(point.provider) for point in chosen)
    return sorted(((name, frame.colour(name)) for name in names), key=lambda entry: entry[1])


def _shapes(points: Points) -> list[tuple[str, str]]:
    """The shapes that occur with the ways to buy that they stand for."""
    used = points.drawn()
    by_shape: dict[str, list[str]] = {}
    for option, shape in SHAPES.items():
        if option in used:
            by_shape.setdefault(shape, []).append(option.replace("_", " "))
    return [(shape, ", ".join(options)) for shape, options in by_shape.items()]
