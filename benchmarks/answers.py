"""Uncached answers in process: at 100,000 offers, growing to 1,000,000, and beside gpuhunt's query."""

from __future__ import annotations

from benchmarks.synthetic import NOW, catalogue
from benchmarks.timing import median, milliseconds, p99, report
from costcalc.estimate import answer
from costcalc.evidence import load_evidence
from costcalc.query import EstimateQuery

CALLS = 300


def questions(count: int) -> list[EstimateQuery]:
    """Different questions, so that nothing can be answered from memory."""
    return [EstimateQuery("resnet50", 0.70 + 0.06 * n / count) for n in range(count)]


def run() -> bool:
    evidence = load_evidence()
    fine = True
    medians = {}
    for size in (10_000, 100_000, 1_000_000):
        offers = catalogue(size)
        answer(EstimateQuery("resnet50", 0.7), evidence, offers, NOW)
        asked = questions(CALLS)
        taken = milliseconds([lambda q=q: answer(q, evidence, offers, NOW) for q in asked])  # type: ignore[misc]
        medians[size] = median(taken)
        if size == 100_000:
            fine &= report(
                "uncached /cost at 100,000 offers, p50", f"{median(taken):.2f} ms", "under 3 ms", median(taken) < 3
            )
            fine &= report(
                "uncached /cost at 100,000 offers, p99", f"{p99(taken):.2f} ms", "under 10 ms", p99(taken) < 10
            )
    for small, large in ((10_000, 100_000), (100_000, 1_000_000)):
        growth = medians[large] / medians[small]
        fine &= report(
            f"growth from {small:,} to {large:,} offers", f"{growth:.2f} times", "less than 10 times", growth < 10
        )
    return fine
