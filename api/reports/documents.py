"""The JSON documents: dataclasses in the order of their keys, encoded with exact numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from api.service import with_moment
from costcalc.answers import Answer, Estimate, PriceBasis
from costcalc.convergence.eligibility import BestReached
from costcalc.money import ExchangeRate
from costcalc.query import EstimateQuery

_ENCODER = msgspec.json.Encoder(decimal_format="number")


def to_json(document: Any) -> bytes:
    """Dataclasses as JSON: decimals exact numbers, moments ISO with Z."""
    return _ENCODER.encode(document)


@dataclass(frozen=True, slots=True)
class CostDocument:
    """The JSON answer. `query` is the question as understood; `exchange` is null for dollars; `quoted_exchange` has
    the rates of further currencies that offers here are quoted in."""

    query: EstimateQuery
    prices: PriceBasis
    count: int
    estimates: tuple[Estimate, ...]
    rejections: dict[str, int]
    best_reached: BestReached | None
    exchange: ExchangeRate | None
    quoted_exchange: tuple[ExchangeRate, ...]


def cost_document(answer: Answer) -> CostDocument:
    """The answer in the order of its keys."""
    return CostDocument(
        query=with_moment(answer.query, answer.prices.as_of),
        prices=answer.prices,
        count=answer.count,
        estimates=answer.estimates,
        rejections=answer.rejections,
        best_reached=answer.best_reached,
        exchange=answer.exchange,
        quoted_exchange=answer.quoted_exchange,
    )
