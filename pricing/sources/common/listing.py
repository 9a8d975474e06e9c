"""A provider's list: whose rates it states, and where and when; its rows hold amounts, name machines and become offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar

from msgspec import Struct, convert
from msgspec.structs import replace

from costcalc.hardware import Machine
from costcalc.offer import Offer, PurchaseOption
from costcalc.units import SECONDS_PER_HOUR
from pricing.offer_flags import stock
from pricing.packaged.machine_facts import filled
from pricing.packaged.names import accelerator
from pricing.packaged.providers import billed, billing
from pricing.sources.common.rows import flat, read_rows
from pricing.sources.source import Collected

RATE_PLACES = Decimal("1e-12")
Kind = TypeVar("Kind")


class Listing(Struct, frozen=True):
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
    ) -> Machine:
        """A machine with so many accelerators of `memory_gib` each. Raises UnknownName."""
        return filled(Machine(accelerator(self.provider, spelling, memory_gib), count, memory_gib, vcpus, ram_gib))

    def offer(self, region: str, instance_type: str, machine: Machine, hourly: Decimal, **more: Any) -> Offer:
        """A machine on demand, as its provider bills it, or bought as `more` says: further fields of the offer."""
        terms = {"purchase_option": PurchaseOption.ON_DEMAND, "currency": self.currency, **more}
        place = self.provider, region, instance_type
        offer = Offer(*place, machine, hourly_rate=hourly, observed_at=self.now, source=self.source, **terms)
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
        """A machine (its region, its type, what it holds) on demand, by the month and as spot, as far as each has a price. Raises
        ValueError for an invalid amount."""
        offer = self.offer(*rented, amount(hourly), flags=stock(is_free))
        yield offer
        if price := maybe_amount(month):
            yield monthly(offer, price)
        if rate := maybe_amount(spot_rate):
            yield spot(offer, rate)


def amount(value: object) -> Decimal:
    """A JSON number or a numeric text as money. Raises ValueError on anything else, and below zero."""
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        raise ValueError(f"{value!r} is no amount of money")
    try:
        money = Decimal(value)
    except InvalidOperation:
        raise ValueError(f"{value!r} is no amount of money") from None
    if not money.is_finite() or money < 0:
        raise ValueError(f"{value!r} is no amount of money")
    return money


def maybe_amount(value: object) -> Decimal | None:
    """An amount above zero, or None where there is none: a price of zero or null is unknown, not free."""
    return None if value is None else amount(value) or None


def spread(total: Decimal, hours: int) -> Decimal:
    """A total per hour."""
    return (total / hours).quantize(RATE_PLACES).normalize()


def monthly(offer: Offer, month: Decimal, term: str = "1mo", hours: int | None = None) -> Offer:
    """The same machine by the month, of `hours` hours or of as many as its provider counts; `term` is how long it binds."""
    hours = hours or billing(offer.provider).hours_in_month
    return replace(
        offer,
        purchase_option=PurchaseOption.MONTHLY,
        term=term,
        hourly_rate=spread(month, hours),
        monthly=month,
        hours_in_month=hours,
        billing_increment_seconds=SECONDS_PER_HOUR,
        minimum_seconds=0,
    )


def spot(offer: Offer, rate: Decimal) -> Offer:
    """The machine as spot."""
    return replace(offer, purchase_option=PurchaseOption.SPOT, hourly_rate=rate, parts=())
