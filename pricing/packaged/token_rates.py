"""What APIs charge for fine-tuning by the token: the packaged table `token_rates.csv`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from importlib.resources import files

from msgspec import Struct

from costcalc.evidence.tables import cells, typed
from costcalc.throughput.language.networks import LanguageNetwork
from costcalc.training import Method

TABLE = "token_rates.csv"
UNIT = 10**6
CENT = Decimal("0.01")
CLOSED = "any"
"""The method of a model that nobody else can train: it stands beside every fine-tuning, under its own name."""


class TokenPrice(Struct, frozen=True):
    """Dollars for a million tokens trained, of a model or of all whose millions of parameters lie between two. A job costs at
    least the `minimum`; `serving` says in words what using the result adds, None where the source does not say."""

    provider: str
    method: str
    rate: Decimal
    minimum: Decimal
    observed_at: date
    source: str
    model: str | None = None
    over_millions: float | None = None
    up_to_millions: float | None = None
    serving: str | None = None

    def trains(self, network: LanguageNetwork, method: Method) -> bool:
        """Whether it is asked for by a training of this model with this method; adapters in 4 bits are adapters to an API."""
        if self.method == CLOSED:
            return method != "pretrain"
        if self.method != ("lora" if method == "qlora" else method):
            return False
        if self.model:
            return self.model == network.name
        return (self.over_millions or 0) < network.parameters_millions <= (self.up_to_millions or 0)

    def cost(self, tokens: float) -> Decimal:
        """Dollars for so many tokens, all passes together, to the cent."""
        return max(Decimal(repr(tokens)) * self.rate / UNIT, self.minimum).quantize(CENT, ROUND_HALF_UP)


def token_prices(network: LanguageNetwork, method: Method, day: date) -> Iterator[TokenPrice]:
    """Those seen by this day that train the model so, the cheapest first, then closed models."""
    known = (price for price in _prices() if price.observed_at <= day and price.trains(network, method))
    yield from sorted(known, key=lambda each: (each.method == CLOSED, each.rate))


@cache
def _prices() -> tuple[TokenPrice, ...]:
    text = (files("pricing.packaged") / "data" / TABLE).read_text("utf-8")
    return tuple(typed(TABLE, cells(TABLE, text), TokenPrice))
