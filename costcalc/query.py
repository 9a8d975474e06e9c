"""The question: what to train, to what accuracy, where, and how the answer is to be counted and ordered."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from costcalc.offers import Payment, PurchaseOption
from costcalc.training import Crossing, Metric


@dataclass(frozen=True, slots=True)
class Discount:
    """Own discount on list rates, a fraction; `provider` None means every provider not named by another discount."""

    fraction: Decimal
    provider: str | None = None


@dataclass(frozen=True, slots=True)
class OwnRate:
    """An own exchange rate: units of `currency` for one US dollar."""

    currency: str
    per_usd: Decimal


@dataclass(frozen=True, slots=True)
class EstimateQuery:
    """A question as the contract's section 2 words it; field names are the HTTP parameters.

    Empty tuples mean no filter. `accelerators` is the total, `nodes` the machines. `as_of` None means now. `max_price_age`
    is in days, `max_cost` in `currency`. `label` and `cost_center` are the asker's own words, which every export repeats.
    `runs` is how many runs, one after another on the same machines, hours and costs are for. `storage_gb` is kept while they
    run, `egress_gb` leaves the cloud in all; their own rates are in `currency`. The edge validates; the engine trusts.
    """

    model: str
    target: float
    metric: Metric = Metric.TOP1
    dataset: str = "imagenet"
    provider: tuple[str, ...] = ()
    region: tuple[str, ...] = ()
    instance_type: tuple[str, ...] = ()
    accelerator: tuple[str, ...] = ()
    recipe: tuple[str, ...] = ()
    purchase: tuple[PurchaseOption, ...] = ()
    term: tuple[str, ...] = ()
    payment: tuple[Payment, ...] = ()
    accelerators: int | None = None
    nodes: int | None = None
    as_of: datetime | None = None
    max_hours: float | None = None
    max_cost: Decimal | None = None
    confidence: float = 0.9
    evidence: Literal["any", "measured"] = "any"
    overheads: Literal["typical", "none"] = "typical"
    crossing: Crossing = Crossing.ISOTONIC
    utilization: float = 1.0
    basis: Literal["billed", "effective"] = "billed"
    sort: Literal["cost", "time"] = "cost"
    limit: int = 20
    offset: int = 0
    frontier: bool = False
    recipes: Literal["best", "all"] = "best"
    regions: Literal["cheapest", "all"] = "cheapest"
    max_price_age: int = 540
    discount: tuple[Discount, ...] = ()
    currency: str = "USD"
    fx: tuple[OwnRate, ...] = ()
    runs: int = 1
    storage_gb: Decimal = Decimal(0)
    storage_rate: Decimal | None = None
    egress_gb: Decimal = Decimal(0)
    egress_rate: Decimal | None = None
    label: str | None = None
    cost_center: str | None = None
