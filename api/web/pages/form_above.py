"""Pages whose form stands above the answer, also where the question is refused."""

from __future__ import annotations

from typing import Any

from flask import Response, render_template, request

from api.forms.question import Question
from api.questions.errors import Refused
from api.web.asked import arguments, current_service, wants_page, with_example
from api.web.pages.address import Address
from api.web.responses import answered


def form_and_answer(question: Question) -> Response:
    """A page for browsers, which without parameters has the question's example; else the answer."""
    if not wants_page():
        return answered(question)
    given = with_example(_ticked(arguments()), {name: [text] for name, text in question.example.items()})
    shown: dict[str, Any] = {"at": Address(request.path, given), "given": given}
    try:
        service = current_service()
        catalogue = service.catalogue()
        values, _ = service.parse(question.schema, given, catalogue)
        if question.code.html:
            shown |= question.code.html(question.code.report(service, catalogue, values)).shown
        status = 200
    except Refused as refused:
        shown["errors"], status = refused.by_field, refused.status
    return Response(render_template(f"{question.name}.html", **shown), status)


def _ticked(given: dict[str, list[str]]) -> dict[str, list[str]]:
    """The first two machines that were ticked elsewhere as `a` and `b`."""
    ticked = dict.fromkeys(given.get("_with", []))
    sides = {side: [machine] for side, machine in zip("ab", ticked, strict=False)}
    return {name: texts for name, texts in given.items() if name != "_with"} | sides
