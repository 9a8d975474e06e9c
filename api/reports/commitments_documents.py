"""What `/commitments` answers, as typed documents."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from costcalc.answers import PriceBasis
from costcalc.costing.commitments import PurchaseChoice
from costcalc.money import ExchangeRate
from costcalc.offers import PriceSource
from costcalc.query import EstimateQuery


@dataclass(frozen=True, slots=True)
class OnDemand:
    """What the ways are compared with: the rate for all machines under own terms; `same_machine` tells whether it is the same."""

    provider: str
    region: str
    instance_type: str
    hourly_rate: Decimal
    same_machine: bool
    price: PriceSource


@dataclass(frozen=True, slots=True)
class Compared:
    """One set of machines in one region, the run they do, and every way to have them for a fixed time."""

    provider: str
    region: str
    instance_type: str
    nodes: int
    accelerator: str
    accelerators: int
    recipe: str
    hours_per_run: float
    hours_low: float
    hours_high: float
    currency: str
    on_demand: OnDemand | None
    ways: tuple[PurchaseChoice, ...]
    quoted_exchange: tuple[ExchangeRate, ...]
    assumptions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommitmentsDocument:
    """The JSON answer; machines in the order of the question, by effective cost unless it says otherwise."""

    query: EstimateQuery
    runs_per_month: Decimal | None
    hours_per_month: int
    prices: PriceBasis
    exchange: ExchangeRate | None
    machines: tuple[Compared, ...]
    notes: tuple[str, ...]
