"""`GET /cost`: hours and dollars to an accuracy, on everything one can rent."""

from __future__ import annotations

from flask import Blueprint, Response

from api import csv_export
from api.documents import cost_document, to_json
from api.replies import arguments, cached, chosen_format, service
from api.urls import to_url

blueprint = Blueprint("cost", __name__)


@blueprint.get("/cost")
@blueprint.get("/cost.csv")
def cost() -> Response:
    """What will it cost, and how long, to train this model to that accuracy, and where?"""
    asked = service()
    catalogue = asked.catalogue()
    query, layout = asked.question(arguments(), catalogue)
    parts = (catalogue.snapshot, to_url(query), layout, "" if query.as_of else asked.clock().date())
    return cached(
        parts,
        chosen_format(layout),
        {
            "json": lambda: to_json(cost_document(asked.answer(query, catalogue))),
            "csv": lambda: csv_export.document(
                csv_export.estimate_columns(), asked.answer(query, catalogue).estimates, layout
            ),
        },
    )
