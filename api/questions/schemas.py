"""The parameters of every path, and how a query string becomes a question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from marshmallow import Schema

from api.questions.fields import (
    Choice,
    Choices,
    Currency,
    Discounts,
    Flag,
    Moment,
    Names,
    Number,
    OwnRates,
    Separator,
    Target,
    Targets,
    Terms,
    Text,
)
from costcalc.offers import Payment, PurchaseOption
from costcalc.training import Crossing, Metric

FORMATS = ("json", "csv")
COST_LAYOUT = ("profile", "focus")
WORDS = ("label", "cost_center")
CAMPAIGN = ("runs", "storage_gb", "storage_rate", "egress_gb", "egress_rate")


@dataclass(frozen=True, slots=True)
class Layout:
    """How an answer is written: its format, and for CSV a byte order mark, the signs and whose columns."""

    format: Literal["json", "csv", "xlsx"] | None = None
    excel: bool = False
    sep: str = ","
    decimal: str = "."
    profile: Literal["own", "focus"] = "own"
    focus: Literal["1.4", "1.2"] = "1.4"


class LayoutSchema(Schema):
    """Parameters that change the form of an answer, never its figures."""

    format = Choice(FORMATS, "form of the answer; wins over Accept", example="csv")
    excel = Flag("CSV: start with a byte order mark, so that Excel reads UTF-8", example=1)
    sep = Separator("CSV: sign between cells; default a comma", example=";")
    decimal = Choice((".", ","), "CSV: decimal sign; a comma goes with sep=;", example=",")
    token = Text("an API token, where the service asks for one and the client cannot send headers")


class OfferFilters(LayoutSchema):
    """Parameters that narrow the offers."""

    provider = Names("cloud or rental house", example="aws")
    region = Names("the provider's own name of a region", example="us-east-1")
    instance_type = Names("the provider's own name of a machine", example="p3.8xlarge")
    accelerator = Names("GPU or TPU; H100 and A100-80GB mean SXM", example="V100")
    purchase = Choices(PurchaseOption, "how it is bought", example="reserved")
    term = Terms("length of a commitment or rental", example="1y")
    payment = Choices(Payment, "when a commitment is paid", example="no_upfront")
    as_of = Moment(
        "prices observed by then: an ISO date (its end, UTC) or date-time; default now", example="2018-04-26"
    )
    limit = Number(int, 1, 1000, "most rows", example=20)
    offset = Number(int, 0, 10**9, "rows to skip", example=0)
    label = Text("own words that every export repeats", example="Q4 vision")
    cost_center = Text("own cost centre, which every export repeats", example="R&D 4711")


class CostSchema(OfferFilters):
    """The parameters of `/cost`."""

    format = Choice((*FORMATS, "xlsx"), "form of the answer; wins over Accept", example="csv")
    model = Text("what to train; case, - and _ do not count", example="resnet50", required=True)
    target = Target("accuracy to reach, a fraction", example=0.757, required=True)
    metric = Choice(Metric, "accuracy counted in the first, or the first five, guesses; default top1", example="top1")
    dataset = Choice(("imagenet",), "default imagenet", example="imagenet")
    recipe = Names("recipe ids; may end in *", example="mlperf-*")
    accelerators = Number(int, 1, 1_000_000, "total accelerators over all machines", example=8)
    nodes = Number(int, 1, 100_000, "machines", example=1)
    max_hours = Number(float, 0, 10**9, "keep what ends within", open_low=True, example=12)
    max_cost = Number(Decimal, 0, 10**12, "keep what costs at most", open_low=True, example=100)
    confidence = Number(
        float, 0, 1, "least probability of reaching the target; default 0.9", open_low=True, open_high=True, example=0.9
    )
    evidence = Choice(("any", "measured"), "measured drops what was not measured on that system; default any")
    overheads = Choice(("typical", "none"), "typical adds start-up, staging, evaluation, checkpoints; default typical")
    crossing = Choice(Crossing, "when a noisy curve counts as having reached the target; default isotonic")
    utilization = Number(
        float,
        0,
        1,
        "share of what a run leaves of a commitment, rental or owned machine that other work uses, for the effective cost; "
        "at 0 the run bears it all; default 1",
        example=0.5,
    )
    basis = Choice(("billed", "effective"), "what sort=cost, max_cost and the frontier go by; default billed")
    sort = Choice(("cost", "time"), "order; default cost")
    limit = Number(int, 1, 1000, "most estimates; default 20", example=20)
    frontier = Flag("only estimates that no other beats on both time and cost; default false", example="true")
    recipes = Choice(("best", "all"), "best: per machine and offer the best recipe; all: every one; default best")
    regions = Choice(("cheapest", "all"), "cheapest: only the cheapest region of each offer; default cheapest")
    max_price_age = Number(
        int, 0, 36_500, "days after which an observed price counts as stale; default 540", example=540
    )
    discount = Discounts("own discount on list rates, a fraction, or provider:fraction", example="0.12")
    currency = Currency("ISO 4217; default USD", example="EUR")
    fx = OwnRates("own exchange rate, units of a currency for one US dollar", example="EUR:0.92")
    runs = Number(int, 1, 1_000_000, "runs one after another that hours and costs are for; default 1", example=20)
    storage_gb = Number(Decimal, 0, 10**9, "GB of data kept in object storage while it trains; default 0", example=149)
    storage_rate = Number(Decimal, 0, 10**6, "own rate per GB-month, in the currency of the answer", example="0.02")
    egress_gb = Number(Decimal, 0, 10**9, "GB that leave the cloud in all; default 0", example=10)
    egress_rate = Number(
        Decimal, 0, 10**6, "own rate per GB that leaves, in the currency of the answer", example="0.05"
    )
    profile = Choice(
        ("own", "focus"), "CSV: focus has the columns of the FinOps billing format; default own", example="focus"
    )
    focus = Choice(("1.4", "1.2"), "version of those columns; default 1.4", example="1.2")


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


class PlanRowSchema(CostSchema):
    """The columns of a row of `/plan`."""

    class Meta:
        """A row has one answer, the best; the layout is the whole sheet's."""

        exclude = (*COST_LAYOUT, "format", "excel", "sep", "decimal", "token", "limit", "offset", "frontier")


class PlanDefaultsSchema(CostSchema):
    """What may stand beside the rows of `POST /plan`, for all of them."""

    format = Choice(FORMATS, "form of the answer; wins over Accept and the form of the rows", example="csv")
    model = Text("what to train, where a row does not say", example="resnet50")
    target = Target("accuracy to reach, where a row does not say", example=0.757)

    class Meta:
        """See `PlanRowSchema`."""

        exclude = (*COST_LAYOUT, "limit", "offset", "frontier")


class PlanSchema(PlanDefaultsSchema):
    """The parameters of `GET /plan`: every model to every target."""

    model = Names("what to train, one or several", example="resnet50,resnet18", required=True)  # type: ignore[assignment]
    target = Targets("accuracies to reach, fractions, one or several", example="0.757,0.76", required=True)


class OffersSchema(OfferFilters):
    """The parameters of `/offers`."""

    currency = Currency("ISO 4217; each rate in the currency it is quoted in unless asked", example="EUR")
    fx = OwnRates("own exchange rate, units of a currency for one US dollar", example="EUR:0.92")
    limit = Number(int, 1, 10**9, "most rows; all of them unless asked", example=100)


class ChangesSchema(OffersSchema):
    """The parameters of `/offers/changes`."""

    since = Moment("the earlier of the two dates; as_of is the later", example="2025-06-01", required=True)

    class Meta:
        """Rates are compared as they are quoted."""

        exclude = ("currency", "fx")


class HistorySchema(OfferFilters):
    """The parameters of `/offers/history`."""

    class Meta:
        """A history has no one moment."""

        exclude = ("as_of",)

    instance_type = Names("the provider's own name of a machine", example="p3.8xlarge", required=True)
    since = Moment("rates still seen then or later; default the first", example="2018-01-01")
    until = Moment("rates observed by then; default now", example="2026-06-30")
    limit = Number(int, 1, 10**9, "most rows; all of them unless asked", example=100)


class ThroughputSchema(OfferFilters):
    """The parameters of `/throughput`."""

    model = Text("only this model", example="resnet50")
    limit = Number(int, 1, 10**6, "most rows; default 100", example=100)


class ModelsSchema(LayoutSchema):
    """The parameters of `/models`."""

    class Meta:
        """Models come as JSON alone."""

        exclude = ("format", "excel", "sep", "decimal")


def layout(values: dict[str, Any]) -> Layout:
    """Takes the layout out of parsed values; a decimal comma goes with a semicolon unless another separator is asked for."""
    chosen = {name: values.pop(name) for name in Layout.__dataclass_fields__ if name in values}
    values.pop("token", None)
    if chosen.get("decimal") == ",":
        chosen.setdefault("sep", ";")
    return Layout(**chosen)


def own_words(values: Mapping[str, Any]) -> dict[str, str]:
    """The asker's own words among parsed parameters, which every export repeats."""
    return {name: values[name] for name in WORDS if values.get(name) is not None}
