"""The parameters of every path, and the layout of its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, get_args

from marshmallow import Schema, ValidationError, pre_load, validates_schema

from api.questions.amounts import money
from api.questions.fields import (
    Choice,
    Choices,
    Command,
    Cost,
    Currency,
    Discounts,
    Flag,
    Hours,
    Layers,
    Moment,
    Names,
    Number,
    NumberOrWord,
    OwnRates,
    OwnSpeeds,
    Sentence,
    Separator,
    Target,
    Targets,
    Terms,
    Text,
)
from api.questions.spellings import PURCHASES
from costcalc.offers import Payment, PurchaseOption
from costcalc.picks import PickName
from costcalc.programs import Training
from costcalc.query import Place
from costcalc.throughput.memory import Precision
from costcalc.training import Compilation, Crossing, Metric, PipelineAsked

FORMATS = ("json", "csv")
WORKBOOK_FORMATS = (*FORMATS, "xlsx")
COST_LAYOUT = ("profile", "focus")
WORDS = ("label", "cost_center")
BOUGHT_AHEAD = ("term", "payment")
BY_THE_HOUR = (PurchaseOption.ON_DEMAND, PurchaseOption.SPOT)
OWNED_BY = ("own_price", "own_years", "own_resale", "own_watts", "electricity", "pue")
DESCRIBED = ("epochs", "parameters", "gmacs", "samples_per_epoch")
CAMPAIGN = ("runs", "storage_gb", "storage_rate", "egress_gb", "egress_rate")


@dataclass(frozen=True, slots=True)
class Layout:
    """How an answer is written: its format, and for CSV the byte order mark and the separators.

    `columns` are those of a sheet that are wanted, in their order; all where none is named. `root` is what whole addresses in a
    workbook begin with, and `asked` the whole address of this question; both are empty where nobody knows them.
    """

    format: Literal["json", "csv", "xlsx"] | None = None
    excel: bool = False
    sep: str = ","
    decimal: str = "."
    profile: Literal["own", "focus"] = "own"
    focus: Literal["1.4", "1.2"] = "1.4"
    columns: tuple[str, ...] = ()
    root: str = ""
    asked: str = ""


RATES = EVERY, CONFIRMED = "all", "confirmed"
RATES_MEANING = "confirmed: only recent rates that the provider or two independent sources vouch for; default all"


class LayoutSchema(Schema):
    """Parameters that change how an answer is written, never its figures."""

    format = Choice(WORKBOOK_FORMATS, "format of the answer; overrides the Accept header", example="csv")
    excel = Flag(
        "CSV for Excel: a UTF-8 mark, dates that Excel reads, and a last line that counts the rows left out", example=1
    )
    sep = Separator("CSV: separator between cells; default a comma", example=";")
    decimal = Choice((".", ","), "CSV: decimal separator; with a comma, sep is ; by default", example=",")
    columns = Names("CSV and XLSX: these columns alone, in this order", example="provider,hours")
    token = Text("API token, for clients that cannot send an Authorization header")


class OfferFilters(LayoutSchema):
    """Parameters that narrow the offers."""

    provider = Names("cloud provider", example="aws")
    region = Names("region, as its provider names it", example="us-east-1")
    instance_type = Names("machine type, as its provider names it", example="a2-highgpu-1g")
    accelerator = Names(
        "GPU, TPU or processor; A100, H100 and V100 mean every version, A100-80GB, H100-SXM and V100-16GB a single one; CPU "
        "means every processor",
        example="H100",
    )
    purchase = Choices(PurchaseOption, "purchase option", example="reserved", also=PURCHASES)
    term = Terms("length of a commitment or rental, also in days such as 14d", example="1y")
    payment = Choices(Payment, "payment option of a commitment", example="no_upfront")
    available = Flag(
        "only machines that the provider reported as free when the price was read; default false",
        example="true",
    )
    as_of = Moment(
        "use the prices known at this time: a date (the end of that day, UTC), a month or a year (its end), or an ISO "
        "date-time; "
        "default now",
        example="2026-06-30",
    )
    limit = Number(int, 1, 1000, "maximum number of rows", example=20)
    offset = Number(int, 0, 10**9, "rows to skip", example=0)
    label = Text("your own label, repeated in every export", example="Q4 vision")
    cost_center = Text("your cost centre, repeated in every export", example="R&D 4711")


class CostSchema(OfferFilters):
    """The parameters of `/cost`."""

    model = Text(
        "model to train; case, - and _ are ignored; any with epochs and a speed or a size",
        example="resnet50",
        required=True,
    )
    target = Target(
        "accuracy to reach, as a fraction or a percentage such as 75.7%; default what the ordinary recipe with the most runs "
        "reaches in nine of ten, which the answer names; of a task its own",
        example=0.757,
    )
    metric = Choice(Metric, "top-1 or top-5 accuracy; default top1", example="top1")
    dataset = Choice(("imagenet",), "dataset that the accuracy is measured on; default imagenet", example="imagenet")
    recipe = Names("names of recipes; a name may end in *", example="mlperf-*")
    accelerators = Number(int, 1, 1_000_000, "total number of accelerators on all machines", example=8)
    nodes = Number(
        int,
        1,
        100_000,
        "number of machines; default 1, and for machines sold as clusters also 2, 4, 8 and so on, up to the most that anybody "
        "can rent",
        example=1,
    )
    max_hours = Hours(
        float, 0, 10**9, "only estimates that finish within this many calendar hours", open_low=True, example=12
    )
    max_cost = Cost(
        Decimal,
        0,
        10**12,
        "only estimates that cost at most this much, in the currency of the answer",
        open_low=True,
        example=100,
    )
    confidence = Number(
        float,
        0,
        1,
        "minimum probability of reaching the target; default 0.9",
        open_low=True,
        open_high=True,
        is_share=True,
        example=0.9,
    )
    training = Choice(
        get_args(Training),
        "which recipes count: ordinary means scripts that most people run, tuned adds public code made for speed, record adds "
        "benchmark submissions; your own runs always count; default tuned",
        example="ordinary",
    )
    evidence = Choice(("any", "measured"), "measured: only speeds that were measured on that system; default any")
    software = Choice(
        ("usual", "recipe"),
        "software behind the speeds of MLPerf's recipes: usual is the median of what was published for the accelerator, "
        "recipe that of the recipe's own year; default usual",
        example="recipe",
    )
    pipeline = Choice(
        get_args(PipelineAsked),
        "how the processors prepare images: recipe is the recipe's own pipeline, none ignores processors and disks, the "
        "others are PyTorch with Pillow, DALI, FFCV and tf.data; default recipe",
        example="dali",
    )
    precision = Choice(
        ("amp", "fp32"),
        "what recipes compute in: amp, 16 bits where that is enough, or fp32; default as each recipe did; speeds are then "
        "learned from other codes; the accuracy is taken to stay",
        example="amp",
    )
    compilation = Choice(
        get_args(Compilation),
        "how the code runs: eager, one operation after another, or compiled (XLA, JAX, torch.compile); default as each recipe's "
        "own does, and where nobody says it, both are part of the range",
        example="compiled",
    )
    images_per_second = OwnSpeeds(
        "speed of your own code, and the machine on which you measured it; other machines are scaled from it, or from several",
        example="1450@1xA100-80GB",
    )
    epochs = Number(
        float,
        0,
        10**6,
        "epochs that reach the target, by your word; without a target the training is done after them",
        open_low=True,
        example=300,
    )
    parameters = Number(
        float, 0, 10**7, "parameters of your network in millions, for model=any", open_low=True, example=25.6
    )
    gmacs = Number(
        float, 0, 10**9, "multiply-adds of your network for one image in 1e9, for model=any", open_low=True, example=4.1
    )
    samples_per_epoch = Number(
        int, 1, 10**12, "samples of your data set, with epochs; default the 1,281,167 of ImageNet", example=1_281_167
    )
    overheads = Choice(
        ("typical", "none"), "typical: add start-up, data staging, evaluation and checkpoints; default typical"
    )
    crossing = Choice(Crossing, "rule that decides when a noisy curve has reached the target; default isotonic")
    utilization = Number(
        float,
        0,
        1,
        "share of the remaining time of a commitment, rental or owned machine that other work uses, for the effective cost; "
        "at 0 this run bears the whole cost; default 1",
        is_share=True,
        example=0.5,
    )
    basis = Choice(("billed", "effective"), "cost that sort=cost, max_cost and the frontier use; default billed")
    hour_worth = Cost(
        Decimal,
        0,
        10**9,
        "what an hour of waiting costs you, in the currency of the answer; it decides the balanced pick; default 10 US dollars",
        example=10,
    )
    sort = Choice(("cost", "time"), "sort by cost or by calendar time; default cost")
    limit = Number(int, 1, 1000, "maximum number of estimates; default 20", example=20)
    frontier = Flag("only estimates that no other beats on both cost and calendar time; default false", example="true")
    recipes = Choice(
        ("best", "all"), "best: only the best recipe for each machine and offer; all: every recipe; default best"
    )
    regions = Choice(
        ("cheapest", "all"), "cheapest: only the cheapest region of each offer; all: every region; default cheapest"
    )
    rates = Choice(RATES, RATES_MEANING, example=CONFIRMED)
    max_price_age = Number(int, 0, 36_500, "age in days above which a price is left out; default 540", example=540)
    discount = Discounts(
        "your discount on list prices: a fraction or a percentage, for all providers or as provider:fraction",
        example="0.12",
    )
    currency = Currency("currency of the answer, an ISO 4217 code; default USD", example="EUR")
    fx = OwnRates("your exchange rate: a currency and its units per US dollar", example="EUR:0.92")
    runs = Number(int, 1, 1_000_000, "number of consecutive runs to cost; default 1", example=20)
    storage_gb = Number(Decimal, 0, 10**9, "GB kept in object storage during training; default 0", example=149)
    storage_rate = Cost(
        Decimal, 0, 10**6, "your storage rate per GB-month, in the currency of the answer", example="0.02"
    )
    egress_gb = Number(Decimal, 0, 10**9, "GB transferred out of the cloud in total; default 0", example=10)
    egress_rate = Cost(Decimal, 0, 10**6, "your egress rate per GB, in the currency of the answer", example="0.05")
    own = Names(
        "machines that you own: count x accelerator, or `this machine` for the processor that costcalc runs on; no filter "
        "leaves them out",
        example="1x RTX 4090",
    )
    own_price = Cost(
        Decimal,
        0,
        10**9,
        "price of each of your machines, in the currency of the answer; 0 if it is paid off; default the price at which such "
        "machines were sold",
        example=2800,
    )
    own_years = Number(int, 1, 20, "years for which you use your machines; default 3", example=3)
    own_resale = Number(
        Decimal,
        0,
        1,
        "share of its price that your machine is worth after these years; default 0.25",
        is_share=True,
        example=0.25,
    )
    own_watts = Number(
        Decimal,
        0,
        10**6,
        "power of each of your machines, in watts; default by the data sheets",
        open_low=True,
        example=650,
    )
    electricity = NumberOrWord(
        get_args(Place),
        0,
        1000,
        "price of a kWh in the currency of the answer; household (default) is 0.15 US dollars, data_center 0.08",
        example=0.15,
    )
    pue = NumberOrWord(
        get_args(Place),
        1,
        10,
        "power usage effectiveness: kWh of the building for each kWh of the machine; household (default) is 1, data_center "
        "1.56",
        example=1.2,
    )
    profile = Choice(
        ("own", "focus"),
        "CSV columns: own, or focus for those of the FinOps billing format; default own",
        example="focus",
    )
    focus = Choice(("1.4", "1.2"), "version of the FOCUS columns; default 1.4", example="1.2")

    @pre_load
    def _signs_name_the_currency(self, given: dict[str, list[str]], **_: Any) -> dict[str, list[str]]:
        """An amount with its currency is in that of the answer: it names it, or agrees with it."""
        texts = [(name, text) for name in given if isinstance(self.fields.get(name), Cost) for text in given[name]]
        codes = {name: found.code for name, text in texts if (found := money(text)) and found.code}
        named = given.get("currency") or ([] if "currency" in self.fields else ["USD"])
        asked = named[0].upper() if named else next(iter(codes.values()), "USD")
        if wrong := [name for name, code in codes.items() if code != asked]:
            told = f"is in {{}} and the answer in {asked}: write both in one currency"
            raise ValidationError({name: [told.format(codes[name])] for name in wrong})
        return {**given, "currency": [asked]} if codes and not named else given

    @validates_schema
    def _own_machines_are_named(self, values: dict[str, Any], **_: Any) -> None:
        """What is said of machines that nobody names would change nothing."""
        if not self._names_own_machines(values):
            told = "speaks of machines that you own, and the question names none: add {}"
            raise ValidationError({name: [told.format(self.own_example)] for name in OWNED_BY if name in values})

    own_example = "own=1xRTX4090"

    def _names_own_machines(self, values: dict[str, Any]) -> bool:
        return "own" in values

    @validates_schema
    def _focus_is_for_programs(self, values: dict[str, Any], **_: Any) -> None:
        """FOCUS prescribes decimal points and ISO dates."""
        wrong = [name for name in ("excel", "decimal") if values.get(name) not in (None, False, ".")]
        if wrong and values.get("profile") == "focus":
            told = "profile=focus has decimal points and ISO dates, as FOCUS prescribes: leave {} out"
            raise ValidationError({name: [told.format(name)] for name in wrong})


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

        exclude = (*COST_LAYOUT, *CAMPAIGN, "own")

    def _names_own_machines(self, values: dict[str, Any]) -> bool:
        """Each machine is compared with one's own that has the same accelerators."""
        return True


STEPS = ("year", "quarter", "month")


class TrendSchema(CostSchema):
    """The parameters of `/trend`."""

    format = Choice(WORKBOOK_FORMATS, "format of the answer; overrides the Accept header", example="csv")
    every = Choice(STEPS, "how far apart the dates are; default year", example="quarter")

    class Meta:
        """Each point has one estimate, the cheapest pick of its date."""

        exclude: tuple[str, ...] = (
            *COST_LAYOUT,
            *OWNED_BY,
            "limit",
            "offset",
            "sort",
            "frontier",
            "recipes",
            "regions",
            "own",
        )


class RoundsSchema(TrendSchema):
    """The parameters of `/mlperf`."""

    model = Text("task of MLPerf, as costcalc tasks lists them", example="llama2-70b-lora", required=True)

    class Meta(TrendSchema.Meta):
        """Each round is a date of its own, and has its own target."""

        exclude = (*TrendSchema.Meta.exclude, "every")


class AccuracySchema(CostSchema):
    """The parameters of `/accuracy`."""

    format = Choice(WORKBOOK_FORMATS, "format of the answer; overrides the Accept header", example="csv")
    budget = Cost(Decimal, 0, 10**12, "maximum cost, in the currency of the answer", open_low=True, example=100)
    max_hours = Hours(float, 0, 10**9, "maximum duration in hours", open_low=True, example=12)
    limit = Number(int, 1, 100, "maximum number of estimates at that accuracy; default 5", example=5)

    class Meta:
        """The accuracy is the answer, the budget the limit of cost; the estimates are the frontier."""

        exclude = (*COST_LAYOUT, *DESCRIBED, "target", "max_cost", "frontier", "recipes", "offset")


class PlanRowSchema(CostSchema):
    """The columns of a row of `/plan`."""

    class Meta:
        """A row has one answer, the best; the layout is the whole sheet's."""

        exclude = (*COST_LAYOUT, "format", "excel", "sep", "decimal", "columns", "token", "limit", "offset", "frontier")


class SweepSchema(CostSchema):
    """The parameters of `costcalc sweep`, each of which may be swept."""

    class Meta:
        """A table of Parquet has one layout."""

        exclude = (*COST_LAYOUT, "format", "excel", "sep", "decimal", "columns", "token")


class PlanDefaultsSchema(CostSchema):
    """The parameters beside the rows of `POST /plan`, which apply to all of them."""

    format = Choice(
        WORKBOOK_FORMATS,
        "format of the answer; overrides the Accept header and the format of the rows",
        example="csv",
    )
    model = Text("model to train, for rows that name none", example="resnet50")
    target = Target("accuracy to reach, for rows that name none", example=0.757)

    class Meta:
        """See `PlanRowSchema`."""

        exclude = (*COST_LAYOUT, "limit", "offset", "frontier")

    def _names_own_machines(self, values: dict[str, Any]) -> bool:
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

        exclude = (
            *COST_LAYOUT,
            "format",
            "excel",
            "sep",
            "decimal",
            "columns",
            "limit",
            "offset",
            "label",
            "cost_center",
        )


class LaunchSchema(CostSchema):
    """The parameters of `/launch`."""

    to = Choice(("skypilot", "dstack"), "launcher that rents the machines", example="skypilot", required=True)
    pick = Choice(get_args(PickName), "which pick to launch; default cheapest", example="fastest")
    purchase = Choices(BY_THE_HOUR, "purchase option; default on_demand", example="spot", also=PURCHASES)
    run = Command("command that trains; otherwise the recipe's own code, where it starts", example="python train.py")
    data = Text("where ImageNet lies: a bucket, or a path or volume of the machine", example="s3://my-bucket/imagenet")
    limit = Number(int, 1, 20, "maximum number of machines to try in turn, with SkyPilot; default 5", example=5)

    class Meta:
        """Launchers rent, and compare list rates in dollars."""

        exclude = (
            *COST_LAYOUT,
            *BOUGHT_AHEAD,
            "own",
            *OWNED_BY,
            "format",
            "excel",
            "sep",
            "decimal",
            "offset",
            "currency",
            "fx",
            "discount",
        )


class CompareSchema(CostSchema):
    """The parameters of `/compare`."""

    format = Choice(WORKBOOK_FORMATS, "format of the answer; overrides the Accept header", example="csv")
    a = Text(
        "a machine: provider:instance_type, then :machines and :purchase if not one on demand, or own:1x RTX 4090",
        example="aws:p4d.24xlarge",
        required=True,
    )
    b = Text("the machine to compare it with, written the same way", example="aws:p4d.24xlarge:2", required=True)

    own_example = "a=own:1xRTX4090"

    def _names_own_machines(self, values: dict[str, Any]) -> bool:
        return any(values.get(side, "").casefold().startswith("own") for side in ("a", "b"))

    class Meta:
        """The two machines stand for all filters of offers, and their effective costs are compared."""

        exclude = (
            *COST_LAYOUT, "provider", "region", "instance_type", "accelerator", "purchase", "term", "payment", "available",
            "accelerators", "nodes", "own", "max_hours", "max_cost", "basis", "sort", "limit", "offset", "frontier", "recipes",
            "regions", "rates",
        )  # fmt: skip


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


class TasksSchema(LayoutSchema):
    """The parameters of `/tasks`."""


class ModelsSchema(LayoutSchema):
    """The parameters of `/models`."""


class ModelQuestionSchema(LayoutSchema):
    """The parameters of `costcalc models`."""

    model = Text("only this model, with its recipes and measured speeds", example="resnet50")


def layout(values: dict[str, Any]) -> Layout:
    """Takes the layout out of parsed values. With a decimal comma the separator is a semicolon by default."""
    chosen = {name: values.pop(name) for name in Layout.__dataclass_fields__ if name in values}
    values.pop("token", None)
    if "columns" in chosen:
        chosen["columns"] = tuple(
            name.strip().lower() for text in chosen["columns"] for name in text.split(",") if name.strip()
        )
    if chosen.get("decimal") == ",":
        chosen.setdefault("sep", ";")
    return Layout(**chosen)


def own_words(values: Mapping[str, Any]) -> dict[str, str]:
    """The label and the cost centre among parsed parameters, which every export repeats."""
    return {name: values[name] for name in WORDS if values.get(name) is not None}
