"""The card of an answer: what its verdict says, and what to do next as a button or a link to a page."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from flask import request
from markupsafe import Markup, escape

from api.formats.page import Headline
from api.reports.by_tokens import what_is_trained
from api.reports.goal import goal
from api.reports.next_step import does
from costcalc.answers import Answer
from costcalc.query import EstimateQuery

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
STEPS = {"/launch": "Launch file", "/commitments": "Commitments", "/estimate": "Why this rate"}
"""What the button of a step is called, by the page that it opens; of other addresses their host."""


class NextStep(NamedTuple):
    """What to do next: a button's words and address, both None where nothing is to be opened, and what comes of it."""

    name: str | None
    link: str | None
    does: str


def headline_of(answer: Answer, query: EstimateQuery) -> Headline:
    """The verdict without what the page has a link for."""
    said = answer.verdict[:-1] if answer.next else answer.verdict
    lines = [line for line in said if answer.picks or not line.startswith("Instead: ")]
    return Headline.of(lines, (*goal(query), *what_is_trained(query)))


def step_of(answer: Answer) -> NextStep | None:
    """What to do next; None where the page has a link for it."""
    step = answer.next if answer.picks else None
    if step is None:
        return None
    if step.link is None:
        return NextStep(None, None, with_pages(f"{step.text}."))
    text = f"{does(step).strip()}."
    if step.command is None:
        return NextStep(urlsplit(step.link).netloc.removeprefix("www."), step.link, text)
    return NextStep(STEPS[step.link.partition("?")[0]], f"{request.script_root}{step.link}", text)


def with_pages(message: str) -> Markup:
    """The message with a link to the page of each command and path that it names."""
    pieces, at = [], 0
    for found in COMMAND.finditer(message):
        path, name = PAGES[found[1] or found[2]]
        link = Markup('<a href="{}{}">{}</a>').format(request.script_root, path, name)
        pieces += [escape(message[at : found.start()]), link]
        at = found.end()
    return Markup().join([*pieces, escape(message[at:])])
