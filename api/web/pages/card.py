"""The card of an answer: what its verdict says, and what to do next as a button."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

from flask import request

from api.formats.page import Headline
from api.reports.by_tokens import what_is_trained
from api.reports.goal import goal
from api.reports.next_step import does
from api.web.pages.commands import with_pages
from costcalc.answers import Answer
from costcalc.query import EstimateQuery

STEPS = {"/launch": "Launch file", "/commitments": "Commitments", "/estimate": "Why this rate"}


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
