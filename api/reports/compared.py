"""A set of machines with every way to commit to them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from costcalc.costing.bills import Bill
from costcalc.costing.commitments import PurchaseChoice
from costcalc.money import ExchangeRate
from costcalc.offers import PriceSource


@dataclass(frozen=True, slots=True)
class OnDemand:
    """The on-demand offer that commitments are compared with. `hourly_rate` is for all machines, discounts included;
    `same_machine` is false if it is another machine with the same accelerators."""

    provider: str
    region: str
    instance_type: str
    hourly_rate: Decimal
    same_machine: bool
    price: PriceSource


@dataclass(frozen=True, slots=True)
class Compared:
    """One set of machines in one region, the run on them, and every way to commit to them. `owned` are as many machines of
    your own with the same accelerators, None where their price is not known."""

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
    owned: PurchaseChoice | None
    quoted_exchange: tuple[ExchangeRate, ...]
    assumptions: tuple[str, ...]

    @property
    def choices(self) -> tuple[PurchaseChoice, ...]:
        """Everything that on demand is compared with: all ways to commit, and owning."""
        return (*self.ways, self.owned) if self.owned else self.ways


@dataclass(frozen=True, slots=True)
class MachineBills:
    """The bills that the figures of one set of machines follow from: one for each of its ways, and that of on demand."""

    ways: tuple[Bill, ...]
    on_demand: Bill | None
