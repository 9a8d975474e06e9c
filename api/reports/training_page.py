"""What it costs to train a language model: by method and card, of the same answers as `/cost`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from msgspec.structs import replace

from api.questions.links import to_url
from api.reports.advice import Advice
from api.reports.by_tokens import ApiPrice, api_prices
from api.reports.verdict import in_short
from api.service import Service
from costcalc.answers import Answer, Estimate
from costcalc.catalogue.catalogue import Catalogue
from costcalc.money import money
from costcalc.offer import PurchaseOption
from costcalc.query import EPOCHS, OWN_DATA_SET, EstimateQuery, reset
from costcalc.tasks.goals import METHODS
from costcalc.throughput.language.networks import LanguageNetwork
from costcalc.training import Method
from costcalc.units import count_in_words, in_words

FINE_TUNING = 50e6
"""Tokens of a usual fine-tuning: 50,000 examples of a thousand tokens."""
PER_PARAMETER = 20
"""Tokens of pretraining for each parameter (Hoffmann et al. 2022)."""
MOST = 1000
ORDER: tuple[Method, ...] = ("lora", "qlora", "full", "pretrain")
"""What most people ask about first."""


class Row(NamedTuple):
    """The least that a method costs on a card, at a confirmed rate on demand, and the question that asks for all of it."""

    method: str
    tokens: str
    estimate: Estimate
    question: str


class TrainingPage(NamedTuple):
    """One model's page. `answer` and `api` are of LoRA on a usual number of tokens; `rows` of every method on every card."""

    network: LanguageNetwork
    as_of: datetime
    answer: Answer
    quote: str
    api: tuple[ApiPrice, ...]
    rows: tuple[Row, ...]


def training_page(service: Service, catalogue: Catalogue, network: LanguageNetwork) -> TrainingPage:
    """The page of a model, at the prices of now."""
    asked = {method: _question(network, method) for method in ORDER}
    lora = Advice(service, catalogue, asked["lora"])
    rows = tuple(row for query in asked.values() for row in _rows(service, catalogue, query))
    moment = lora.answer.prices.as_of
    return TrainingPage(
        network, moment, lora.answer, _quote(network, rows, moment), api_prices(lora.query, moment), rows
    )


def _question(network: LanguageNetwork, method: Method) -> EstimateQuery:
    tokens = PER_PARAMETER * network.active_millions * 1e6 if method == "pretrain" else FINE_TUNING
    return EstimateQuery(
        network.name, 1.0, EPOCHS, OWN_DATA_SET, method=method, tokens=tokens, limit=MOST, rates="confirmed",
        purchase=(PurchaseOption.ON_DEMAND,),
    )  # fmt: skip


def _rows(service: Service, catalogue: Catalogue, query: EstimateQuery) -> Iterator[Row]:
    """The cheapest machine of each card, the cheapest card first."""
    least: dict[str, Estimate] = {}
    for each in sorted(service.answer(query, catalogue).estimates, key=lambda each: each.billed_cost):
        least.setdefault(each.accelerator, each)
    tokens = f"{count_in_words(query.tokens or 0)} tokens"
    whole = reset(query, "page", "price", "purchase")
    for name, each in least.items():
        yield Row(METHODS[query.method or "lora"], tokens, each, to_url(replace(whole, accelerator=(name,)), ""))


def _quote(network: LanguageNetwork, rows: tuple[Row, ...], moment: datetime) -> str:
    """One sentence to quote, with its date."""
    first = next((row for row in rows if row.method == METHODS["lora"]), None)
    if first is None:
        return ""
    each = first.estimate
    cost = money(each.billed_cost, each.currency)
    low, high = (money(end, each.currency) for end in (each.billed_cost_low, each.billed_cost_high))
    return (
        f"Fine-tuning {network.name} with LoRA on {first.tokens} costs {cost} ({low} to {high}) and takes "
        f"{in_words(each.hours)} on {in_short(each)}, at prices of {moment:%Y-%m-%d}."
    )
