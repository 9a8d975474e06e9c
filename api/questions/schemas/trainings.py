"""The parameters of the other questions about a training: those of `/cost`, with some more and some fewer."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from api.questions.fields import Choice, Choices, Command, Cost, Hours, Names, Number, Target, Targets, Text
from api.questions.schemas.cost import OWNED_BY, WORKBOOK_FORMATS, CostSchema
from api.questions.spellings import PURCHASES
from costcalc.offers import PurchaseOption

COST_LAYOUT = ("profile", "focus")
FILE_LAYOUT = ("format", "excel", "sep", "decimal", "columns")
BOUGHT_AHEAD = ("term", "payment")
BY_THE_HOUR = (PurchaseOption.ON_DEMAND, PurchaseOption.SPOT)
DESCRIBED = ("epochs", "parameters", "gmacs", "samples_per_epoch")
CAMPAIGN = ("runs", "storage_gb", "storage_rate", "egress_gb", "egress_rate")


class CommitmentsSchema(CostSchema):
    """The parameters of `/commitments`."""

    runs_per_month = Number(Decimal, 0, 10**6, "runs of this training per month", open_low=True, example=20)
    limit = Number(int, 1, 20, "maximum number of machines; default 3", example=3)
    basis = Choice(("effective", "billed"), "cost by which the machines are chosen; default effective")
    table = Choice(
        ("break_even", "cash"),
        "CSV table: break_even for costs by utilization, cash for payments by month; default break_even",
    )

    class Meta:
        """A comparison by month has no single run and no FOCUS columns."""

        exclude = (*COST_LAYOUT, *CAMPAIGN, "own", "pick")

    def _names_own_machines(self, values: Mapping[str, object]) -> bool:
        """Each machine is compared with one's own that has the same accelerators."""
        return True


STEPS = ("year", "quarter", "month")


class TrendSchema(CostSchema):
    """The parameters of `/trend`."""

    every = Choice(STEPS, "how far apart the dates are; default year", example="quarter")

    class Meta:
        """Each point has one estimate, the cheapest pick of its date."""

        exclude: tuple[str, ...] = (
            *COST_LAYOUT, *OWNED_BY, "limit", "offset", "sort", "pick", "frontier", "recipes", "regions", "own"
        )  # fmt: skip


class RoundsSchema(TrendSchema):
    """The parameters of `/mlperf`."""

    model = Text("task of MLPerf, as costcalc tasks lists them", example="llama2-70b-lora", required=True)

    class Meta(TrendSchema.Meta):
        """Each round is a date of its own, and has its own target."""

        exclude = (*TrendSchema.Meta.exclude, "every")


class AccuracySchema(CostSchema):
    """The parameters of `/accuracy`."""

    budget = Cost(Decimal, 0, 10**12, "maximum cost, in the currency of the answer", open_low=True, example=100)
    max_hours = Hours(float, 0, 10**9, "maximum duration in hours", open_low=True, example=12)
    limit = Number(int, 1, 100, "maximum number of estimates at that accuracy; default 5", example=5)

    class Meta:
        """The accuracy is the answer, the budget the limit of cost; the estimates are the frontier."""

        exclude = (*COST_LAYOUT, *DESCRIBED, "target", "max_cost", "pick", "frontier", "recipes", "offset")


class PlanRowSchema(CostSchema):
    """The columns of a row of `/plan`."""

    class Meta:
        """A row has one answer, the best; the layout is the whole sheet's."""

        exclude = (*COST_LAYOUT, *FILE_LAYOUT, "token", "limit", "offset", "frontier")


class PlanDefaultsSchema(CostSchema):
    """The parameters beside the rows of `POST /plan`, which apply to all of them."""

    format = Choice(
        WORKBOOK_FORMATS, "format of the answer; overrides the Accept header and the format of the rows", example="csv"
    )
    model = Text("model to train, for rows that name none", example="resnet50")
    target = Target("accuracy to reach, for rows that name none", example=0.757)

    class Meta:
        """See `PlanRowSchema`."""

        exclude = (*COST_LAYOUT, "limit", "offset", "frontier")

    def _names_own_machines(self, values: Mapping[str, object]) -> bool:
        return True  # a row may


class PlanSchema(PlanDefaultsSchema):
    """The parameters of `GET /plan`: every model to every target."""

    model = Names("models to train, one or more", example="resnet50,resnet18", required=True)  # type: ignore[assignment]
    target = Targets(
        "accuracies to reach, as fractions or percentages, one or more", example="0.757,0.76", required=True
    )


class FeedSchema(CostSchema):
    """The parameters of `/cost.atom`."""

    below = Cost(
        Decimal,
        0,
        10**12,
        "tell only what costs less than this, in the currency of the answer",
        open_low=True,
        example=5,
    )

    class Meta:
        """A feed is Atom alone, and has one entry."""

        exclude = (*COST_LAYOUT, *FILE_LAYOUT, "limit", "offset", "label", "cost_center")


class LaunchSchema(CostSchema):
    """The parameters of `/launch`."""

    to = Choice(("skypilot", "dstack"), "launcher that rents the machines", example="skypilot", required=True)
    purchase = Choices(BY_THE_HOUR, "purchase option; default on_demand", example="spot", also=PURCHASES)
    run = Command("command that trains; otherwise the recipe's own code, where it starts", example="python train.py")
    data = Text("where ImageNet lies: a bucket, or a path or volume of the machine", example="s3://my-bucket/imagenet")
    checkpoints = Text(
        "where checkpoints are kept, so that a spot run goes on: a bucket, or a path or volume of the machine",
        example="s3://my-runs",
    )
    limit = Number(int, 1, 20, "maximum number of machines to try in turn, with SkyPilot; default 5", example=5)

    class Meta:
        """Launchers rent, and compare list rates in dollars."""

        exclude = (
            *COST_LAYOUT, *BOUGHT_AHEAD, *OWNED_BY, "own", "format", "excel", "sep", "decimal", "offset", "currency", "fx",
            "discount",
        )  # fmt: skip


class CompareSchema(CostSchema):
    """The parameters of `/compare`."""

    a = Text(
        "a machine: provider:instance_type, then :machines and :purchase if not one on demand, or own:1x RTX 4090",
        example="aws:p4d.24xlarge",
        required=True,
    )
    b = Text("the machine to compare it with, written the same way", example="aws:p4d.24xlarge:2", required=True)

    own_example = "a=own:1xRTX4090"

    def _names_own_machines(self, values: Mapping[str, object]) -> bool:
        return any(str(values.get(side, "")).casefold().startswith("own") for side in ("a", "b"))

    class Meta:
        """The two machines stand for all filters of offers, and their effective costs are compared."""

        exclude = (
            *COST_LAYOUT, "provider", "region", "instance_type", "accelerator", "purchase", "term", "payment", "available",
            "accelerators", "nodes", "max_accelerators", "max_nodes", "own", "max_hours", "max_cost", "basis", "sort", "pick",
            "limit", "offset", "frontier", "recipes", "regions", "rates",
        )  # fmt: skip
