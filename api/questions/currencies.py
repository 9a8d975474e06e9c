"""Rates of exchange for a question, the asker's own before published ones."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from api.questions.errors import BadParameters
from api.questions.suggestions import unknown
from costcalc.money import ExchangeRate
from costcalc.query import OwnRate
from pricing import exchange_rates as exchange

OWN_RATE = "own rate"


def exchange_rates(
    wanted: str, quoted: Iterable[str], day: date, own: Iterable[OwnRate] = ()
) -> dict[str, ExchangeRate]:
    """Units per US dollar of the `wanted` currency and of those that offers are `quoted` in; `own` rates take precedence.

    Raises BadParameters if the wanted currency has no rate; the engine leaves out offers in other currencies without one.
    """
    rates = {rate.currency: ExchangeRate(rate.currency, rate.per_usd, day, OWN_RATE) for rate in own}
    for code in {*quoted, wanted} - {"USD", *rates}:
        try:
            codes = exchange.currencies()
            if code not in codes:
                raise LookupError(unknown("currency", code, codes, f"known are {', '.join(codes)}"))
            rates[code] = exchange.rate(code, day)
        except LookupError as error:
            if code == wanted:
                raise BadParameters({"currency": [str(error)]}) from None
    return rates
