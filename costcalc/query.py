"""The question: what to train, to what accuracy, where, and how the answer is to be counted and ordered."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from decimal import Decimal
from typing import Literal

from msgspec import Struct

from costcalc.offers import BY_THE_TERM, Payment, PurchaseOption
from costcalc.picks import PickName
from costcalc.programs import Training
from costcalc.training import Compilation, Crossing, Metric, OwnSpeed, PipelineAsked, Running

Basis = Literal["billed", "effective"]


def usual_basis(purchase: Collection[PurchaseOption]) -> Basis:
    """The default basis of costs: for commitments alone the run's share of them, else the bill."""
    return "effective" if purchase and {*purchase} <= BY_THE_TERM else "billed"


DEFAULT_LIMIT = 20
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
    the share `own_resale` of that after `own_years`, and drawing `own_watts` (None: by the data sheets). `electricity` is the
    price of a kWh, `pue` the power usage effectiveness. Prices are in `currency`.

    `epochs` reach the target, by the user's word (None: as many as the recipes say). Of a network without a name (`model` is
    ANY) `parameters`, in millions, and `gmacs` say how large it is. `samples_per_epoch` are those of the data set (None:
    ImageNet's). `target_of` says whose target it is where the question names none: a recipe's, or a benchmark's.
    """

    model: str
    target: float
    metric: str = Metric.TOP1
    dataset: str = "imagenet"
    provider: tuple[str, ...] = ()
    region: tuple[str, ...] = ()
    instance_type: tuple[str, ...] = ()
    accelerator: tuple[str, ...] = ()
    recipe: tuple[str, ...] = ()
    purchase: tuple[PurchaseOption, ...] = ()
    term: tuple[str, ...] = ()
    payment: tuple[Payment, ...] = ()
    available: bool = False
    accelerators: int | None = None
    nodes: int | None = None
    max_accelerators: int | None = None
    max_nodes: int | None = None
    as_of: datetime | None = None
    max_hours: float | None = None
    max_cost: Decimal | None = None
    confidence: float = 0.9
    training: Training = "tuned"
    evidence: Literal["any", "measured"] = "any"
    software: Literal["usual", "recipe"] = "usual"
    pipeline: PipelineAsked = "recipe"
    precision: Literal["amp", "fp32"] | None = None
    compilation: Compilation | None = None
    images_per_second: tuple[OwnSpeed, ...] = ()
    overheads: Literal["typical", "none"] = "typical"
    crossing: Crossing = Crossing.ISOTONIC
    utilization: float = 1.0
    basis: Basis = "billed"
    hour_worth: Decimal | None = None
    sort: Literal["cost", "time"] = "cost"
    pick: PickName | None = None
    limit: int = DEFAULT_LIMIT
    offset: int = 0
    frontier: bool = False
    recipes: Literal["best", "all"] = "best"
    regions: Literal["cheapest", "all"] = "cheapest"
    rates: Literal["all", "confirmed"] = "all"
    max_price_age: int = 540
    discount: tuple[Discount, ...] = ()
    currency: str = "USD"
    fx: tuple[OwnRate, ...] = ()
    runs: int = 1
    storage_gb: Decimal = Decimal(0)
    storage_rate: Decimal | None = None
    egress_gb: Decimal = Decimal(0)
    egress_rate: Decimal | None = None
    own: tuple[OwnMachine, ...] = ()
    own_price: Decimal | None = None
    own_years: int = 3
    own_resale: Decimal = Decimal("0.25")
    own_watts: Decimal | None = None
    electricity: float | Place = "household"
    pue: float | Place = "household"
    label: str | None = None
    cost_center: str | None = None
    epochs: float | None = None
    parameters: float | None = None
    gmacs: float | None = None
    samples_per_epoch: int | None = None
    target_of: str | None = None

    @property
    def running(self) -> Running:
        """How the code of recipes is to run, as far as the question says."""
        return Running(self.precision, self.compilation)


DEFAULTS = dict(zip(EstimateQuery.__struct_fields__[2:], EstimateQuery.__struct_defaults__, strict=True))
"""What is asked where a question says nothing."""
NARROWS = (
    *("provider", "region", "instance_type", "accelerator", "recipe", "purchase", "term", "payment", "available"),
    *("accelerators", "nodes", "max_accelerators", "max_nodes", "as_of", "max_hours", "max_cost", "evidence"),
)
"""The parameters that leave estimates out unless they have their defaults: an answer that finds little suggests to drop one."""
