"""The answer: estimates in order, what was rejected and why, and which prices it stands on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from costcalc.convergence.eligibility import BestReached
from costcalc.money import Component, ExchangeRate
from costcalc.offers import Gap, Payment, PriceSource, PurchaseOption
from costcalc.query import EstimateQuery
from costcalc.training import Metric, Tier

if TYPE_CHECKING:
    from costcalc.costing.bills import Bill


@dataclass(frozen=True, slots=True)
class EvidenceTiers:
    """How the speed and the accuracy curve of an estimate are known."""

    throughput: Tier
    convergence: Tier


@dataclass(frozen=True, slots=True)
class ThroughputSource:
    """Where a speed was read, and the year of its software."""

    source: str
    year: int


@dataclass(frozen=True, slots=True)
class ConvergenceSource:
    """Where an accuracy curve was read."""

    source: str


@dataclass(frozen=True, slots=True)
class Sources:
    """The three facts behind an estimate."""

    price: PriceSource
    throughput: ThroughputSource
    convergence: ConvergenceSource


@dataclass(frozen=True, slots=True)
class Estimate:
    """Time and cost of one recipe on one offer. Money is rounded once, to cents of `currency`; rates are not rounded.

    `hours` = train + overhead of one successful run; low and high bound its 80 % interval, those of costs also hold moves of
    spot rates. `retry_hours` comes on top.
    """

    rank: int
    frontier: bool
    provider: str
    region: str
    instance_type: str
    nodes: int
    accelerator: str
    accelerators: int
    accelerator_memory_gib: float | None
    purchase_option: PurchaseOption
    term: str | None
    payment: Payment | None
    model: str
    dataset: str
    metric: Metric
    target: float
    recipe: str
    epochs: float
    global_batch_size: int | None
    precision: str | None
    images_per_second: float
    train_hours: float
    overhead_hours: float
    hours: float
    hours_low: float
    hours_high: float
    retry_hours: float
    calendar_hours: float
    success_probability: float
    hourly_rate: Decimal
    effective_cost: Decimal
    effective_cost_low: Decimal
    effective_cost_high: Decimal
    billed_cost: Decimal
    billed_cost_low: Decimal
    billed_cost_high: Decimal
    break_even_hours: float | None
    currency: str
    evidence: EvidenceTiers
    components: tuple[Component, ...]
    sources: Sources
    assumptions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PriceBasis:
    """The snapshot an answer was computed from; the observation dates are those of the offers considered."""

    snapshot: str
    as_of: datetime
    oldest_observed_at: datetime | None
    newest_observed_at: datetime | None
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """All that an edge needs; no edge computes. `count` is the number of estimates before limit and offset.

    Beside the estimates stand their `bills`, the offers and terms that the costs follow from, for sheets that stay alive, and
    the on-demand list rate per hour of each offer's machine in the offer's own currency, None where it can't be had.
    `exchange` is the rate of the asked currency, `quoted_exchange` those of further currencies that offers here are quoted in.
    """

    query: EstimateQuery
    prices: PriceBasis
    count: int
    estimates: tuple[Estimate, ...]
    rejections: dict[str, int]
    best_reached: BestReached | None
    exchange: ExchangeRate | None = None
    bills: tuple[Bill, ...] = ()
    on_demand_hourly: tuple[Decimal | None, ...] = ()
    quoted_exchange: tuple[ExchangeRate, ...] = ()
