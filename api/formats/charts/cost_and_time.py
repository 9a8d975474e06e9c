"""Cost against time as a picture of its own: what the page draws, with a title and a legend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from markupsafe import Markup, escape

from api.formats.charts.figure import Band, Entry, Figure, Place, grid, nothing
from api.formats.charts.frame import MOST_COLOURS
from api.formats.charts.plot import Chosen, Label, Mark, Plot, plot
from api.reports.glance import Points
from costcalc.answers import Answer
from costcalc.tasks.goals import training_in_words

X_TITLE = "time on the calendar"
Link = Callable[[Mark], str]


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
        area(drawn),
        [*providers, *(Entry(names, MOST_COLOURS, shape) for shape, names in drawn.shapes)],
        below=[Band("free", 24 * len(drawn.free), free(drawn))] if drawn.free else [],
    )


def area(plot: Plot, link: Link | None = None) -> Markup:
    """What lies between the axes; with a `link`, each estimate that one may choose leads to its own address."""
    dearer = f"+{plot.dearer:,} dearer than {plot.most}" if plot.dearer else ""
    return Markup(
        f"{grid((x for x, _ in plot.across), (y for y, _ in plot.up))}"
        f'<g class="behind" aria-hidden="true">{"".join(map(_sign, plot.behind) if link is None else _dots(plot.behind))}</g>'
        f'{_lines("steps ink", pairwise(plot.steps))}{_lines("front-ranges ink thin", plot.ranges)}'
        f'<text class="end" x="100%" dx="-8" y="15">{escape(dearer)}</text>'
        f'{"".join(_front(each, link) for each in plot.chosen)}'
        f'<g class="names ink" aria-hidden="true">{"".join(map(_label, plot.labels))}</g>'
    )  # fmt: skip


def free(plot: Plot) -> Markup:
    """The rows of what is free, one each."""
    height = 100 / max(len(plot.free), 1)
    places = (mark._replace(y=f"{(number + 0.5) * height:.2f}%") for number, mark in enumerate(plot.free))
    return Markup(
        "".join(f'<g class="p{m.colour}">{_sign(m._replace(shape="stroke"))}{_beside(m, 4)}</g>' for m in places)
    )


def _dots(marks: Iterable[Mark]) -> Iterator[str]:
    """All circles as one path, which browsers draw in a fraction of the time of a sign each: ends of lines without length."""
    places: list[Mark] = []
    for mark in marks:
        if mark.shape == "circle":
            places.append(mark)
        else:
            yield _sign(mark)
    path = "".join(f"M{mark.x.rstrip('%')} {mark.y.rstrip('%')}h0" for mark in places)
    yield f'<svg viewBox="0 0 100 100" preserveAspectRatio="none"><path d="{path}"/></svg>'


def _sign(mark: Mark) -> str:
    return f'<use href="#{mark.shape}" x="{mark.x}" y="{mark.y}"/>'


def _beside(mark: Mark, dy: int, inside: str | None = None, css: str = "") -> str:
    side, dx = ("end", -9) if mark.left else ("", 9)
    text = escape(mark.words) if inside is None else inside
    return f'<text class="{side}{css}" x="{mark.x}" y="{mark.y}" dx="{dx}" dy="{dy}">{text}</text>'


def _label(label: Label) -> str:
    name = f"<tspan>{escape(label.names)}</tspan> " if label.names else ""
    figures = f'<tspan class="figures">{escape(label.figures)}</tspan>'
    inside = f'{name}{figures}<tspan class="what">, {escape(label.machine)}</tspan>'
    mark = label.mark._replace(left=label.left)
    return _beside(mark, 15 if label.below else -6, inside, "" if label.names else " more")


def _lines(css: str, ends: Iterable[tuple[Place, Place]]) -> str:
    lines = (f'<line x1="{a.x}" y1="{a.y}" x2="{b.x}" y2="{b.y}"/>' for a, b in ends)
    return f'<g class="{css}" aria-hidden="true">{"".join(lines)}</g>'


def _front(each: Chosen, link: Link | None) -> str:
    mark, words = each.mark, escape(each.mark.words)
    inside = f"<title>{words}</title>{_sign(mark)}"
    if link is None:
        return f'<g class="front p{mark.colour}" role="img" aria-label="{words}">{inside}</g>'
    figures = f'data-cost="{each.cost:.2f}" data-hours="{each.hours:.4f}"'
    return f'<a class="front p{mark.colour}" href="{escape(link(mark))}" aria-label="{words}" {figures}>{inside}</a>'
