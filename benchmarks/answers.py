"""Uncached answers in process: at 100,000 offers and growing to 1,000,000."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.synthetic import NOW, catalogue
from benchmarks.timing import median, milliseconds, p99, report, slowness
from costcalc.catalogue.catalogue import Catalogue
from costcalc.estimate import answer
from costcalc.evidence import Evidence, load_evidence
from costcalc.memory import Memory
from costcalc.query import EstimateQuery

CALLS = 300


def questions(count: int) -> list[EstimateQuery]:
    """Different questions, so that nothing can be answered from memory."""
    return [EstimateQuery("resnet50", 0.70 + 0.06 * n / count) for n in range(count)]


def run() -> bool:
    evidence, fine = load_evidence(), True
    slow = slowness()
    taken = {size: _taken(evidence, catalogue(size)) for size in (10_000, 100_000, 1_000_000)}
    for name, figure, most in (("p50", median(taken[100_000]), 3 * slow), ("p99", p99(taken[100_000]), 10 * slow)):
        what, wanted = f"uncached /cost at 100,000 offers, {name}", f"under {most:.1f} ms"
        fine &= report(what, f"{figure:.2f} ms", wanted, figure < most)
    for small, large in ((10_000, 100_000), (100_000, 1_000_000)):
        growth = median(taken[large]) / median(taken[small])
        fine &= report(
            f"growth from {small:,} to {large:,} offers", f"{growth:.2f} times", "less than 10 times", growth < 10
        )
    return fine


def _taken(evidence: Evidence, offers: Catalogue) -> list[float]:
    memory = Memory()

    def asking(question: EstimateQuery) -> Callable[[], object]:
        return lambda: answer(question, evidence, offers, NOW, memory=memory)

    asking(EstimateQuery("resnet50", 0.7))()
    return milliseconds(asking(question) for question in questions(CALLS))
