"""Uncached answers in process: at 100,000 offers and growing to 1,000,000."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.synthetic import NOW, catalogue
from benchmarks.timing import median, milliseconds, p99, report
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
    evidence = load_evidence()
    taken = {size: _taken(evidence, catalogue(size)) for size in (10_000, 100_000, 1_000_000)}
    middle, late = median(taken[100_000]), p99(taken[100_000])
    fine = report("uncached /cost at 100,000 offers, p50", f"{middle:.2f} ms", "under 3 ms", middle < 3)
    fine &= report("uncached /cost at 100,000 offers, p99", f"{late:.2f} ms", "under 10 ms", late < 10)
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
