"""Amounts of money: exact decimals outside, integer billionths where many are kept; rates between currencies."""

from __future__ import annotations

from datetime import date
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import NamedTuple

from msgspec import Struct

CENT = Decimal("0.01")
KNOWN = Context(prec=24)  # of the 28 digits that amounts are computed with, those that divisions leave right
HALF_UP = Context(rounding=ROUND_HALF_UP)
NANOS_PER_UNIT = 1_000_000_000
SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}


def to_nanos(amount: Decimal) -> int:
    """The amount in integer billionths of its currency unit, as rates are stored; half-up on the tenth decimal."""
    return int((amount * NANOS_PER_UNIT).to_integral_value(ROUND_HALF_UP))


def from_nanos(nanos: int) -> Decimal:
    """The exact amount that `to_nanos` stored, without trailing zeros."""
    whole, rest = divmod(int(nanos), NANOS_PER_UNIT)
    return (Decimal(int(nanos)) / NANOS_PER_UNIT).normalize() if rest else Decimal(whole)


def cents(amount: Decimal) -> Decimal:
    """The amount rounded half-up to hundredths of its currency unit; done once, where an amount is shown.

    18,925 seconds at 12.24 an hour are half a cent, though 18,925 / 3600 in 28 digits is a little less than it is.
    """
    return HALF_UP.quantize(KNOWN.plus(amount), CENT)


def money(amount: Decimal, currency: str) -> str:
    """An amount with two decimals and its currency, as people read it."""
    sign = SIGNS.get(currency)
    return f"{sign}{amount:,.2f}" if sign else f"{amount:,.2f} {currency}"


class ExchangeRate(Struct, frozen=True):
    """Units of `currency` for one US dollar, with the day it held and who published it."""

    currency: str
    per_usd: Decimal
    date: date | None
    source: str


US_DOLLAR = ExchangeRate("USD", Decimal(1), None, "")


class Component(Struct, frozen=True):
    """One line of a bill: quantity x rate, whose rounded amounts add up to the billed cost."""

    name: str
    quantity: Decimal
    unit: str
    rate: Decimal
    amount: Decimal


class Money(Struct, frozen=True):
    """What an estimate costs by each basis, rounded, with the ends of its range; the effective rate per hour, not rounded; what
    other people's code costs, by the question's basis; and the lines of its bill."""

    hourly_rate: Decimal
    effective: Decimal
    effective_low: Decimal
    effective_high: Decimal
    billed: Decimal
    billed_low: Decimal
    billed_high: Decimal
    usual_low: Decimal | None
    usual_high: Decimal | None
    components: tuple[Component, ...]


class CostRange(NamedTuple):
    """A cost with the ends of its 80 % range."""

    cost: Decimal
    low: Decimal
    high: Decimal
