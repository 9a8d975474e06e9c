"""The parameters that questions about a training share."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import get_args

from marshmallow import Schema, ValidationError, pre_load, validates_schema

from api.questions.amounts import money
from api.questions.fields import (
    Choice,
    Choices,
    Cost,
    Currency,
    Discounts,
    Flag,
    Hours,
    Moment,
    Names,
    Number,
    NumberOrWord,
    OwnRates,
    OwnSpeeds,
    Separator,
    Target,
    Terms,
    Text,
)
from api.questions.spellings import PURCHASES
from costcalc.offers import Payment, PurchaseOption
from costcalc.picks import PickName
from costcalc.programs import Training
from costcalc.query import Place
from costcalc.training import Compilation, Crossing, Metric, PipelineAsked

FORMATS = ("json", "csv")
WORKBOOK_FORMATS = (*FORMATS, "xlsx")
COST_LAYOUT = ("profile", "focus")
FILE_LAYOUT = ("format", "excel", "sep", "decimal", "columns")
OWNED_BY = ("own_price", "own_years", "own_resale", "own_watts", "electricity", "pue")
RATES = EVERY, CONFIRMED = "all", "confirmed"
RATES_MEANING = "confirmed: only recent rates that the provider or two independent sources vouch for; default all"


class LayoutSchema(Schema):
    """Parameters that change how an answer is written, never its figures."""

    format = Choice(WORKBOOK_FORMATS, "format of the answer; overrides the Accept header", example="csv")
    excel = Flag("CSV for Excel: a UTF-8 mark, Excel's dates, and a last line that counts the rows left out", example=1)
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
        "GPU, TPU or processor; A100, H100 and V100 mean every version, A100-80GB and H100-SXM a single one; CPU means every "
        "processor",
        example="H100",
    )
    purchase = Choices(PurchaseOption, "purchase option", example="reserved", also=PURCHASES)
    term = Terms("length of a commitment or rental, also in days such as 14d", example="1y")
    payment = Choices(Payment, "payment option of a commitment", example="no_upfront")
    available = Flag("only machines that the provider reported as free when the price was read", example="true")
    as_of = Moment(
        "use the prices known at this time: a date, month or year (its end, UTC), or an ISO date-time; default now",
        example="2026-06-30",
    )
    limit = Number(int, 1, 1000, "maximum number of rows", example=20)
    offset = Number(int, 0, 10**9, "rows to skip", example=0)
    label = Text("your own label, repeated in every export", example="Q4 vision")
    cost_center = Text("your cost centre, repeated in every export", example="R&D 4711")


class TrainingSchema(OfferFilters):
    """The parameters of a training; those of `/cost`, and of other questions but for a few."""

    model = Text(
        "model to train; case, - and _ are ignored; any takes epochs and a speed or a size",
        example="resnet50",
        required=True,
    )
    target = Target(
        "accuracy to reach, as a fraction or a percentage such as 75.7%; default the task's own or, on ImageNet, what the most "
        "used ordinary recipe reaches in nine of ten runs",
        example=0.757,
    )
    metric = Choice(Metric, "top-1 or top-5 accuracy; default top1", example="top1")
    dataset = Choice(("imagenet",), "dataset that the accuracy is measured on; default imagenet", example="imagenet")
    recipe = Names("recipe names; a name may end in *", example="mlperf-*")
    accelerators = Number(int, 1, 1_000_000, "total number of accelerators on all machines", example=8)
    nodes = Number(
        int,
        1,
        100_000,
        "number of machines; default 1 and, for machines sold as clusters, also 2, 4, 8 and so on, up to the most for rent",
        example=1,
    )
    max_accelerators = Number(int, 1, 1_000_000, "maximum total number of accelerators", example=4)
    max_nodes = Number(int, 1, 100_000, "maximum number of machines", example=2)
    max_hours = Hours(float, 0, 10**9, "maximum calendar hours", open_low=True, example=12)
    max_cost = Cost(Decimal, 0, 10**12, "maximum cost, in the currency of the answer", open_low=True, example=100)
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
        "which recipes count: ordinary are scripts that most people run, tuned adds public code made for speed, record adds "
        "benchmark submissions; your own runs always count; default tuned",
        example="ordinary",
    )
    evidence = Choice(("any", "measured"), "measured: only speeds measured on that system; default any")
    software = Choice(
        ("usual", "recipe"),
        "software behind the speeds of MLPerf's recipes: usual is the accelerator's published median, recipe that of the "
        "recipe's own year; default usual",
        example="recipe",
    )
    pipeline = Choice(
        get_args(PipelineAsked),
        "how processors prepare images: by the recipe's own pipeline (default), none to ignore processors and disks, or by "
        "PyTorch with Pillow, DALI, FFCV or tf.data",
        example="dali",
    )
    precision = Choice(
        ("amp", "fp32"),
        "precision: amp (16 bits where that is enough) or fp32; default each recipe's own. Speeds are then learned from other "
        "code, and the accuracy is assumed not to change",
        example="amp",
    )
    compilation = Choice(
        get_args(Compilation),
        "how the code runs: eager, or compiled (XLA, JAX, torch.compile); default as each recipe's own does; if that is "
        "unknown, the range covers both",
        example="compiled",
    )
    images_per_second = OwnSpeeds(
        "speed of your own code and the machine you measured it on; other machines are scaled from one or several",
        example="1450@1xA100-80GB",
    )
    epochs = Number(
        float,
        0,
        10**6,
        "epochs that you say reach the target; without a target the training ends after them",
        open_low=True,
        example=300,
    )
    parameters = Number(
        float, 0, 10**7, "parameters of your network in millions, for model=any", open_low=True, example=25.6
    )
    gmacs = Number(
        float, 0, 10**9, "multiply-adds of your network per image in 1e9, for model=any", open_low=True, example=4.1
    )
    samples_per_epoch = Number(
        int, 1, 10**12, "samples of your data set, with epochs; default ImageNet's 1,281,167", example=1_281_167
    )
    overheads = Choice(
        ("typical", "none"), "typical: add start-up, data staging, evaluation and checkpoints; default typical"
    )
    crossing = Choice(Crossing, "rule that decides when a noisy curve has reached the target; default isotonic")
    utilization = Number(
        float,
        0,
        1,
        "share of a commitment's, rental's or owned machine's remaining time that other work uses, for the effective cost; "
        "at 0 this run bears the whole cost; default 1",
        is_share=True,
        example=0.5,
    )
    basis = Choice(("billed", "effective"), "cost that sort=cost, max_cost and the frontier use; default billed")
    hour_worth = Cost(
        Decimal,
        0,
        10**9,
        "what an hour of waiting costs you, in the currency of the answer; decides the balanced pick and, within 5 %, the "
        "cheapest; default 10 US dollars",
        example=10,
    )
    sort = Choice(
        ("cost", "time"),
        "order by cost (default) or calendar time; if given, the cheapest or the fastest pick comes first",
    )
    pick = Choice(
        get_args(PickName),
        "which pick comes first; default the fastest with sort=time, else the cheapest, or the balanced if it saves over a "
        "quarter of an hour at under a tenth of hour_worth",
        example="cheapest",
    )
    limit = Number(int, 1, 1000, "maximum number of estimates; default 20", example=20)
    frontier = Flag("only estimates that no other beats on both cost and calendar time", example="true")
    recipes = Choice(
        ("best", "all"), "best (default): only the best recipe for each machine and offer; all: every recipe"
    )
    regions = Choice(
        ("cheapest", "all"), "cheapest (default): only the cheapest region of each offer; all: every region"
    )
    rates = Choice(RATES, RATES_MEANING, example=CONFIRMED)
    max_price_age = Number(int, 0, 36_500, "age in days above which a price is left out; default 540", example=540)
    discount = Discounts(
        "your discount on list prices: a fraction or a percentage, or provider:fraction", example="0.12"
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
        "your machines: count x accelerator, or `this machine` for the processor that costcalc runs on; no filter leaves them "
        "out",
        example="1x RTX 4090",
    )
    own_price = Cost(
        Decimal,
        0,
        10**9,
        "price of each of your machines, in the currency of the answer; 0 if paid off; default what such machines sold for",
        example=2800,
    )
    own_years = Number(int, 1, 20, "years that you use your machines; default 3", example=3)
    own_resale = Number(
        Decimal,
        0,
        1,
        "share of the price that your machine is worth after these years; default 0.25",
        is_share=True,
        example=0.25,
    )
    own_watts = Number(
        Decimal, 0, 10**6, "watts of each of your machines; default by the data sheets", open_low=True, example=650
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
        "power usage effectiveness: kWh of the building per kWh of the machine; household (default) is 1, data_center 1.56",
        example=1.2,
    )
    profile = Choice(
        ("own", "focus"), "CSV columns: own (default), or focus for the FinOps billing format", example="focus"
    )
    focus = Choice(("1.4", "1.2"), "version of the FOCUS columns; default 1.4", example="1.2")

    @pre_load
    def _signs_name_the_currency(self, given: dict[str, list[str]], **_: object) -> dict[str, list[str]]:
        """An amount with its currency is in that of the answer: it names it, or agrees with it."""
        texts = [(name, text) for name in given if isinstance(self.fields.get(name), Cost) for text in given[name]]
        codes = {name: amount.code for name, text in texts if (amount := money(text)) and amount.code}
        named = given.get("currency") or ([] if "currency" in self.fields else ["USD"])
        currency = named[0].upper() if named else next(iter(codes.values()), "USD")
        if wrong := [name for name, code in codes.items() if code != currency]:
            message = f"is in {{}} and the answer in {currency}: write both in one currency"
            raise ValidationError({name: [message.format(codes[name])] for name in wrong})
        return {**given, "currency": [currency]} if codes and not named else given

    @validates_schema
    def _own_machines_are_named(self, values: Mapping[str, object], **_: object) -> None:
        """Rejects facts about own machines when the question names none."""
        if not self._names_own_machines(values):
            message = "describes a machine that you own, but the question names none: add {}"
            raise ValidationError({name: [message.format(self.own_example)] for name in OWNED_BY if name in values})

    own_example = "own=1xRTX4090"

    def _names_own_machines(self, values: Mapping[str, object]) -> bool:
        return "own" in values

    @validates_schema
    def _focus_is_for_programs(self, values: Mapping[str, object], **_: object) -> None:
        """FOCUS prescribes decimal points and ISO dates."""
        wrong = [name for name in ("excel", "decimal") if values.get(name) not in (None, False, ".")]
        if wrong and values.get("profile") == "focus":
            message = "profile=focus has decimal points and ISO dates, as FOCUS prescribes: leave {} out"
            raise ValidationError({name: [message.format(name)] for name in wrong})
