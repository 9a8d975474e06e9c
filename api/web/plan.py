"""`POST /plan` with a sheet or a list of questions, `GET /plan` for every model to every target, and the page of both."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, cast
from urllib.parse import urlencode

from flask import Blueprint, Response, current_app, render_template, request

from api.formats import words
from api.forms.plan import FORMS, PlanDocument, Planner, PlanSchema, every_pair, in_all, planner
from api.questions.errors import Refused
from api.questions.schemas.layout import Layout
from api.reports.rows import Given as Row
from api.reports.rows import rows_apart
from api.web.asked import JSON_TYPE, TYPES, arguments, current_service, wants_page
from api.web.asker import current_visitor
from api.web.pages.address import Address, Given
from api.web.responses import cached, chosen_format, name_file
from api.web.turns import Turns

blueprint = Blueprint("plan", __name__)
EXTENSION = "costcalc.turns"
PLAN = PlanSchema()
SHEETS = ("text/", "application/csv", "application/vnd.ms-excel", "application/x-www-form-urlencoded",
          "application/octet-stream")  # fmt: skip
HEAD = "model,target"
EXAMPLE = b"""model,target,provider,max_hours,_project
resnet50,0.757,aws,4,vision
resnet18,0.69,,,vision
vit_b16,0.80,,48,search
"""
FORM_TYPE = "multipart/form-data"
MAYBE_JSON = ("", "application/x-www-form-urlencoded", FORM_TYPE)


@blueprint.post("/plan.xlsx")
@blueprint.post("/plan.csv")
@blueprint.post("/plan")
def post_plan() -> Response:
    """What do these cost, each at its best? Bad rows say so in their own line."""
    if request.mimetype == FORM_TYPE and request.path.rstrip("/").endswith("plan"):
        return _page(_sent(), arguments())
    document, layout, is_json = _planned(_sent(), arguments())
    kind = _answer_kind(layout, is_json)
    response = Response(FORMS[kind](document, layout), content_type=TYPES[kind], headers={"Cache-Control": "no-store"})
    return name_file(response, f"plan.{kind}", layout)


@blueprint.get("/plan.xlsx")
@blueprint.get("/plan.csv")
@blueprint.get("/plan")
def get_plan() -> Response:
    """What does every one of these models cost, to every one of these targets?"""
    given = arguments()
    beside = {name: texts for name, texts in given.items() if name not in ("model", "target")}
    if wants_page():
        return _page(_lines_of(given) or None, beside)
    service = current_service()
    catalogue = service.catalogue()
    values = service.check(PLAN, given)
    answers, layout = planner(service, catalogue, beside)
    rows = every_pair(service, values)
    kind = chosen_format(layout, FORMS)
    pairs = sorted(pair for pair in given.items() if pair[0] in PLAN.fields and pair[0] != "token")
    parts = (catalogue.snapshot, pairs, layout, values.get("as_of") or service.clock().date())
    response = cached(parts, kind, lambda: FORMS[kind](_in_turns(answers, rows), layout))
    return name_file(response, f"plan.{kind}", layout)


def _planned(body: bytes, given: Given) -> tuple[PlanDocument, Layout, bool]:
    """The answers to rows with the parameters of all of them, and whether the rows are JSON. Raises Refused."""
    service = current_service()
    answers, layout = planner(service, service.catalogue(), given)
    is_json = request.mimetype == JSON_TYPE or (request.mimetype in MAYBE_JSON and body.lstrip()[:1] == b"[")
    return _in_turns(answers, rows_apart(body, is_json)), layout, is_json


def _in_turns(answers: Planner, rows: Sequence[Row]) -> PlanDocument:
    """All rows, between which those of other visitors' plans are answered. Raises Refused."""
    turns = cast(Turns, current_app.extensions[EXTENSION])
    with turns.plan(current_visitor()) as turn:
        return answers.document(rows, turn)


def _sent() -> bytes:
    """The rows as they were sent, by a form or as they are. Raises Refused for what is neither JSON nor a sheet."""
    kind = request.mimetype
    if kind == FORM_TYPE:
        file = request.files.get("file")
        return (file.read() if file else b"") or request.form.get("rows", "").encode()
    if kind and kind != JSON_TYPE and not kind.startswith(SHEETS):
        raise Refused(415, f"send the rows as text/csv or {JSON_TYPE}, not as {kind[:60]}")
    return request.get_data()


def _answer_kind(layout: Layout, is_json: bool) -> str:
    """The requested kind, else that of the rows."""
    accepted = {request.accept_mimetypes[TYPES[kind].partition(";")[0]] for kind in FORMS}
    if layout.format or request.path.rstrip("/").endswith((".csv", ".xlsx")) or len(accepted) > 1:
        return chosen_format(layout, FORMS)
    return "json" if is_json else "csv"


def _lines_of(given: Given) -> bytes:
    """The sheet with every pair of the models and the targets of an address; none without both."""
    models, targets = ([part for text in given.get(name, []) for part in text.split(",")] for name in HEAD.split(","))
    return "\n".join([HEAD, *map(",".join, product(models, targets))]).encode() if models and targets else b""


def _page(sheet: bytes | None, shared: Given) -> Response:
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
            document, _, _ = _planned(sheet, shared)
            marks = words.marks_explained(row.estimate for row in document.rows if row.estimate)
            shown |= {"document": document, "sums": map(in_all, document.sums), "marks": list(marks)}
        except Refused as refused:
            shown["errors"], status = refused.by_field, refused.status
    return Response(render_template("plan.html", **shown), status, headers={"Cache-Control": "no-store"})
