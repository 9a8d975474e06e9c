"""What is known, as lists: offers with their changes and history, measured speeds, and models."""

from __future__ import annotations

from dataclasses import replace

from flask import Blueprint, Response

from api.formats import sheets
from api.formats.charts import history as history_chart
from api.formats.charts.drawing import pictures
from api.formats.json import to_json
from api.questions.errors import BadParameters
from api.questions.schemas import (
    ChangesSchema,
    CompareSchema,
    FitSchema,
    HistorySchema,
    Layout,
    ModelsSchema,
    OffersSchema,
    SmallSchema,
    ThroughputSchema,
)
from api.reports.comparison import compare_report
from api.reports.models import ModelsReport, fit_report
from api.reports.prices.changes import changes_report
from api.reports.prices.history import history_report
from api.reports.prices.offers import offers_report
from api.reports.small_networks import small_report
from api.reports.throughput import throughput_report
from api.web.pages import listed
from api.web.pages.comparing import compare_page
from api.web.pages.lists import ROWS, ListPage
from api.web.responses import answered, arguments, cached, current_service, is_for_reading, wants_page

blueprint = Blueprint("lists", __name__)
OFFERS, CHANGES, HISTORY = OffersSchema(), ChangesSchema(), HistorySchema()
THROUGHPUT, MODELS, COMPARE, FIT = ThroughputSchema(), ModelsSchema(), CompareSchema(), FitSchema()
SMALL = SmallSchema()


@blueprint.get("/offers.xlsx")
@blueprint.get("/offers.csv")
@blueprint.get("/offers")
def offers() -> Response:
    """The rates current at a date, cheapest first within each instance type, all of them unless a limit is asked for."""
    return answered(
        OFFERS, offers_report, {"html": listed.OFFERS, "csv": sheets.offers_csv, "xlsx": sheets.offers_xlsx}, ROWS
    )


@blueprint.get("/offers/changes.csv")
@blueprint.get("/offers/changes")
def changes() -> Response:
    """What a rate was at one date and is at another, for every rate that is new or different."""
    return answered(CHANGES, changes_report, {"html": listed.CHANGES, "csv": sheets.changes_csv}, ROWS)


@blueprint.get("/offers/history.csv")
@blueprint.get("/offers/history")
def history() -> Response:
    """Every rate observed for the machines asked about, with its source; without a machine, the form that asks for one."""
    try:
        return answered(HISTORY, history_report, {"html": listed.HISTORY, "csv": sheets.history_csv}, ROWS)
    except BadParameters as wrong:
        if wants_page() and list(wrong.errors) == ["instance_type"] and not any(arguments().get("instance_type", [])):
            return Response(listed.HISTORY.form(), headers={"Cache-Control": "no-store", "Vary": "Accept"})
        raise


@blueprint.get("/offers/history.vl")
@blueprint.get("/offers/history.svg")
@blueprint.get("/offers/history.png")
def history_picture() -> Response:
    """The same over time."""
    return answered(HISTORY, history_report, pictures(history_chart.spec))


@blueprint.get("/throughput.csv")
@blueprint.get("/throughput")
def throughput() -> Response:
    """Measured training speeds on what can be rented in dollars, at each offer's cheapest region."""
    return answered(THROUGHPUT, throughput_report, {"html": listed.SPEEDS, "csv": sheets.throughput_csv}, ROWS)


@blueprint.get("/compare.csv")
@blueprint.get("/compare")
def compare() -> Response:
    """Two machines beside each other for the same training."""
    if wants_page():
        return compare_page(COMPARE)
    return answered(COMPARE, compare_report, {"csv": sheets.compare_csv})


@blueprint.get("/fit.csv")
@blueprint.get("/fit")
def fit() -> Response:
    """The largest batch of a network on an accelerator."""
    return answered(FIT, fit_report, {"html": listed.FITS, "csv": sheets.fit_csv}, ROWS)


@blueprint.get("/small")
def small() -> Response:
    """A network given by its layers, on a processor and on GPUs."""
    return answered(SMALL, small_report, {})


@blueprint.get("/models")
def models() -> Response:
    """Every model we know something measured about."""
    return _of_evidence(listed.MODELS, ModelsReport(current_service().evidence, None))


@blueprint.get("/models/<model>")
def one(model: str) -> Response:
    """One model: its recipes with their curves, its throughputs, and where each was published."""
    service = current_service()
    found = service.model(model)
    return _of_evidence(
        replace(listed.MODEL, title=found.name), ModelsReport(service.evidence_about(found.name), found)
    )


def _of_evidence(page: ListPage, report: ModelsReport) -> Response:
    """What is known without prices."""
    current_service().check(MODELS, arguments())
    kind = "html" if is_for_reading() else "json"
    make = {"html": lambda: page(report, Layout()), "json": lambda: to_json(report.document())}
    return cached(("", report.name), kind, make[kind])
