"""The paths of the register of questions: each with the files and the pictures that its answer comes as."""

from __future__ import annotations

from functools import partial
from pkgutil import resolve_name

from flask import Blueprint

from api.questions.register import QUESTIONS
from api.web.responses import answered

blueprint = Blueprint("questions", __name__)
for question in QUESTIONS:
    view = partial(resolve_name(question.view) if question.view else answered, question)
    rule = question.path.replace("{", "<").replace("}", ">")
    for ending in ("", *question.endings):
        blueprint.add_url_rule(f"{rule}.{ending}".rstrip("."), question.name, view, methods=["GET"])
