"""A picture as SVG: a title, two axes with ticks, marks at places in percent, and a legend. It asks nobody for anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from math import ceil, floor, log10
from textwrap import wrap
from typing import NamedTuple, Protocol

from markupsafe import Markup, escape

from api.questions.errors import Refused

PALETTE = ("#934205", "#12427a", "#0a9f7a", "#d560c5", "#7f3bb4", "#a98520", "#5f6c7a")
"""Distinguishable with every kind of colour blindness; the last is for all that have no colour of their own."""
SIGNS = ("circle", "square", "triangle-up", "diamond")
WIDTH, LEFT, RIGHT, TOP, HEIGHT = 720, 74, 18, 70, 300
NARROW = 360
"""The width of a picture on a phone, in pixels: its words stay as large as on a wide one."""
LAST = 97  # percent: a label further to the right would be cut off
ROW, LETTER = 18, 6.3  # of the legend, and the mean width of a letter, in pixels
TITLE_LETTER, LINE, TICK_WIDTH = 8.0, 16, 48
TIGHT = ".tight{display:none}"
SYMBOLS = (
    '<defs><circle id="circle" r="3.4"/><path id="triangle-up" d="M0-4.6 4.3 3.2H-4.3Z"/><path id="square" d="M-3-3H3V3H-3Z"/>'
    '<path id="diamond" d="M0-4.6 4.6 0 0 4.6-4.6 0Z"/><path id="triangle-down" d="M0 4.6 4.3-3.2H-4.3Z"/>'
    '<path id="cross" d="M-1.3-4.2H1.3V-1.3H4.2V1.3H1.3V4.2H-1.3V1.3H-4.2V-1.3H-1.3Z"/><circle id="stroke" class="ring" r="4"/>'
    '<circle id="ring" class="hollow" r="5.5"/></defs>'
)
_FONT = "system-ui,-apple-system,'Segoe UI',Roboto,sans-serif"
NO_PNG = (
    "this server draws no PNG: it needs the package resvg-py, run: pip install 'costcalc[server]'; ask for .svg instead"
)
ZOOM = 1.5


class Dress(NamedTuple):
    """The colours of a picture."""

    paper: str
    shade: str
    ink: str
    soft: str
    line: str
    palette: tuple[str, ...]

    def rules(self) -> str:
        marks = "".join(f".p{number}{{color:{colour}}}" for number, colour in enumerate(self.palette))
        return (
            f".paper{{fill:{self.paper}}}.shade{{fill:{self.shade}}}text{{fill:{self.soft}}}.ink text,text.ink{{fill:{self.ink}}}"
            f".grid line{{stroke:{self.line}}}.behind{{color:{self.soft}}}.ink,.range{{color:{self.ink}}}"
            f".front use{{stroke:{self.paper}}}{marks}"
        )


LIGHT = Dress("#ffffff", "#f6f7f8", "#171b21", "#57606c", "#e2e5e9", PALETTE)
DARK = Dress(
    "#12151a", "#1a1f26", "#e9ecf0", "#a2abb8", "#2c333d",
    ("#f98417", "#11a1ff", "#5ee4c3", "#c73598", "#8752ea", "#fbd156", "#a1a1a1"),
)  # fmt: skip
STYLE = (
    "text{font-size:11px}.title{font-size:14px;font-weight:600}.middle{text-anchor:middle}.end{text-anchor:end}"
    "use{fill:currentColor}line,.ring,.hollow{stroke:currentColor}.behind{opacity:.35}.faint{opacity:.5}.ring,.hollow{fill:none}"
    "line{stroke-width:1.5}.grid line{stroke-width:1}.dashed line{stroke-dasharray:4 3}.front-ranges{opacity:.35}"
    ".range{fill:currentColor;opacity:.13}.thin line{stroke-width:1}"
    ".names text{font-size:11px}.names tspan:not([class]){font-weight:600}"
    ".names .more,.names .what{opacity:.75}.front use{stroke-width:1}.ring,.hollow{stroke-width:2}"
    f"{LIGHT.rules()}@media(prefers-color-scheme:dark){{{DARK.rules()}}}"
)


class Tick(NamedTuple):
    """A value of an axis and how it is written."""

    value: float
    label: str


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear axis from its low to its high end."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Iterable[float], low: float | None = None) -> Scale:
        """An axis around these values with a little room, or from `low` up."""
        every = list(values)
        least, most = min(every, default=0.0), max(every, default=1.0)
        room = (most - (least if low is None else low)) * 0.05 or abs(most) * 0.05 or 1.0
        return cls(least - room if low is None else low, most + room)

    def at(self, value: float) -> float:
        """The place of a value, from 0 at the low end to 1 at the high end."""
        return (value - self.low) / (self.high - self.low)

    def ticks(self, number: int = 6) -> list[Tick]:
        """About this many round values, 1, 2 or 5 times a power of ten apart."""
        rough = (self.high - self.low) / number
        power = 10.0 ** floor(log10(rough))
        step = next(each * power for each in (1, 2, 5, 10) if each * power >= rough * 0.999)
        digits = max(0, -floor(log10(step) + 1e-9))
        values = [number * step for number in range(ceil(self.low / step), floor(self.high / step) + 1)]
        return [Tick(value, f"{value:,.{digits}f}") for value in values]


class Place(NamedTuple):
    """A place of the area in percent, from its upper left corner."""

    x: str
    y: str

    @classmethod
    def of(cls, across: float, up: float) -> Place:
        return cls(f"{across * 100:.2f}%", f"{(1 - up) * 100:.2f}%")


def across(at: Callable[[float], float], ticks: Iterable[Tick]) -> list[tuple[str, str]]:
    """Ticks as places from the left, with their labels."""
    return [(Place.of(at(tick.value), 0).x, tick.label) for tick in ticks]


def up(at: Callable[[float], float], ticks: Iterable[Tick]) -> list[tuple[str, str]]:
    """Ticks measured from below."""
    return [(Place.of(0, at(tick.value)).y, tick.label) for tick in ticks]


class Entry(NamedTuple):
    """A line of the legend."""

    name: str
    colour: int
    sign: str = "circle"


class Band(NamedTuple):
    """A row below the area, for what its scale of costs does not hold."""

    name: str
    height: int
    marks: str


def line(places: Sequence[Place], css: str) -> str:
    """A line through these places."""
    return lines(pairwise(places), css)


def lines(ends: Iterable[tuple[Place, Place]], css: str, attributes: str = "") -> str:
    """Lines from place to place."""
    parts = (f'<line x1="{a.x}" y1="{a.y}" x2="{b.x}" y2="{b.y}"/>' for a, b in ends)
    return f'<g class="{css}"{attributes}>{"".join(parts)}</g>'


def stepped(places: Sequence[Place]) -> list[Place]:
    """A line that keeps each height until the next place."""
    corners = (Place(b.x, a.y) for a, b in pairwise(places))
    return [place for pair in zip(places, corners, strict=False) for place in pair] + list(places[-1:])


def sign(place: Place, shape: str, css: str, words: str = "") -> str:
    """A sign, with words for whoever points at it or has it read."""
    title = f"<title>{escape(words)}</title>" if words else ""
    label = f' role="img" aria-label="{escape(words)}"' if words else ""
    return f'<g class="{css}"{label}>{title}<use href="#{shape}" x="{place.x}" y="{place.y}"/></g>'


def text(place: Place, words: str, css: str = "", dx: int = 0, dy: int = 0) -> str:
    """Words beside a point."""
    return f'<text class="{css}" x="{place.x}" y="{place.y}" dx="{dx}" dy="{dy}">{escape(words)}</text>'


def grid(across: Iterable[str], up: Iterable[str]) -> str:
    """Lines at the ticks."""
    lines = [f'<line x1="{x}" x2="{x}" y2="100%"/>' for x in across] + [
        f'<line x2="100%" y1="{y}" y2="{y}"/>' for y in up
    ]
    return f'<g class="grid" aria-hidden="true">{"".join(lines)}</g>'


def scale_up(ticks: Iterable[tuple[str, str]], x: str = "0") -> Markup:
    """The labels of the axis at the left, which ends there."""
    labels = (f'<text class="end" x="{x}" y="{y}" dx="-8" dy="4">{escape(label)}</text>' for y, label in ticks)
    return Markup("".join(labels))


def scale_across(ticks: Iterable[tuple[str, str]], title: str) -> Markup:
    """The labels of the axis below, and what it is of."""
    labels = (
        f'<text class="{"end" if float(x.rstrip("%")) > LAST else "middle"}" x="{x}" y="16">{escape(label)}</text>'
        for x, label in ticks
    )
    return Markup(f'{"".join(labels)}<text class="end" x="100%" y="34">{escape(title)}</text>')


@dataclass(frozen=True, slots=True)
class Figure:
    """What is drawn: `across` and `up` are ticks as places in percent with labels, `area` the marks between the axes."""

    title: str
    subtitle: str
    across: Sequence[tuple[str, str]] = ()
    up: Sequence[tuple[str, str]] = ()
    x_title: str = ""
    y_title: str = ""
    area: str = ""
    legend: Sequence[Entry] = ()
    below: Sequence[Band] = ()

    def svg(self, width: int = WIDTH) -> str:
        """The picture in light colours, or in dark ones where the reader prefers these."""
        parts, inner = [], width - LEFT - RIGHT
        top = bottom = TOP + more_lines(width, self.title, self.subtitle)
        inside = f"{scale_up(self.up)}{grid((x for x, _ in self.across), (y for y, _ in self.up))}{self.area}"
        parts.append(
            f'<text x="14" y="{top - 8}">{escape(self.y_title)}</text>'
            f'<rect class="shade" x="{LEFT}" y="{bottom}" width="{inner}" height="{HEIGHT}"/>'
            f"{_nested(inner, bottom, HEIGHT, inside)}"
        )
        bottom += HEIGHT
        for band in self.below:
            top = bottom + 6
            label = f'<text class="end" x="{LEFT - 8}" y="{top + band.height / 2 + 4:g}">{escape(band.name)}</text>'
            shade = f'<rect class="shade" x="{LEFT}" y="{top}" width="{inner}" height="{band.height}"/>'
            parts.append(label + shade + _nested(inner, top, band.height, band.marks))
            bottom += band.height + 6
        ticks = self.across[:: ceil(len(self.across) * TICK_WIDTH / inner) or 1]
        parts.append(_nested(inner, bottom, 40, scale_across(ticks, self.x_title)))
        rows = list(_rows(self.legend, inner))
        parts += [sign for number, row in enumerate(rows) for sign in _legend(row, bottom + 56 + number * ROW)]
        height = bottom + 50 + len(rows) * ROW
        return document(width, height, self.title, self.subtitle, "".join(parts))


def document(width: int, height: int, title: str, subtitle: str, inside: str) -> str:
    """A whole picture of this size in pixels below its title, in light or dark colours."""
    titles, subtitles = _titles(width, title, subtitle)
    heading = [
        f'<text class="title ink" x="14" y="{24 + n * LINE}">{escape(each)}</text>' for n, each in enumerate(titles)
    ]
    heading += [
        f'<text x="14" y="{42 + n * LINE}">{escape(each)}</text>' for n, each in enumerate(subtitles, len(titles) - 1)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="{_FONT}"><title>{escape(title)}</title><style>{STYLE}{TIGHT if width < WIDTH else ""}</style>{SYMBOLS}'
        f'<rect class="paper" width="100%" height="100%"/>{"".join(heading)}{inside}</svg>'
    )


def more_lines(width: int, title: str, subtitle: str) -> int:
    """How many pixels the heading takes beyond a line of each."""
    return LINE * (sum(map(len, _titles(width, title, subtitle))) - 2)


def _titles(width: int, title: str, subtitle: str) -> tuple[list[str], list[str]]:
    """The lines of the title and of the subtitle; a wide picture has room for one of each."""
    if width >= WIDTH:
        return [title], [subtitle]
    room = width - 28
    return wrap(title, int(room / TITLE_LETTER)) or [""], wrap(subtitle, int(room / LETTER)) or [""]


def _nested(width: int, top: int, height: int, inside: str) -> str:
    return f'<svg x="{LEFT}" y="{top}" width="{width}" height="{height}" overflow="visible">{inside}</svg>'


def _rows(legend: Iterable[Entry], inner: int) -> Iterator[list[tuple[float, Entry]]]:
    """The entries with their places from the left, in as many rows as they need."""
    row: list[tuple[float, Entry]] = []
    at = 0.0
    for entry in legend:
        wide = len(entry.name) * LETTER + 32
        if row and at + wide > inner:
            yield row
            row, at = [], 0.0
        row.append((LEFT + 6 + at, entry))
        at += wide
    if row:
        yield row


def _legend(row: Iterable[tuple[float, Entry]], y: float) -> Iterator[str]:
    for x, entry in row:
        yield f'<g class="p{entry.colour}"><use href="#{entry.sign}" x="{x:.0f}" y="{y - 4:g}"/></g>'
        yield f'<text x="{x + 11:.0f}" y="{y:g}">{escape(entry.name)}</text>'


def told_apart(names: Iterable[str]) -> dict[str, Entry]:
    """A colour and a sign for each name; where there are more names than colours, the next sign begins with the first again."""
    every = list(dict.fromkeys(names))
    return {name: Entry(name, n % len(PALETTE), SIGNS[n // len(PALETTE) % len(SIGNS)]) for n, name in enumerate(every)}


def nothing(words: str = "No estimate answers this question.") -> Figure:
    """Words in the place of a picture."""
    return Figure(words, "")


class Drawn(Protocol):
    """What is drawn as SVG."""

    def svg(self, width: int = ...) -> str: ...


def picture(figure: Drawn, kind: str, is_narrow: bool = False) -> bytes:
    """The figure in this form. Raises Refused for PNG where the library that draws it is not installed."""
    svg = figure.svg(NARROW) if is_narrow else figure.svg()
    if kind == "svg":
        return svg.encode()
    if find_spec("resvg_py") is None:
        raise Refused(501, NO_PNG)
    from resvg_py import svg_to_bytes

    return bytes(
        svg_to_bytes(svg_string=svg, zoom=ZOOM, skip_system_fonts=True, font_files=_fonts(), font_family="Roboto")
    )


@cache
def _fonts() -> list[str]:
    from font_roboto import font_files

    return [font_files["Roboto"], font_files["RobotoBold"]]
