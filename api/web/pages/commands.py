"""What a message tells to type, as the page that does it: nobody has a terminal beside a page."""

from __future__ import annotations

import re

from flask import url_for
from markupsafe import Markup, escape

PAGES = {
    "models": ("questions.models", "Models"),
    "tasks": ("questions.tasks", "Tasks"),
    "offers": ("questions.offers", "Prices"),
    "commitments": ("questions.commitments", "Commitments"),
    "accuracy": ("questions.accuracy", "The accuracy that a budget buys"),
    "compare": ("questions.compare", "Compare"),
    "trend": ("questions.trend", "Over time"),
    "fit": ("questions.fit", "Memory"),
    "plan": ("plan.get_plan", "Plan"),
    "recipes": ("own_runs.own_recipes", "Your runs"),
}
"""The page of each command, with its name in the menu."""
COMMAND = re.compile(rf"`?costcalc ({'|'.join(PAGES)})\b(?: add\b| list\b)?`?|`?(?<!\S)/(models|offers)\b`?")


def with_pages(message: str) -> Markup:
    """The message with a link to the page of each command and path that it names."""
    pieces, at = [], 0
    for found in COMMAND.finditer(message):
        endpoint, name = PAGES[found[1] or found[2]]
        link = Markup('<a href="{}">{}</a>').format(url_for(endpoint), name)
        pieces += [escape(message[at : found.start()]), link]
        at = found.end()
    return Markup().join([*pieces, escape(message[at:])])
