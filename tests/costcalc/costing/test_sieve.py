"""Of very many estimates the same are shown, and counted, as where all are made; in little memory."""

import random
import tracemalloc
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from msgspec.structs import replace
from support.sampled import sampled

from costcalc.costing import sieve
from costcalc.costing.storage_and_egress import Market
from costcalc.estimate import Asked
from costcalc.memory import Memory
from costcalc.money import ExchangeRate
from costcalc.offer import PurchaseOption
from costcalc.query import Discount, EstimateQuery

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
EVERY = {"recipes": "all", "regions": "all"}
FREE, ON_DEMAND, SPOT = PurchaseOption.FREE, PurchaseOption.ON_DEMAND, PurchaseOption.SPOT


def draw(number):
    """A question about every recipe in every region, with some filters, limits and ways of counting."""
    chance = random.Random(number)
    some = {
        "sort": "time", "basis": "effective", "max_hours": 20.0, "max_cost": Decimal(300), "offset": 2990, "runs": 3,
        "purchase": chance.choice([(SPOT,), (ON_DEMAND, FREE), (ON_DEMAND, PurchaseOption.RESERVED)]), "overheads": "none",
        "evidence": "measured", "utilization": 0.4, "frontier": True, "discount": (Discount(Decimal("0.2"), "aws"),),
        "as_of": datetime(chance.choice([2021, 2024]), 7, 1, tzinfo=UTC), "training": "record",
        "accelerator": ("H100", "A100-80GB"), "storage_gb": Decimal(100), "pick": "fastest", "rates": "confirmed",
    }  # fmt: skip
    asked = {name: value for name, value in some.items() if chance.random() < 0.2}
    model, target = chance.choice([("resnet50", 0.7513), ("resnet50", 0.73), ("resnet18", 0.69)])
    return EstimateQuery(model, target, limit=chance.choice([20, 1000]), **EVERY, **asked)


@pytest.mark.parametrize("number", sampled(range(60), 10))
def test_answers_are_those_of_all_estimates(packaged_evidence, packaged_prices, monkeypatch, number):
    query, memory = draw(number), Memory()
    answers = []
    for most in (10**9, 0):
        monkeypatch.setattr(sieve, "MOST_PAIRS", most)
        asked = Asked(query, packaged_evidence, packaged_prices, NOW, memory=memory)
        best = asked.estimates(asked.best(with_frontier=True))
        answers.append((asked.answer(), best, asked.overview(pickable=True).every, asked.dearer(30)))
    (whole, *of_whole), (sifted, *of_sifted) = answers
    assert sifted.count == whole.count
    assert (sifted.rejections, sifted.folded, sifted.missed) == (whole.rejections, whole.folded, whole.missed)
    assert sifted.picks == whole.picks
    assert sifted.estimates == whole.estimates
    assert sifted.best == whole.best
    assert (sifted.unconfirmed, sifted.free, sifted.rivals) == (whole.unconfirmed, whole.free, whole.rivals)
    assert of_sifted == of_whole


def test_millions_of_estimates_take_little_memory(packaged_evidence, packaged_prices):
    """Where all were made, these took 380 MiB; ten times the offers then take ten times as much."""
    memory = Memory()
    Asked(EstimateQuery("resnet50", 0.75), packaged_evidence, packaged_prices, NOW, memory=memory).answer()
    tracemalloc.start()
    found = Asked(
        EstimateQuery("resnet50", 0.7513, **EVERY), packaged_evidence, packaged_prices, NOW, memory=memory
    ).answer()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.count > 2_000_000
    assert peak < 80 * 2**20


@pytest.mark.parametrize(
    ("change", "is_shared"),
    [({"confidence": 0.899}, True), ({"max_price_age": 100}, False), ({"runs": 2}, False),
     ({"overheads": "none"}, False), ({"max_hours": 9.0}, False), ({"currency": "EUR"}, False)],
)  # fmt: skip
def test_a_question_asked_again_without_what_changes_nothing_costs_no_runs(
    packaged_evidence, packaged_prices, change, is_shared
):
    euros = Market({"EUR": ExchangeRate("EUR", Decimal("0.9"), NOW.date(), "made up")})
    query, memory = EstimateQuery("resnet50", 0.7513, **EVERY), Memory()
    first, again = (
        Asked(each, packaged_evidence, packaged_prices, NOW, euros, memory)
        for each in (query, replace(query, **change))
    )
    assert (first._costed.sieve is again._costed.sieve) is is_shared
    alone = Asked(again.query, packaged_evidence, packaged_prices, NOW, euros)
    assert again.answer().estimates == alone.answer().estimates
