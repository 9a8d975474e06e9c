"""What a training costs: `/cost` and its pictures, `/accuracy` and `/commitments`."""

from __future__ import annotations

from flask import Blueprint, Response

from api.formats import sheets
from api.formats.charts import accuracy as accuracy_chart
from api.formats.charts import commitments as commitments_chart
from api.formats.charts import cost_and_time, curve
from api.formats.charts.drawing import pictures, scripts
from api.questions.schemas import AccuracySchema, CommitmentsSchema
from api.reports.accuracy import accuracy_report
from api.reports.commitments import commitments_report
from api.reports.cost import cost_report, estimate_report
from api.service import COST
from api.web.pages.choices import accuracy_page, commitments_page
from api.web.pages.estimate import estimate_page
from api.web.responses import answered, cached

blueprint = Blueprint("costs", __name__)
ACCURACY, COMMITMENTS = AccuracySchema(), CommitmentsSchema()


@blueprint.get("/cost.xlsx")
@blueprint.get("/cost.csv")
@blueprint.get("/cost")
def cost() -> Response:
    """What will it cost, and how long will it take, to train this model to that accuracy, and where?"""
    return answered(COST, cost_report, {"csv": sheets.cost_csv, "xlsx": sheets.cost_xlsx})


@blueprint.get("/cost.vl")
@blueprint.get("/cost.svg")
@blueprint.get("/cost.png")
def picture() -> Response:
    """Cost against time."""
    return answered(COST, cost_report, pictures(cost_and_time.spec))


@blueprint.get("/estimate.vl")
@blueprint.get("/estimate.svg")
@blueprint.get("/estimate.png")
@blueprint.get("/estimate")
def estimate() -> Response:
    """Why is the first estimate of a question what it is? As a picture, its accuracy curve."""
    return answered(COST, estimate_report, {"html": estimate_page, **pictures(curve.spec)})


@blueprint.get("/vega.js")
def vega() -> Response:
    """The scripts that draw charts in a browser."""
    return cached(("",), "js", scripts)


@blueprint.get("/accuracy.csv")
@blueprint.get("/accuracy")
def accuracy() -> Response:
    """Which accuracy does so much money, or time, buy?"""
    return answered(ACCURACY, accuracy_report, {"html": accuracy_page, "csv": sheets.accuracy_csv})


@blueprint.get("/accuracy.vl")
@blueprint.get("/accuracy.svg")
@blueprint.get("/accuracy.png")
def accuracy_picture() -> Response:
    """The least cost of each accuracy."""
    return answered(ACCURACY, accuracy_report, pictures(accuracy_chart.spec))


@blueprint.get("/commitments.xlsx")
@blueprint.get("/commitments.csv")
@blueprint.get("/commitments")
def commitments() -> Response:
    """From how much training a month on does it pay to reserve, commit or rent by the month?"""
    return answered(
        COMMITMENTS,
        commitments_report,
        {"html": commitments_page, "csv": sheets.commitments_csv, "xlsx": sheets.commitments_xlsx},
    )


@blueprint.get("/commitments.vl")
@blueprint.get("/commitments.svg")
@blueprint.get("/commitments.png")
def commitments_picture() -> Response:
    """What a month costs by hours of use, on the first of these machines."""
    return answered(COMMITMENTS, commitments_report, pictures(commitments_chart.spec))
