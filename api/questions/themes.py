"""Themes of parameters: which belong together in a help text, and how a terminal writes them."""

from __future__ import annotations

import re

from msgspec import Struct

from costcalc.parameters import Part


class Theme(Struct, frozen=True):
    """Parameters that the help shows together, with a sentence that says what they do."""

    heading: str
    sentence: str
    parts: tuple[Part, ...]


THEMES = (
    Theme(
        "What to train",
        "When the target counts as reached, and with which recipes.",
        ("goal", "recipe", "described", "stated", "language"),
    ),
    Theme("Which machines", "Only these machines, clouds and regions.", ("machine", "count", "own", "owned")),
    Theme("How to buy", "Only these ways to pay.", ("purchase", "share")),
    Theme(
        "Limits and order",
        "Limits of cost and time, the order, and how much is shown.",
        ("limit", "order", "pick", "page"),
    ),
    Theme(
        "Prices and money",
        "The date of the prices, the currency, your own rates, and what the bill holds.",
        ("date", "price", "money", "bill"),
    ),
    Theme("The run", "What the log does not say of the run.", ("run",)),
    Theme(
        "Output",
        "How the answer is written; its figures stay the same.",
        ("layout", "sheet", "focus", "brief", "words"),
    ),
)
THEME_OF = {part: theme for theme in THEMES for part in theme.parts}
ARGUMENTS = ("model", "target")
PARAMETER = re.compile(rf"(?<![\w?&-])(?!(?:{'|'.join(ARGUMENTS)})=)([a-z]+(?:_[a-z]+)*)=(?!=)")
PATH = re.compile(r"(?<!\S)/(models|offers)\b")


def dashed(name: str) -> str:
    """A parameter's name as an option is written: `max-hours`."""
    return name.replace("_", "-")


def as_options(text: str) -> str:
    """The text with parameters as options and paths as commands: `max_price_age=900` becomes `--max-price-age=900`."""
    return PATH.sub(r"`costcalc \1`", PARAMETER.sub(lambda match: f"--{dashed(match[1])}=", text))
