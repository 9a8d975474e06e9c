"""A provider's list: whose rates it states, and where and when; its rows name machines and become offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeVar

from msgspec import convert

from costcalc.hardware import Machine
from costcalc.offers import Offer, PurchaseOption
from pricing.offer_flags import stock
from pricing.packaged.billing import billed
from pricing.packaged.machine_facts import filled
from pricing.packaged.names import accelerator
from pricing.sources.common.amounts import amount, maybe_amount, monthly, spot
from pricing.sources.common.rows import flat, read_rows
from pricing.sources.source import Collected

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class Listing:
    """What a `source` said at a moment of a provider's rates, which are in one currency."""

    provider: str
    source: str
    now: datetime
    currency: str = "USD"

    def read(
        self, rows: Iterable[object], kind: type[Kind], offers: Callable[[Kind, Listing], Iterable[Offer]]
    ) -> Collected:
        """The offers of all rows, each of this kind: a field may be an entry of an object within it, such as `cpu.cores`."""
        return read_rows(self.provider, rows, lambda row: offers(convert(flat(row), kind), self))

    def machine(
        self, spelling: str, count: int, memory_gib: float | None, vcpus: int | None, ram_gib: float | None
    ) -> Machine | None:
        """One with so many accelerators of `memory_gib` each; None where there are no figures of them. Raises UnknownName."""
        name = accelerator(self.provider, spelling, memory_gib)
        return filled(Machine(name, count, memory_gib, vcpus, ram_gib)) if name else None

    def offer(self, region: str, instance_type: str, machine: Machine, hourly: Decimal, **more: Any) -> Offer:
        """A machine on demand, as its provider bills it, or bought as `more` says: further fields of the offer."""
        said = {"purchase_option": PurchaseOption.ON_DEMAND, "currency": self.currency, **more}
        place = self.provider, region, instance_type
        offer = Offer(*place, machine, hourly_rate=hourly, observed_at=self.now, source=self.source, **said)
        return billed(offer) if offer.purchase_option is PurchaseOption.ON_DEMAND else offer

    def sold(
        self,
        rented: tuple[str, str, Machine],
        hourly: Decimal,
        *,
        month: Decimal | None = None,
        spot_rate: Decimal | None = None,
        is_free: bool | None = None,
    ) -> Iterator[Offer]:
        """A machine (its region, its type, what it holds) on demand, by the month and as spot, as far as these have a price.
        Raises ValueError for what is no amount."""
        offer = self.offer(*rented, amount(hourly), flags=stock(is_free))
        yield offer
        if price := maybe_amount(month):
            yield monthly(offer, price)
        if rate := maybe_amount(spot_rate):
            yield spot(offer, rate)
