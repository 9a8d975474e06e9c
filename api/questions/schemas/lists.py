"""The parameters of lists and of questions that no training is part of."""

from __future__ import annotations

from decimal import Decimal
from typing import get_args

from api.questions.fields import Choice, Cost, Currency, Layers, Moment, Names, Number, OwnRates, Sentence, Text
from api.questions.schemas.cost import CONFIRMED, RATES, RATES_MEANING, LayoutSchema, OfferFilters
from costcalc.throughput.memory import Precision

BEST = "best"
OFFER_ORDERS = ("machine", "accelerator", "rate", "seen")


class OffersSchema(OfferFilters):
    """The parameters of `/offers`."""

    currency = Currency(
        "currency of the answer, an ISO 4217 code; default the currency each offer is quoted in", example="EUR"
    )
    fx = OwnRates("your exchange rate: a currency and its units per US dollar", example="EUR:0.92")
    rates = Choice(RATES, RATES_MEANING, example=CONFIRMED)
    sort = Choice(
        OFFER_ORDERS,
        "machine: cheapest first within each type; accelerator: the newest first, and of each the cheapest per accelerator; "
        "rate: cheapest first; seen: newest first; default machine, on the page accelerator",
        example="accelerator",
    )
    limit = Number(int, 1, 10**9, "maximum number of rows; default all", example=100)


class ChangesSchema(OffersSchema):
    """The parameters of `/offers/changes`."""

    since = Moment(
        "the earlier of the two dates; as_of is the later; default 30 days before it", begins=True, example="2025-06-01"
    )

    class Meta:
        """Rates are compared as they are quoted."""

        exclude = ("currency", "fx", "rates", "sort")


class HistorySchema(OfferFilters):
    """The parameters of `/offers/history`."""

    class Meta:
        """A history has no one moment."""

        exclude = ("as_of", "available")

    instance_type = Names("machine type, as its provider names it", example="p3.8xlarge", required=True)
    accelerator = Names("accelerator of the machine, where several machines share a name", example="V100")
    since = Moment("only rates still seen at this time or later; default all", begins=True, example="2018-01-01")
    until = Moment("only rates observed by this time; default now", example="2026-06-30")
    limit = Number(int, 1, 10**9, "maximum number of rows; default all", example=100)


class WithdrawSchema(OfferFilters):
    """The parameters of `costcalc prices withdraw`: which of a source's rates."""

    class Meta:
        """Rates are withdrawn from now on."""

        fields = ("provider", "region", "instance_type", "accelerator", "purchase", "term", "payment")


class ReleaseSchema(OfferFilters):
    """The parameters of `costcalc prices release`: which of a source's rates in quarantine."""

    class Meta:
        """What their machines hold is not kept."""

        fields = ("provider", "region", "instance_type", "purchase", "term", "payment")


class ThroughputSchema(OfferFilters):
    """The parameters of `/throughput`."""

    model = Text("only this model", example="resnet50")
    recipe = Names("only speeds of these recipes' code on their own systems; a name may end in *", example="ffcv-*")
    image_size = Number(int, 1, 10_000, "only images of so many pixels a side", example=224)
    year = Number(int, 1900, 3000, "only software of this year", example=2022)
    nodes = Number(int, 1, 100_000, "only this number of machines", example=1)
    rates = Choice(RATES, RATES_MEANING, example=CONFIRMED)
    speeds = Choice(
        ("all", BEST), "best: of each machine the highest speed of each model and image size; default all", example=BEST
    )
    limit = Number(int, 1, 10**6, "maximum number of rows; default 100", example=100)


class FitSchema(LayoutSchema):
    """The parameters of `/fit`."""

    model = Names("networks, one or more; default all", example="resnet50")
    accelerator = Names("GPU or TPU models; default all", example="RTX 3090")
    precision = Choice(get_args(Precision), "bits that are computed with; default 16bit", example="16bit")
    image_size = Number(int, 1, 10_000, "pixels a side; default each network's own", example=224)
    as_of = Moment("only accelerators on sale and measurements known at this time; default now", example="2020-02-20")
    limit = Number(int, 1, 10**6, "maximum number of rows; default 1000", example=100)
    offset = Number(int, 0, 10**9, "rows to skip", example=0)


class SmallSchema(LayoutSchema):
    """The parameters of `/small`."""

    model = Layers(
        "layers: mlp:inputs-units-...-classes for dense ones, cnn:heightxwidthxchannels-channels-...-classes for 3 x 3 "
        "convolutions",
        example="mlp:784-512-512-10",
        required=True,
    )
    samples = Number(int, 1, 10**12, "samples of the data set; default 60000", example=60_000)
    batch_size = Number(int, 1, 10**9, "samples of a step; default 64", example=64)
    epochs = Number(int, 1, 10**6, "times that all samples are seen; default 10", example=10)
    hourly_rate = Cost(
        Decimal, 0, 10**6, "what an hour of the processor costs; default 0.10", open_low=True, example="0.10"
    )


class AskSchema(LayoutSchema):
    """The parameters of `/ask`."""

    format = Choice(("json",), "format of the answer; overrides the Accept header", example="json")
    q = Sentence("a question in a sentence", example="resnet50 to 76% on aws in frankfurt, no spot", required=True)

    class Meta:
        """An answer to a sentence comes as JSON alone."""

        exclude = ("excel", "sep", "decimal", "columns")


class ListSchema(LayoutSchema):
    """The parameters of lists that always come whole: `/tasks`, `/mlperf/all`."""


class ModelsSchema(LayoutSchema):
    """The parameters of `/models`."""


class ModelQuestionSchema(LayoutSchema):
    """The parameters of `costcalc models`."""

    model = Text("only this model, with its recipes and measured speeds", example="resnet50")
