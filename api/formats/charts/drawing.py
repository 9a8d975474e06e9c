"""A picture as SVG or as PNG; resvg draws the PNG with the packaged fonts, so that every machine draws the same."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Protocol

from api.formats.charts.figure import NARROW
from api.questions.errors import Refused

NO_PNG = (
    "this server draws no PNG: it needs the package resvg-py, run: pip install 'costcalc[server]'; ask for .svg instead"
)
ZOOM = 1.5


class Drawn(Protocol):
    """What is drawn as SVG."""

    def svg(self, width: int = ...) -> str:
        """The picture, as wide as it is meant to be or of another width in pixels."""
        ...


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
