"""`POST /plan` with a sheet or a list of questions, and `GET /plan` for every model to every target."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from flask import Blueprint, Response, request

from api.questions.errors import BadParameters, Refused
from api.questions.finance_schemas import PlanSchema
from api.questions.parsing import read
from api.questions.schemas import Layout
from api.reports import plan
from api.reports.documents import to_json
from api.reports.plan import Planner
from api.reports.plan_rows import Given, rows_of_csv, rows_of_json, shared
from api.web.responses import JSON_TYPE, TYPES, Body, answered, arguments, chosen_format, name_file, service

blueprint = Blueprint("plan", __name__)
PLAN = PlanSchema()
SHEETS = ("text/", "application/csv", "application/vnd.ms-excel", "application/x-www-form-urlencoded",
          "application/octet-stream")  # fmt: skip


@blueprint.post("/plan")
@blueprint.post("/plan.csv")
def post_plan() -> Response:
    """What do these cost, each at its best? Bad rows say so in their own line."""
    asked = service()
    catalogue = asked.catalogue()
    given = arguments()
    form = plan.layout_beside(asked, catalogue, given)
    body, is_json = _body()
    rows = rows_of_json(body) if is_json else rows_of_csv(body)
    document = Planner(asked, catalogue, shared(given), form.decimal).document(rows)
    kind = _answer_kind(form, is_json)
    made: Body = to_json(document) if kind == "json" else b"".join(plan.as_csv(document, form))
    response = Response(made, content_type=TYPES[kind], headers={"Cache-Control": "no-store"})
    return name_file(response, "plan.csv") if kind == "csv" and form.excel else response


@blueprint.get("/plan")
@blueprint.get("/plan.csv")
def get_plan() -> Response:
    """What does every one of these models cost, to every one of these targets?"""
    asked = service()
    catalogue = asked.catalogue()
    given = arguments()
    values, errors = read(PLAN, given)
    if errors:
        raise BadParameters(errors)
    beside = {name: texts for name, texts in given.items() if name not in ("model", "target")}
    form = plan.layout_beside(asked, catalogue, beside)
    names = [part.strip() for text in values["model"] for part in text.split(",") if part.strip()]
    models = dict.fromkeys(asked.model(name).name for name in names)
    rows: list[Given] = [{"model": name, "target": str(target)} for name, target in product(models, values["target"])]
    planner = Planner(asked, catalogue, shared(beside))
    makers: dict[str, Callable[[], Body]] = {
        "json": lambda: to_json(planner.document(rows)),
        "csv": lambda: plan.as_csv(planner.document(rows), form),
    }
    moment = "" if "as_of" in values else asked.clock().date()
    return answered((catalogue.snapshot, sorted(given.items()), moment), form, makers, "plan")


def _body() -> tuple[bytes, bool]:
    """The rows as they were sent, and whether they are JSON. Raises Refused for what is neither that nor a sheet."""
    body, kind = request.get_data(), request.mimetype
    if kind == JSON_TYPE or (kind in ("", "application/x-www-form-urlencoded") and body.lstrip()[:1] == b"["):
        return body, True
    if kind and not kind.startswith(SHEETS):
        raise Refused(415, f"send the rows as text/csv or {JSON_TYPE}, not as {kind[:60]}")
    return body, False


def _answer_kind(form: Layout, is_json: bool) -> str:
    """As asked for, else in the form of the rows."""
    accept = request.accept_mimetypes
    open_choice = form.format is None and not request.path.endswith(".csv") and accept["text/csv"] == accept[JSON_TYPE]
    if open_choice:
        return "json" if is_json else "csv"
    kind = chosen_format(form)
    return kind if kind in ("json", "csv") else "json"
