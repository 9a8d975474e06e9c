"""`GET /cost`: hours and dollars to an accuracy, on everything one can rent."""

from __future__ import annotations

from collections.abc import Callable

from flask import Blueprint, Response

from api.formats import exports
from api.formats.commitments_sheets import sheets_about
from api.questions.errors import BadParameters
from api.questions.links import to_url
from api.reports.documents import cost_document, to_json
from api.web.responses import Body, answered, arguments, chosen_format, service

blueprint = Blueprint("cost", __name__)


@blueprint.get("/cost")
@blueprint.get("/cost.csv")
@blueprint.get("/cost.xlsx")
def cost() -> Response:
    """What will it cost, and how long, to train this model to that accuracy, and where?"""
    asked = service()
    catalogue = asked.catalogue()
    query, layout = asked.question(arguments(), catalogue)
    if layout.profile == "focus" and chosen_format(layout) != "csv":
        raise BadParameters({"profile": ["focus is a form of CSV: ask /cost.csv, or add format=csv"]})
    parts = (catalogue.snapshot, to_url(query), "" if query.as_of else asked.clock().date())
    makers: dict[str, Callable[[], Body]] = {
        "json": lambda: to_json(cost_document(asked.answer(query, catalogue))),
        "csv": lambda: exports.cost_csv(asked.answer(query, catalogue), layout, asked.evidence),
        "xlsx": lambda: exports.cost_xlsx(asked.answer(query, catalogue), [sheets_about(asked, catalogue, query)]),
    }
    return answered(parts, layout, makers, f"cost-{query.model}-{query.target:g}")
