"""The parameters of the finance paths: those of `/cost`, less what makes no sense there, and their own."""

from __future__ import annotations

from decimal import Decimal

from api.questions.fields import Choice, Names, Number, Target, Targets, Text
from api.questions.schemas import FORMATS, CostSchema

COST_LAYOUT = ("profile", "focus")
CAMPAIGN = ("runs", "storage_gb", "storage_rate", "egress_gb", "egress_rate")


class CommitmentsSchema(CostSchema):
    """The parameters of `/commitments`."""

    runs_per_month = Number(Decimal, 0, 10**6, "runs of this training in a month", open_low=True, example=20)
    limit = Number(int, 1, 20, "most machines; default 3", example=3)
    basis = Choice(("effective", "billed"), "what the machines are chosen by; default effective")
    table = Choice(("break_even", "cash"), "CSV: costs by utilization, or payments by month; default break_even")

    class Meta:
        """What a comparison by month has no use for."""

        exclude = (*COST_LAYOUT, *CAMPAIGN)


class AccuracySchema(CostSchema):
    """The parameters of `/accuracy`."""

    format = Choice(FORMATS, "form of the answer; wins over Accept", example="csv")
    budget = Number(Decimal, 0, 10**12, "money to spend at most, in the currency", open_low=True, example=100)
    max_hours = Number(float, 0, 10**9, "hours it may take at most", open_low=True, example=12)
    limit = Number(int, 1, 100, "most estimates at that accuracy; default 5", example=5)

    class Meta:
        """The accuracy is the answer, the budget the limit of cost; the estimates are the frontier."""

        exclude = (*COST_LAYOUT, "target", "max_cost", "frontier", "recipes", "offset")


class RowSchema(CostSchema):
    """The columns of a row of `/plan`."""

    class Meta:
        """A row has one answer, the best; the layout is the whole sheet's."""

        exclude = (*COST_LAYOUT, "format", "excel", "sep", "decimal", "token", "limit", "offset", "frontier")


class SharedSchema(CostSchema):
    """What may stand beside the rows of `POST /plan`, for all of them."""

    format = Choice(FORMATS, "form of the answer; wins over Accept and the form of the rows", example="csv")
    model = Text("what to train, where a row does not say", example="resnet50")
    target = Target("accuracy to reach, where a row does not say", example=0.757)

    class Meta:
        """See `RowSchema`."""

        exclude = (*COST_LAYOUT, "limit", "offset", "frontier")


class PlanSchema(SharedSchema):
    """The parameters of `GET /plan`: every model to every target."""

    model = Names("what to train, one or several", example="resnet50,resnet18", required=True)  # type: ignore[assignment]
    target = Targets("accuracies to reach, fractions, one or several", example="0.757,0.76", required=True)
