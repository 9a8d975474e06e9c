"""Offers in another currency than they are quoted in, with the rate and its day beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any

from api.formats.csv import Column
from api.service import exchange_rates
from costcalc.estimate import US_DOLLAR
from costcalc.money import ExchangeRate
from costcalc.offers import Offer

AMOUNTS = ("hourly_rate", "upfront", "recurring_hourly", "monthly")


@dataclass(frozen=True, slots=True)
class Converter:
    """Quotes into one currency, unrounded; an offer whose currency has no rate stays as it is quoted, as all do without one."""

    currency: str | None
    rates: Mapping[str, ExchangeRate]

    def converted(self, offer: Offer) -> Offer:
        """The offer with its rates in the currency."""
        factor = self.factor(offer)
        if factor is None or self.currency is None:
            return offer
        amounts: dict[str, Any] = {name: getattr(offer, name) for name in AMOUNTS}
        known = {name: amount * factor for name, amount in amounts.items() if amount is not None}
        return replace(offer, **known, currency=self.currency)

    def factor(self, offer: Offer) -> Decimal | None:
        """Units of the currency for one of the offer's own; None where nothing is converted."""
        if self.currency in (None, offer.currency) or offer.currency not in self.rates:
            return None
        return self.rates[self.currency].per_usd / self.rates[offer.currency].per_usd

    @property
    def used(self) -> tuple[ExchangeRate, ...]:
        """Every rate but the dollar's own."""
        return tuple(self.rates[code] for code in sorted(self.rates) if code != "USD")

    def columns(self) -> Iterator[Column]:
        """What an offer was quoted in, units of the asked currency for one of that, and the rate's day and publisher."""
        yield "quoted_currency", lambda pair: pair[0].currency
        yield "exchange_rate", lambda pair: self.factor(pair[0])
        yield "exchange_rate_date", lambda pair: self._of_rate(pair[0], "date")
        yield "exchange_rate_source", lambda pair: self._of_rate(pair[0], "source")

    def _of_rate(self, offer: Offer, name: str) -> Any:
        """Of the rate that is not the dollar's; both ends' days are the same."""
        if self.factor(offer) is None:
            return None
        code = self.currency if offer.currency == "USD" else offer.currency
        return getattr(self.rates[str(code)], name)


def converter(filters: Mapping[str, Any], quoted: Iterable[str], day: date) -> Converter:
    """Into the currency that the filters ask for, at that day's rates or own ones. Raises BadParameters without a rate."""
    currency = filters.get("currency")
    if currency is None:
        return Converter(None, {})
    return Converter(currency, {"USD": US_DOLLAR, **exchange_rates(currency, quoted, day, filters.get("fx", ()))})


def columns_of_pairs(row_type: Any) -> Iterator[Column]:
    """The columns of the second of a pair."""
    for name in row_type.__dataclass_fields__:
        yield name, _of_second(name)


def _of_second(name: str) -> Callable[[Any], Any]:
    return lambda pair: getattr(pair[1], name)
