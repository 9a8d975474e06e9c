"""The sheets of rates and discounts: every list rate once, and one discount per provider."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from api.formats.xlsx.book import Book, Column, OwnRow
from costcalc.costing.bills import Bill
from costcalc.offer import Offer

Number = int | None
PLACE = ("region", "instance_type", "purchase_option", "term", "payment", "offering_class")


@dataclass(frozen=True, slots=True)
class Times:
    """How often a rate is paid: for every started period, every metered hour, once, or every hour of the run."""

    per_period: Decimal | int | None = None
    per_metered_hour: Decimal | int | None = None
    once: Decimal | int | None = None
    per_hour: Decimal | int | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One list rate: the number of its offer, and its source."""

    number: int
    offer: Offer
    name: str
    unit: str
    rate: Decimal
    factor: Decimal
    times: Times
    is_beside: bool = False


class Rates:
    """Collects the list rates of bills; other sheets refer to an offer's rates by its number here.

    On a sheet, [nodes] and [offer] being cells of its own, `PER_PERIOD` is what the offer's machines cost for every period
    started, and so on: `costcalc.costing.bills` has the same tariff.
    """

    def __init__(self, book: Book, currency: str, as_of: datetime) -> None:
        self._rates, self._by_provider = book.sheet("Rates"), book.sheet("Discounts")
        self._currency = currency
        self._as_of = as_of
        self._numbers: dict[Offer | str, int] = {}
        self._lines: list[Line] = []
        self._discounts: dict[str, Decimal] = {}

    def number(self, bill: Bill) -> int:
        """The number of the bill's offer; new rates are added."""
        number = self._numbers.get(bill.offer)
        if number is None:
            number = self._numbers[bill.offer] = len(self._numbers) + 1
            self._discounts.setdefault(bill.offer.provider, 1 - bill.terms.price_factor)
            for charge in bill.charges:
                times = Times(per_period=charge.per_period) if charge.per_period else Times(per_metered_hour=1)
                listed, factor = charge.rate * bill.terms.exchange, bill.terms.price_factor
                self._lines.append(Line(number, bill.offer, charge.name, charge.unit, listed, factor, times))
        return number

    def number_beside(self, bill: Bill) -> Number:
        """The number of the provider's storage and egress charges; None if not requested."""
        if not bill.storage_and_egress:
            return None
        provider = bill.offer.provider
        number = self._numbers.get(provider)
        if number is None:
            number = self._numbers[provider] = len(self._numbers) + 1
            for each in bill.storage_and_egress:
                times = Times(once=each.quantity, per_hour=each.quantity_hourly)
                self._lines.append(Line(number, bill.offer, each.name, each.unit, each.rate, Decimal(1), times, True))
        return number

    def write(self) -> None:
        """Writes both sheets, once all bills are collected."""
        columns = _columns(self._currency)
        last = self._rates.table(columns, self._rows(columns), frozen=4)
        self._rates.name_columns(columns, ("offer", "unit", "own_rate", *Times.__slots__), last)
        last = self._by_provider.table(DISCOUNTS, self._discounts.items())
        self._by_provider.name_columns(DISCOUNTS, ("provider", "own_discount"), last)

    def _rows(self, columns: tuple[Column, ...]) -> Iterator[tuple[Any, ...]]:
        own = OwnRow(column.name for column in columns)
        for row, line in enumerate(self._lines, 1):
            offer, rate = line.offer, own.formula(OWN_RATE, row, line.rate * line.factor)
            discount = 0 if line.is_beside else own.formula(OWN_DISCOUNT, row, 1 - line.factor)
            place = [None if line.is_beside else getattr(offer, name) for name in PLACE]
            origin: tuple[Any, ...] = ("see Assumptions", None, None, None)
            if not line.is_beside:
                age = (self._as_of - offer.observed_at).days
                origin = (offer.source, offer.observed_at, age, offer.first_hand)
            paid = (line.name, line.unit, line.rate, discount, rate, *astuple(line.times), self._currency)
            yield (line.number, offer.provider, *place, *paid, *origin)


PER_PERIOD = "[nodes]*SUMPRODUCT((rates_offer=[offer])*rates_own_rate*rates_per_period)"
METERED = "[nodes]*SUMPRODUCT((rates_offer=[offer])*rates_own_rate*rates_per_metered_hour)"
ONCE = "SUMPRODUCT((rates_offer=[beside])*rates_own_rate*rates_once)"
PER_HOUR = "SUMPRODUCT((rates_offer=[beside])*rates_own_rate*rates_per_hour)"
OWN_DISCOUNT = "INDEX(discounts_own_discount,MATCH([provider],discounts_provider,0))"
OWN_RATE = "[list_rate]*(1-[own_discount])"
DISCOUNTS = (Column("provider"), Column("own_discount", "input_share", 14))


def _columns(currency: str) -> tuple[Column, ...]:
    return (
        Column("offer", width=6), Column("provider", width=10), Column("region", width=16),
        Column("instance_type", width=24), Column("purchase_option", width=13), Column("term", width=6),
        Column("payment", width=12), Column("offering_class", width=9), Column("rate_of", width=27), Column("unit", width=10),
        Column("list_rate", "input", 12, f"{currency} per unit"), Column("own_discount", "share", 9),
        Column("own_rate", "rate", 12, f"{currency} per unit"),
        Column("per_period", width=9), Column("per_metered_hour", width=9), Column("once", width=9),
        Column("per_hour", width=9), Column("currency", width=8), Column("price_source", width=30),
        Column("price_observed_at", "day", 11, "UTC"), Column("price_age_days", width=9),
        Column("price_first_hand", width=9),
    )  # fmt: skip
