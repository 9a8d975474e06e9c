"""The marks of cost against time as SVG, for the page and for pictures alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from markupsafe import Markup, escape

from api.formats.charts.figure import grid
from api.formats.charts.plot import Mark, Plot, Segment

Link = Callable[[Mark], str]


def area(plot: Plot, link: Link | None = None) -> Markup:
    """What lies between the axes; with a `link`, each estimate on the frontier leads to its own address."""
    behind = "".join(
        f'<g class="behind p{colour}" aria-hidden="true">{"".join(map(_sign, marks))}</g>'
        for colour, marks in plot.behind
    )
    names = "".join(_beside(mark, -9) for mark in plot.names)
    return Markup(
        f"{grid((x for x, _ in plot.across), (y for y, _ in plot.up))}"
        '<svg viewBox="0 0 1000 1000" preserveAspectRatio="none" width="100%" height="100%" aria-hidden="true">'
        f'<path class="ranges" d="{plot.ranges}"/></svg>{behind}{_lines("steps ink", plot.steps)}'
        f'{_lines("front-ranges ink thin", plot.front_ranges)}{"".join(_front(mark, link) for mark in plot.front)}'
        f'<g class="names ink" aria-hidden="true">{names}</g>'
    )  # fmt: skip


def dearer(plot: Plot) -> Markup:
    """The row of what costs more than the axis holds."""
    uses = (f'<use href="#{m.shape}" class="p{m.colour}" x="{m.x}" y="50%"/>' for m in plot.beyond)
    return Markup(f'<g class="beyond" aria-hidden="true">{"".join(uses)}</g>')


def free(plot: Plot) -> Markup:
    """The rows of what is free, one each."""
    height = 100 / max(len(plot.free), 1)
    places = (mark._replace(y=f"{(number + 0.5) * height:.2f}%") for number, mark in enumerate(plot.free))
    return Markup(
        "".join(f'<g class="p{m.colour}">{_sign(m._replace(shape="stroke"))}{_beside(m, 4)}</g>' for m in places)
    )


def _sign(mark: Mark) -> str:
    return f'<use href="#{mark.shape}" x="{mark.x}" y="{mark.y}"/>'


def _beside(mark: Mark, dy: int) -> str:
    side, dx = ("end", -9) if mark.left else ("", 9)
    return f'<text class="{side}" x="{mark.x}" y="{mark.y}" dx="{dx}" dy="{dy}">{escape(mark.words)}</text>'


def _lines(css: str, segments: Iterable[Segment]) -> str:
    lines = (f'<line x1="{each.x1}" y1="{each.y1}" x2="{each.x2}" y2="{each.y2}"/>' for each in segments)
    return f'<g class="{css}" aria-hidden="true">{"".join(lines)}</g>'


def _front(mark: Mark, link: Link | None) -> str:
    words = escape(mark.words)
    inside = f"<title>{words}</title>{_sign(mark)}"
    if link is None:
        return f'<g class="front p{mark.colour}" role="img" aria-label="{words}">{inside}</g>'
    return f'<a class="front p{mark.colour}" href="{escape(link(mark))}" aria-label="{words}">{inside}</a>'
