"""Which measurements would change decisions most: `python -m tools.wanted`.

A training is asked for at the packaged, confirmed rates. Nobody knows what an unmeasured accelerator really takes, but in
what range. Whoever measured it would know, and rent it only where it turned out cheaper than the rest. The expected
saving of that, a run, is the worth of the measurement: the mean of the lesser cost is less than the lesser of the means.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from statistics import NormalDist
from typing import NamedTuple

from costcalc import EstimateQuery, answer, load_evidence
from costcalc.answers import Estimate
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence import Evidence
from costcalc.training import Tier
from pricing.packaged.offers import read_packaged

MOMENT = datetime(2026, 11, 20, 12, tzinfo=UTC)
QUESTIONS = (("resnet50", 0.757), ("vit_b16", 0.78))
NORMAL = NormalDist()
SHOWN = 12


class Wanted(NamedTuple):
    """A measurement that nobody published, what one would save by it on average, and the estimate that it would replace."""

    model: str
    saved: float
    estimate: Estimate


def wanted(evidence: Evidence, catalogue: Catalogue, model: str, target: float) -> list[Wanted]:
    """Of each accelerator on which no speed of the best recipe was measured, what is worth most first."""
    query = EstimateQuery(model, target, purchase=("on_demand",), rates="confirmed", limit=1000)
    best = list(_cheapest(answer(query, evidence, catalogue, MOMENT).estimates))
    unknown = [one for one in best if one.evidence.throughput is Tier.MODELLED]
    found = [Wanted(model, _worth(one, best), one) for one in unknown]
    return sorted(found, key=lambda one: -one.saved)


def _cheapest(estimates: Sequence[Estimate]) -> Iterator[Estimate]:
    """The first of each accelerator, whatever its memory; they come sorted by cost."""
    seen: set[str] = set()
    for one in estimates:
        if one.accelerators and one.accelerator not in seen:
            seen.add(one.accelerator)
            yield one


def _worth(one: Estimate, best: Sequence[Estimate]) -> float:
    """What knowing the cost of one saves on average: the mean of the lesser cost is less than the lesser of the means."""
    others = min((float(other.effective_cost) for other in best if other is not one), default=math.inf)
    middle = float(one.effective_cost)
    deviation = math.log(float(one.effective_cost_high / one.effective_cost_low)) / 2 / NORMAL.inv_cdf(0.9)
    mean = middle * math.exp(deviation**2 / 2)
    return min(others, mean) - _mean_of_lesser(middle, deviation, others)


def _mean_of_lesser(middle: float, deviation: float, other: float) -> float:
    """E[min(cost, other)] with ln(cost) normal: Black and Scholes 1973, for a put."""
    if math.isinf(other):
        return middle * math.exp(deviation**2 / 2)
    at = math.log(other / middle) / deviation
    return middle * math.exp(deviation**2 / 2) * NORMAL.cdf(at - deviation) + other * (1 - NORMAL.cdf(at))


def lines() -> Iterator[str]:
    """The list as a table of Markdown."""
    evidence, catalogue = load_evidence(), Catalogue.from_offers(read_packaged().offers, "packaged")
    found = [one for model, target in QUESTIONS for one in wanted(evidence, catalogue, model, target)]
    yield "| network | accelerator | recipe that is answered | cost, 80 % range | saved a run by knowing |"
    yield "| --- | --- | --- | ---: | ---: |"
    for one in sorted(found, key=lambda one: -one.saved)[:SHOWN]:
        shown = one.estimate
        cost = f"${shown.effective_cost} ({shown.effective_cost_low} to {shown.effective_cost_high})"
        yield f"| {one.model} | {shown.accelerator} | {shown.recipe} | {cost} | ${one.saved:.2f} |"


if __name__ == "__main__":
    print(*lines(), sep="\n")
