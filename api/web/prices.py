"""What offers cost, and how that changed: `/offers`, `/offers/changes` and `/offers/history`."""

from __future__ import annotations

from flask import Blueprint, Response

from api.formats import sheets
from api.questions.schemas import ChangesSchema, HistorySchema, OffersSchema
from api.reports.changes import changes_report
from api.reports.history import history_report
from api.reports.offers import offers_report
from api.web.responses import answered

blueprint = Blueprint("prices", __name__)
OFFERS, CHANGES, HISTORY = OffersSchema(), ChangesSchema(), HistorySchema()


@blueprint.get("/offers.xlsx")
@blueprint.get("/offers.csv")
@blueprint.get("/offers")
def offers() -> Response:
    """The rates current at a date, cheapest first within each instance type, all of them unless a limit is asked for."""
    return answered(OFFERS, offers_report, {"csv": sheets.offers_csv, "xlsx": sheets.offers_xlsx})


@blueprint.get("/offers/changes.csv")
@blueprint.get("/offers/changes")
def changes() -> Response:
    """What a rate was at one date and is at another, for every rate that is new or different."""
    return answered(CHANGES, changes_report, {"csv": sheets.changes_csv})


@blueprint.get("/offers/history.csv")
@blueprint.get("/offers/history")
def history() -> Response:
    """Every rate observed for the machines asked about, with its source."""
    return answered(HISTORY, history_report, {"csv": sheets.history_csv})
