"""`/plan` as a page: a sheet is pasted, chosen or dropped, and its rows come back with their best estimates or what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any
from urllib.parse import urlencode

from flask import Response, render_template

from api.formats import words
from api.forms.plan import PlanDocument, in_all
from api.questions.errors import Refused
from api.questions.schemas.layout import Layout
from api.web.pages.address import Address, Given

HEAD = "model,target"
EXAMPLE = b"""model,target,provider,max_hours,_project
resnet50,0.757,aws,4,vision
resnet18,0.69,,,vision
vit_b16,0.80,,48,search
"""
Planned = Callable[[bytes, Given], tuple[PlanDocument, Layout, bool]]


def lines_of(given: Given) -> bytes:
    """The sheet with every pair of the models and the targets of an address; none without both."""
    models, targets = ([part for text in given.get(name, []) for part in text.split(",")] for name in HEAD.split(","))
    return "\n".join([HEAD, *map(",".join, product(models, targets))]).encode() if models and targets else b""


def plan_page(sheet: bytes | None, shared: Given, planned: Planned) -> Response:
    """The sheet as it was given above its answers; None is the page with an example to try. `shared` has the parameters of
    all rows."""
    at = Address("/", {name: texts for name, texts in shared.items() if name != "token"})
    shown: dict[str, Any] = {
        "sheet": (sheet or EXAMPLE).decode(errors="replace"),
        "rest": urlencode(shared, doseq=True),
        "alone": lambda given: at(**{name: text for name, text in given.items() if name[:1] not in ("_", "")}),
    }
    status = 200
    if sheet is not None:
        try:
            document, _, _ = planned(sheet, shared)
            marks = words.marks_explained(row.estimate for row in document.rows if row.estimate)
            shown |= {"document": document, "sums": map(in_all, document.sums), "marks": list(marks)}
        except Refused as refused:
            shown["errors"], status = refused.by_field, refused.status
    return Response(render_template("plan.html", **shown), status, headers={"Cache-Control": "no-store"})
