"""What a message tells to type, as the page that does it: nobody has a terminal beside a page."""

from __future__ import annotations

import re

from flask import request
from markupsafe import Markup, escape

PAGES = {
    "models": ("/models", "Models"),
    "tasks": ("/tasks", "Tasks"),
    "offers": ("/offers", "Prices"),
    "commitments": ("/commitments", "Commitments"),
    "accuracy": ("/accuracy", "The accuracy that a budget buys"),
    "compare": ("/compare", "Compare"),
    "trend": ("/trend", "Over time"),
    "fit": ("/fit", "Memory"),
    "plan": ("/plan", "Plan"),
    "recipes": ("/recipes", "Your runs"),
    "measure": ("/docs/choosing", "A measurement"),
    "watch": ("/docs/watching", "Watching"),
}
"""What does the same as each command, or the document about it, with its name."""
COMMAND = re.compile(
    rf"`?costcalc ({'|'.join(PAGES)})\b(?: add\b| list\b|(?<=measure) \S+(?= says))?`?|`?(?<!\S)/(models|offers)\b`?"
)


def with_pages(message: str) -> Markup:
    """The message with a link to the page of each command and path that it names."""
    pieces, at = [], 0
    for found in COMMAND.finditer(message):
        path, name = PAGES[found[1] or found[2]]
        link = Markup('<a href="{}{}">{}</a>').format(request.script_root, path, name)
        pieces += [escape(message[at : found.start()]), link]
        at = found.end()
    return Markup().join([*pieces, escape(message[at:])])
