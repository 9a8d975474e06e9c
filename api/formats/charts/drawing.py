"""Draws Vega-Lite specifications as PNG and SVG, and brings the scripts with which a browser draws them itself.

Nothing is fetched: the package vl-convert brings Vega, its fonts and all scripts.
"""

from __future__ import annotations

from functools import cache

from api.formats.charts.theme import Json, in_the_dark
from api.formats.charts.vega_process import VEGA
from api.formats.json import to_json

VEGA_LITE = "6.4"
SNIPPET = "window.vegaEmbed = vegaEmbed;"


def picture(chart: Json, kind: str) -> bytes:
    """The chart as PNG or SVG, or its specification as it is. Raises Refused where the library that draws is not installed."""
    return to_json(chart) if kind == "vl" else draw(chart, kind)


def draw(chart: Json, kind: str) -> bytes:
    """The chart as PNG or SVG. Raises Refused where the library that draws is not installed."""
    still = _without_zoom(chart)
    if kind == "svg":
        return in_the_dark(VEGA.call("vegalite_to_svg", still, vl_version=VEGA_LITE, allowed_base_urls=[])).encode()
    return bytes(VEGA.call("vegalite_to_png", still, vl_version=VEGA_LITE, scale=1.5, allowed_base_urls=[]))


def _without_zoom(chart: Json) -> Json:
    """The chart as it stands at first. What can be zoomed is clipped, which takes half of the time that a PNG takes."""
    layers = [{name: part for name, part in layer.items() if name != "params"} for layer in chart.get("layer", ())]
    return {**chart, "layer": layers} if layers else chart


@cache
def scripts() -> bytes:
    """Vega, Vega-Lite and Vega-Embed as one script. Raises Refused likewise."""
    return str(VEGA.call("javascript_bundle", SNIPPET, vl_version=VEGA_LITE)).encode()
