"""Amounts of money in payloads, and the same machine at another rate: by the month, as spot."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from msgspec.structs import replace

from costcalc.offers import Offer, PurchaseOption
from pricing.packaged.billing import billing

RATE_PLACES = Decimal("1e-12")


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
    """A sum per hour."""
    return (total / hours).quantize(RATE_PLACES).normalize()


def monthly(offer: Offer, month: Decimal, term: str = "1mo", hours: int | None = None) -> Offer:
    """The same machine by the month, of `hours` hours or of as many as its provider counts; `term` is how long it binds."""
    option = PurchaseOption.MONTHLY
    hours = hours or billing(offer.provider).hours_in_month
    rate = spread(month, hours)
    return replace(offer, purchase_option=option, term=term, hourly_rate=rate, monthly=month, hours_in_month=hours)


def spot(offer: Offer, rate: Decimal) -> Offer:
    """The machine as spot."""
    return replace(offer, purchase_option=PurchaseOption.SPOT, hourly_rate=rate, parts=())
