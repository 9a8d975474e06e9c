"""The question: what to train, to what accuracy, where, and how the answer is to be counted and ordered."""

from collections.abc import Collection
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from costcalc.offer import BY_THE_TERM, Payment, PurchaseOption
from costcalc.parameters import Param, Part, declared, named
from costcalc.picks import PickName
from costcalc.programs import Training
from costcalc.training import (
    Compilation,
    Crossing,
    Method,
    Metric,
    OwnSpeed,
    PipelineAsked,
    PrecisionAsked,
    Running,
    Stack,
    TrainingKind,
)

Basis = Literal["billed", "effective"]


def usual_basis(purchase: Collection[PurchaseOption]) -> Basis:
    """The default basis of costs: for commitments alone the run's share of them, else the bill."""
    return "effective" if purchase and {*purchase} <= BY_THE_TERM else "billed"


DEFAULT_LIMIT = 20
LAST_OFFSET = 64_000
"""Of very many estimates those behind so many, and a page of them, can be listed."""
ANY = "any"
"""The model of a question that describes its network instead of naming one."""
EPOCHS = "epochs"
"""The metric of a training whose end nobody measures: it is done after so many."""
OWN_DATA_SET = "own"
"""The data set of a question that says itself how many samples it has."""


class Discount(Struct, frozen=True):
    """Your discount on list rates, a fraction; without a provider, for all providers that no other discount names."""

    fraction: Decimal
    provider: str | None = None


class OwnRate(Struct, frozen=True):
    """An exchange rate of your own: units of `currency` for one US dollar."""

    currency: str
    per_usd: Decimal


class OwnMachine(Struct, frozen=True):
    """A machine that you own: so many accelerators of a name."""

    accelerators: int
    accelerator: str

    @property
    def name(self) -> str:
        """The name of its offer: `1x RTX 4090`."""
        return f"{self.accelerators}x {self.accelerator}"

    def __str__(self) -> str:
        return self.name


Place = Literal["household", "data_center"]
"""Where a machine stands, which decides what its electricity costs and how much more the building takes."""


class EstimateQuery(Struct, frozen=True):
    """What to train, to what accuracy, where, and how to count; the fields are named like the HTTP parameters.

    The edge checks a question, the engine trusts it. `target`, `confidence` and `utilization` are fractions; for a run of your
    own, `target` is a value of its own `metric`. Empty tuples mean no filter. `images_per_second` are speeds of your own code,
    from which all other speeds then follow. `accelerators` is the number on all machines together, `nodes` the number of
    machines, and `max_accelerators` and `max_nodes` are the most of each. `as_of` None means now. `training` says up to how much
    care recipes are chosen. `max_price_age` is in days, `max_cost` in `currency`, as `hour_worth` is, what an hour of waiting is
    worth (None: 10 US dollars). `pick` is the one that the verdict begins with (None: no wish). `runs` is the number of
    consecutive runs to cost. `storage_gb` is stored while they last, `egress_gb` leaves the cloud once; `storage_rate`, per
    GB-month, and `egress_rate`, per GB, are in `currency` and go before the provider's. `fx`, `label` and `cost_center` are for
    the edges: own exchange rates, and words that every export repeats.

    `own` are machines that you own, each bought for `own_price` (0: already paid for, None: what it was sold for), worth
    the share `own_resale` of that after `own_years`, and drawing `own_watts` (None: by the data sheets), with
    `own_vcpus` (None: 8 to 16 an accelerator). `electricity` is the price of a kWh, `pue` the power usage effectiveness. Prices
    are in `currency`.

    `epochs` reach the target, by the user's word (None: as many as the recipes say). Of a network without a name (`model` is
    ANY) `parameters`, in millions, and `gmacs` say how large it is. `samples_per_epoch` are those of the data set (None:
    ImageNet's). A training of which no more is known `took` so many hours `on` a machine. A language model is trained by a
    `method` on `tokens`, or on `examples` of `length` tokens each; None where the question is about none, or leaves it open.
    `target_of` says whose target it is where the question names none: a recipe's, or a benchmark's; `method_of` what the method
    follows from where it names none.
    """

    # fmt: off
    model: Annotated[str, Param(
        "model to train; case, - and _ are ignored; any takes epochs and a speed or a size; paper:alpaca is a published run",
        "goal", "resnet50", use="everyday",
        called="network net architecture arch task job")]
    target: Annotated[float, Param(
        "accuracy to reach, as a fraction or a percentage such as 75.7%; default the task's own or, on ImageNet, what"
        " the most used ordinary recipe reaches in nine of ten runs",
        "goal", 0.757, "accuracy", settled=True, use="everyday",
        called="accuracy acc targetaccuracy goal quality")]
    metric: Annotated[str, Param(
        "top-1 or top-5 accuracy; default top1",
        "goal", "top1", words=tuple(Metric), use="usual")] = Metric.TOP1
    dataset: Annotated[str, Param(
        "dataset that the accuracy is measured on; default imagenet",
        "goal", "imagenet", words=("imagenet",))] = "imagenet"
    provider: Annotated[tuple[str, ...], Param(
        "cloud provider",
        "machine", "aws", narrows=True, use="everyday",
        called="cloud vendor clouds")] = ()
    region: Annotated[tuple[str, ...], Param(
        "region, as its provider names it",
        "machine", "us-east-1", narrows=True, use="everyday",
        called="zone location place country where eu europe us")] = ()
    instance_type: Annotated[tuple[str, ...], Param(
        "machine type, as its provider names it",
        "machine", "a2-highgpu-1g", narrows=True,
        called="instance machine machinetype vm vmtype sku server")] = ()
    accelerator: Annotated[tuple[str, ...], Param(
        "GPU, TPU or processor; A100, H100 and V100 mean every version, A100-80GB and H100-SXM a single one; CPU "
        "means every processor",
        "machine", "H100", narrows=True, use="everyday",
        called="gpu gputype gpumodel gpuname acceleratortype device tpu chip")] = ()
    recipe: Annotated[tuple[str, ...], Param(
        "recipe names; a name may end in *",
        "recipe", "mlperf-*", narrows=True, use="usual")] = ()
    purchase: Annotated[tuple[PurchaseOption, ...], Param(
        "purchase option",
        "purchase", "reserved", narrows=True, use="everyday",
        called="purchaseoption option pricing market spot ondemand reserved commitment")] = ()
    term: Annotated[tuple[str, ...], Param(
        "length of a commitment or rental, also in days such as 14d",
        "purchase", "1y", "term", narrows=True, use="usual")] = ()
    payment: Annotated[tuple[Payment, ...], Param(
        "payment option of a commitment",
        "purchase", "no_upfront", narrows=True)] = ()
    available: Annotated[bool, Param(
        "only machines that the provider reported as free when the price was read",
        "machine", "true", narrows=True)] = False
    accelerators: Annotated[int | None, Param(
        "total number of accelerators on all machines",
        "count", 8, low=1, high=1_000_000, narrows=True, use="everyday",
        called="gpus gpucount gpunumber ngpus ngpu numgpus numgpu numberofgpus acceleratorcount numaccelerators chips "
        "tpus")] = None
    nodes: Annotated[int | None, Param(
        "number of machines; default 1 and, for machines sold as clusters, also 2, 4, 8 and so on, up to the most for"
        " rent",
        "count", 1, low=1, high=100_000, narrows=True, use="usual",
        called="machines instances servers hosts nodecount numnodes nnodes")] = None
    max_accelerators: Annotated[int | None, Param(
        "maximum total number of accelerators",
        "count", 4, low=1, high=1_000_000, narrows=True,
        called="maxgpus maxgpu maxcards maxchips")] = None
    max_nodes: Annotated[int | None, Param(
        "maximum number of machines",
        "count", 2, low=1, high=100_000, narrows=True)] = None
    as_of: Annotated[datetime | None, Param(
        "use the prices known at this time: a date, month or year (its end, UTC), or an ISO date-time; default now",
        "date", "2026-06-30", narrows=True, use="everyday",
        called="date day when year")] = None
    max_hours: Annotated[float | None, Param(
        "maximum calendar hours",
        "limit", 12, "hours", above=0, high=10**9, narrows=True, leaves_out="over_max_hours", use="everyday",
        called="hours time maxtime timelimit deadline duration")] = None
    max_cost: Annotated[Decimal | None, Param(
        "maximum cost, in the currency of the answer",
        "limit", 100, "money", above=0, high=10**12, narrows=True, leaves_out="over_max_cost", use="everyday",
        called="price cost budget maxprice maxbudget money dollars")] = None
    confidence: Annotated[float, Param(
        "minimum probability of reaching the target; default 0.9",
        "recipe", 0.9, "share", above=0, below=1, leaves_out="below_confidence",
        concerns="recipes that reach the target less surely")] = 0.9
    training: Annotated[Training, Param(
        "which recipes count: ordinary are scripts that most people run, tuned adds public code made for speed, "
        "record adds benchmark submissions; your own runs always count; default tuned",
        "recipe", "ordinary", leaves_out="beyond_training", use="usual",
        concerns="which published recipes count")] = "tuned"
    evidence: Annotated[Literal["any", "measured"], Param(
        "measured: only speeds measured on that system; default any",
        "recipe", narrows=True)] = "any"
    software: Annotated[Literal["usual", "recipe"], Param(
        "software behind the speeds of MLPerf's recipes: usual is the accelerator's published median, recipe that of "
        "the recipe's own year; default usual",
        "recipe", "recipe",
        concerns="MLPerf's entries for networks on ImageNet")] = "usual"
    pipeline: Annotated[PipelineAsked, Param(
        "how processors prepare images: by the recipe's own pipeline (default), none to ignore processors and disks, "
        "or by PyTorch with Pillow, DALI, FFCV or tf.data",
        "recipe", "dali",
        concerns="machines whose processors are slower than their accelerators")] = "recipe"
    precision: Annotated[PrecisionAsked | None, Param(
        "precision: amp (16 bits where that is enough, bf16 too) or fp32 (tf32 where the accelerator has it); default each "
        "recipe's own. Speeds are then learned from other code, and the accuracy is assumed not to change",
        "recipe", "amp",
        concerns="code known to run in several ways; entries and logs are as they ran")] = None
    compilation: Annotated[Compilation | None, Param(
        "how the code runs: eager, or compiled (XLA, JAX, torch.compile); default as each recipe's own does; if that "
        "is unknown, the range covers both",
        "recipe", "compiled",
        concerns="code known to run in several ways; entries and logs are as they ran")] = None
    images_per_second: Annotated[tuple[OwnSpeed, ...], Param(
        "speed of your own code and the machine you measured it on; other machines are scaled from one or several",
        "recipe", "1450@1xA100-80GB", use="everyday")] = ()
    overheads: Annotated[Literal["typical", "none"], Param(
        "typical: add start-up, data staging, evaluation and checkpoints; default typical",
        "recipe",
        concerns="hours beside training")] = "typical"
    crossing: Annotated[Crossing, Param(
        "rule that decides when a noisy curve has reached the target; default isotonic",
        "recipe",
        concerns="logged curves that pass the target more than once")] = Crossing.ISOTONIC
    utilization: Annotated[float, Param(
        "share of a commitment's, rental's or owned machine's remaining time that other work uses, for the effective "
        "cost; at 0 this run bears the whole cost; default 1",
        "share", 0.5, "share", low=0, high=1,
        concerns="commitments, rentals by the month and your own machines")] = 1.0
    basis: Annotated[Basis, Param(
        "cost that sort=cost, max_cost and the frontier use; default billed",
        "share",
        concerns="commitments and rentals by the month")] = "billed"
    hour_worth: Annotated[Decimal | None, Param(
        "what an hour of waiting costs you, in the currency of the answer; decides the balanced pick; default 10 US"
        " dollars",
        "limit", 10, "money", low=0, high=10**9,
        concerns="choices between money and time")] = None
    sort: Annotated[Literal["cost", "time"], Param(
        "order by cost (default) or calendar time, behind the picks; if given, the verdict begins with the cheapest or"
        " the fastest pick",
        "order", use="usual",
        called="order orderby sortby")] = "cost"
    pick: Annotated[PickName | None, Param(
        "which pick the verdict begins with; default the fastest with sort=time, else the cheapest, or the balanced if it"
        " saves over a quarter of an hour at under a tenth of hour_worth",
        "pick", "cheapest",
        concerns="picks that there are, and stands behind your own machine")] = None
    limit: Annotated[int, Param(
        "maximum number of estimates; default 20",
        "page", 20, low=1, high=1000, use="usual",
        called="top rows first")] = DEFAULT_LIMIT
    offset: Annotated[int, Param("rows to skip", "page", 0, low=0, high=10**9)] = 0
    frontier: Annotated[bool, Param(
        "only estimates that no other beats on both cost and calendar time",
        "order", "true")] = False
    recipes: Annotated[Literal["best", "all"], Param(
        "best (default): only the best recipe for each machine and offer; all: every recipe",
        "order", use="usual")] = "best"
    regions: Annotated[Literal["cheapest", "all"], Param(
        "cheapest (default): only the cheapest region of each offer; all: every region",
        "order")] = "cheapest"
    rates: Annotated[Literal["all", "confirmed"], Param(
        "confirmed: only recent rates that the provider or two independent sources vouch for; default all",
        "price", "confirmed", narrows=True, leaves_out="unconfirmed_price")] = "all"
    max_price_age: Annotated[int, Param(
        "age in days above which a price is left out; default 540",
        "price", 540, low=0, high=36_500, leaves_out="stale_price",
        concerns="rates of that age")] = 540
    discount: Annotated[tuple[Discount, ...], Param(
        "your discount on list prices: a fraction or a percentage, or provider:fraction",
        "money", "0.12", use="usual",
        concerns="list prices of the providers that it names")] = ()
    currency: Annotated[str, Param(
        "currency of the answer, an ISO 4217 code; default USD",
        "money", "EUR", "currency", use="usual")] = "USD"
    fx: Annotated[tuple[OwnRate, ...], Param(
        "your exchange rate: a currency and its units per US dollar",
        "money", "EUR:0.92",
        concerns="answers and rates in that currency")] = ()
    runs: Annotated[int, Param(
        "number of consecutive runs to cost; default 1",
        "bill", 20, low=1, high=1_000_000, use="usual")] = 1
    storage_gb: Annotated[Decimal, Param(
        "GB kept in object storage during training; default 0",
        "bill", 149, low=0, high=10**9)] = Decimal(0)
    storage_rate: Annotated[Decimal | None, Param(
        "your storage rate per GB-month, in the currency of the answer",
        "bill", "0.02", "money", low=0, high=10**6,
        concerns="what storage_gb= stores")] = None
    egress_gb: Annotated[Decimal, Param(
        "GB transferred out of the cloud in total; default 0",
        "bill", 10, low=0, high=10**9)] = Decimal(0)
    egress_rate: Annotated[Decimal | None, Param(
        "your egress rate per GB, in the currency of the answer",
        "bill", "0.05", "money", low=0, high=10**6,
        concerns="what egress_gb= sends out")] = None
    own: Annotated[tuple[OwnMachine, ...], Param(
        "your machines: count x accelerator, or `this machine` for the processor that costcalc runs on; no filter "
        "leaves them out",
        "own", "1x RTX 4090", "names", use="everyday")] = ()
    own_price: Annotated[Decimal | None, Param(
        "price of each of your machines, in the currency of the answer; 0 if paid off; default what such machines "
        "sold for",
        "owned", 2800, "money", low=0, high=10**9, use="usual",
        concerns="your machines that have an estimate")] = None
    own_years: Annotated[int, Param("years that you use your machines; default 3", "owned", 3, low=1, high=20,
        concerns="your machines that have an estimate and a price")] = 3
    own_resale: Annotated[Decimal, Param(
        "share of the price that your machine is worth after these years; default 0.25",
        "owned", 0.25, "share", low=0, high=1,
        concerns="your machines that have an estimate and a price")] = Decimal("0.25")
    own_watts: Annotated[Decimal | None, Param(
        "watts of each of your machines; default by the data sheets",
        "owned", 650, above=0, high=10**6,
        concerns="your machines that have an estimate")] = None
    own_vcpus: Annotated[int | None, Param(
        "virtual processors of each of your machines; default 8 to 16 an accelerator, a part of the range",
        "owned", 64, low=1, high=10**5,
        concerns="your machines whose processors prepare images")] = None
    electricity: Annotated[float | Place, Param(
        "price of a kWh in the currency of the answer; household (default) is 0.15 US dollars, data_center 0.08",
        "owned", 0.15, low=0, high=1000,
        concerns="your machines that have an estimate")] = "household"
    pue: Annotated[float | Place, Param(
        "power usage effectiveness: kWh of the building per kWh of the machine; household (default) is 1, data_center"
        " 1.56",
        "owned", 1.2, low=1, high=10,
        concerns="your machines that have an estimate")] = "household"
    label: Annotated[str | None, Param("your own label, repeated in every export", "words", "Q4 vision",
        called="tag tags team project")] = None
    cost_center: Annotated[str | None, Param("your cost centre, repeated in every export", "words", "R&D 4711")] = None
    epochs: Annotated[float | None, Param(
        "epochs that you say reach the target; without a target the training ends after them",
        "described", 300, above=0, high=10**6, use="everyday")] = None
    parameters: Annotated[float | None, Param(
        "parameters of your network in millions, for model=any; 8B is understood",
        "described", 25.6, "millions", above=0, high=10**7)] = None
    gmacs: Annotated[float | None, Param(
        "multiply-adds of your network per image in 1e9, for model=any",
        "described", 4.1, above=0, high=10**9)] = None
    samples_per_epoch: Annotated[int | None, Param(
        "samples of your data set, with epochs; default ImageNet's 1,281,167",
        "described", 1_281_167, low=1, high=10**12)] = None
    took: Annotated[float | None, Param(
        "how long a training took, with on=: what that costs, and what it takes elsewhere",
        "stated", "72h", "hours", above=0, high=10**7)] = None
    on: Annotated[tuple[OwnMachine, ...], Param(
        "the accelerators on which it took so long, all of them",
        "stated", "8xA100-80GB", "names")] = ()
    took_on: Annotated[datetime | None, Param(
        "the day on which it took so long, for its cost at the prices of then",
        "stated", "2023-06-30",
        concerns="trainings that took= states")] = None
    kind: Annotated[TrainingKind, Param(
        "what was trained: language, vision, diffusion, detection or any (default); narrows the range between chips",
        "stated", "detection",
        concerns="trainings that took= states")] = "any"
    method: Annotated[Method | None, Param(
        "how a language model is trained, by tokens: pretrain from nothing, full fine-tuning of all weights, lora or qlora",
        "language", "lora", use="usual", called="finetuning training peft adapter")] = None
    tokens: Annotated[float | None, Param(
        "tokens of the whole training of a language model: 50M, 2T",
        "language", "50M", "scaled", low=1, high=10**16, use="usual")] = None
    examples: Annotated[int | None, Param(
        "examples to fine-tune a language model on, each of length= tokens, epochs= times",
        "language", 10_000, "scaled", low=1, high=10**12)] = None
    length: Annotated[int | None, Param(
        "tokens of a sequence; default 4,096, of examples 1,024",
        "language", 2048, "scaled", low=16, high=2_000_000, called="seqlen seqlength contextlength maxlength")] = None
    batch: Annotated[int | None, Param(
        "sequences of a step, on all accelerators together; default what fits",
        "language", 64, low=1, high=10**7, called="batchsize globalbatchsize")] = None
    packed: Annotated[bool | None, Param(
        "whether short sequences share one of length= instead of being padded; default true, of examples false",
        "language", "true")] = None
    stack: Annotated[Stack, Param(
        "whose code: plain (transformers, peft and their like), tuned (Megatron, NeMo and their like) or any (default)",
        "language", "plain")] = "any"
    layers: Annotated[int | None, Param(
        "layers of a language model that parameters= describes; default the usual number for its size",
        "language", 32, low=1, high=10_000)] = None
    active: Annotated[float | None, Param(
        "parameters that a mixture of experts uses for a token, in millions; 3B is understood",
        "language", "3B", "millions", above=0, high=10**7)] = None
    target_of: str | None = None
    method_of: str | None = None
    # fmt: on

    @property
    def running(self) -> Running:
        """How the code of recipes is to run, as far as the question says."""
        return Running(self.precision, self.compilation)


DEFAULTS = dict(zip(EstimateQuery.__struct_fields__[2:], EstimateQuery.__struct_defaults__, strict=True))
"""What is asked where a question says nothing."""
DECLARED = declared(EstimateQuery)
NARROWING = tuple(name for name, each in DECLARED.items() if each.param.narrows)
"""The parameters that leave estimates out unless they have their defaults."""


def parameters_of(*parts: Part) -> tuple[str, ...]:
    """The names of the parameters of these parts of a question."""
    return named(EstimateQuery, *parts)


def reset(query: EstimateQuery, *parts: Part, **values: Any) -> EstimateQuery:
    """The question with the defaults of these parts, and with these values."""
    return replace(query, **{name: DEFAULTS[name] for name in parameters_of(*parts)} | values)
