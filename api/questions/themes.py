"""Themes of parameters: which belong together in a help text, which people need every day, and how a terminal writes them."""

from __future__ import annotations

import re

from msgspec import Struct


class Theme(Struct, frozen=True):
    """Options that the help shows together, with a sentence that says what they do; `--help` leaves out the `rare` ones."""

    heading: str
    sentence: str
    everyday: str
    rare: str = ""

    @property
    def names(self) -> list[str]:
        return f"{self.everyday} {self.rare}".split()


THEMES = (
    Theme(
        "What to train",
        "When the target counts as reached, and with which recipes.",
        "model target metric training recipe recipes epochs images_per_second",
        "confidence parameters gmacs samples_per_epoch dataset crossing evidence overheads software pipeline compilation "
        "image_size year precision",
    ),
    Theme(
        "Which machines",
        "Only these machines, clouds and regions.",
        "provider region accelerator accelerators nodes own own_price",
        "regions instance_type available max_accelerators max_nodes rates own_years own_resale own_watts electricity pue",
    ),
    Theme("How to buy", "Only these ways to pay.", "purchase term", "payment utilization"),
    Theme(
        "Limits and order",
        "Limits of cost and time, the order, and how much is shown.",
        "budget max_cost max_hours sort limit runs_per_month",
        "pick frontier basis hour_worth offset",
    ),
    Theme(
        "Prices and money",
        "The date of the prices, the currency, your own rates, and what the bill holds.",
        "as_of since until every discount currency runs",
        "max_price_age fx storage_gb storage_rate egress_gb egress_rate",
    ),
    Theme(
        "Output",
        "How the answer is written; its figures stay the same.",
        "format explain to run help help_all",
        "columns excel sep decimal profile focus table label cost_center",
    ),
    Theme(
        "The run",
        "What the log does not say of the run.",
        "name better batch_size samples_per_epoch hours date scheduled_epochs data_set_gb",
    ),
)
OTHER = Theme("Other options", "Whatever else it takes.", "")
ARGUMENTS = ("model", "target")
PARAMETER = re.compile(rf"\b({'|'.join(name for theme in THEMES for name in theme.names if name not in ARGUMENTS)})=")
PATH = re.compile(r"(?<!\S)/(models|offers)\b")


def dashed(name: str) -> str:
    """A parameter's name as an option is written: `max-hours`."""
    return name.replace("_", "-")


def as_options(text: str) -> str:
    """The text with parameters as options and paths as commands: `max_price_age=900` becomes `--max-price-age=900`."""
    return PATH.sub(r"`costcalc \1`", PARAMETER.sub(lambda match: f"--{dashed(match[1])}=", text))
