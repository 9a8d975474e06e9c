"""Colours and fonts of every chart, in a light and a dark dress."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]

INK, QUIET, LINE, PAPER, STRONG = "#171b21", "#57606c", "#e2e5e9", "#ffffff", "#0b62b0"
PALETTE = ("#934205", "#12427a", "#0a9f7a", "#d560c5", "#7f3bb4", "#a98520", "#5f6c7a")
"""Told apart whatever cones an eye lacks; the last is for all that have no colour of their own."""
DARK = {
    INK: "#e9ecf0", QUIET: "#a2abb8", LINE: "#2c333d", PAPER: "#12151a", STRONG: "#7dbcf7",
    **dict(zip(PALETTE, ("#f98417", "#11a1ff", "#5ee4c3", "#c73598", "#8752ea", "#fbd156", "#a1a1a1"), strict=True)),
}  # fmt: skip
"""What stands for each colour where the reader prefers a dark screen."""
SIGNS = ("circle", "square", "triangle-up", "diamond")
WIDTH, HEIGHT = 640, 360
MONEY = {"labelExpr": "datum.value < 1 ? format(datum.value, '.2~f') : format(datum.value, '~s')", "tickCount": 6}
"""An axis of amounts."""
_TEXT = {
    "labelColor": QUIET,
    "titleColor": QUIET,
    "titleFontWeight": "normal",
    "labelFontSize": 11,
    "titleFontSize": 11,
}
CONFIG: Json = {
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {**_TEXT, "gridColor": LINE, "domainColor": LINE, "tickColor": LINE},
    "legend": {**_TEXT, "orient": "bottom", "columns": 3, "labelLimit": 240, "symbolOpacity": 1},
    "title": {"color": INK, "subtitleColor": QUIET, "fontSize": 13, "anchor": "start"},
    "text": {"fontSize": 11},
}


def chart(title: str, subtitle: str, **content: Any) -> Json:
    """A Vega-Lite specification in this dress; `usermeta` tells who draws it which colour stands for which in the dark."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "usermeta": {"dark": DARK},
        "title": {"text": title, "subtitle": subtitle},
        "width": WIDTH, "height": HEIGHT, "background": PAPER, "config": CONFIG,
        **content,
    }  # fmt: skip


def told_apart(field: str, names: Iterable[str]) -> tuple[Json, Json]:
    """A colour and a sign for each name of a field; where there are more names than colours, the next sign begins with the first
    colour again."""
    known = list(dict.fromkeys(names))
    signs = [SIGNS[number // len(PALETTE) % len(SIGNS)] for number in range(len(known))]
    colour, shape = (
        {"field": field, "type": "nominal", "title": None, "scale": {"domain": known, "range": marks}}
        for marks in (PALETTE, signs)
    )
    return colour, shape


def nothing(words: str = "No estimate answers this question.") -> Json:
    """Words in the place of a picture."""
    return chart("", "", data={"values": [{}]}, mark={"type": "text", "text": words, "color": INK})


def in_the_dark(svg: str) -> str:
    """The drawing with the colours that a reader sees who prefers a dark screen."""
    rules = "".join(
        f'[fill="{light}"]{{fill:{dark}}}[stroke="{light}"]{{stroke:{dark}}}' for light, dark in DARK.items()
    )
    start = svg.index(">") + 1
    return f"{svg[:start]}<style>@media(prefers-color-scheme:dark){{{rules}}}</style>{svg[start:]}"
