"""`/ask` in a browser: the first screen with the sentence in its box."""

from __future__ import annotations

from flask import Response

from api.questions.question import Question
from api.web.pages.question import page
from api.web.responses import answered, wants_page


def ask_view(question: Question) -> Response:
    """The page for browsers, else the answer."""
    return page() if wants_page() else answered(question)
