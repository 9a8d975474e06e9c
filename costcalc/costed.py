"""What a question leads to as columns, before any estimate is made exact: the straight line from offers to costs and marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from itertools import chain

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from costcalc.answers import Missed
from costcalc.catalogue.catalogue import Catalogue, OfferFilter
from costcalc.catalogue.current import CurrentOffers
from costcalc.convergence.eligibility import eligible_recipes
from costcalc.costing.candidates import Candidates, with_frontier
from costcalc.costing.rentals import AllowedOffers, without_training_time
from costcalc.costing.requirements import offer_marks
from costcalc.costing.sieve import Sieve, Totals
from costcalc.costing.storage_and_egress import Market
from costcalc.duration.training_matrix import TrainingMatrix
from costcalc.duration.training_times import Course, TrainingTimes, training_times
from costcalc.evidence import Evidence
from costcalc.memory import Memory
from costcalc.offer import PurchaseOption
from costcalc.picks import Needed
from costcalc.query import EstimateQuery
from costcalc.recall import Recall


class Costed(Struct, frozen=True, eq=False):
    """The `candidates` of a question and its `free` tiers, costed and marked, and what they were made of.

    Very many candidates are not all kept; `totals` counts them all. `needed` says which marks a pick needs, `widened` up to how
    many days old rates of a kind are confirmed where too few are fresh, `rejected` by reason what was left out and how many.
    """

    recall: Recall
    current: CurrentOffers
    matrix: TrainingMatrix
    offers: AllowedOffers
    course: Course
    times: TrainingTimes
    candidates: Candidates
    free: Candidates
    widened: Mapping[PurchaseOption, float]
    sieve: Sieve
    totals: Totals
    needed: Needed
    rejected: dict[str, tuple[str, int]]

    @property
    def is_whole(self) -> bool:
        """Whether all candidates are kept."""
        return self.totals.every == len(self.candidates.row)

    @property
    def likeliest(self) -> Missed | None:
        """The recipe that reaches the target most often, where none does so surely enough."""
        at = self.course.eligible.likeliest
        chance = self.course.eligible.success_probability
        return None if at is None else Missed(self.matrix.recipes.recipes[at].name, float(chance[at]))

    def dearer(self, cost: float) -> int:
        """How many candidates that picks may come from cost more."""
        if not self.is_whole:
            return self.sieve.dearer(self.needed.marks, cost)
        return int(np.count_nonzero(self.candidates.cost[self.candidates.pickable] > cost))


def costed(
    query: EstimateQuery, evidence: Evidence, catalogue: Catalogue, now: datetime, market: Market, memory: Memory
) -> Costed:
    """What the question leads to; includes benchmark entries if no recipe of less care runs here."""
    recall = Recall(evidence, catalogue, query.as_of or now, memory)
    usual = _costed(query, recall, market)
    ended = any(unit == "runs" for unit, _ in usual.rejected.values())
    if ended or len(usual.candidates.row) or len(usual.free.row) or "beyond_training" not in usual.rejected:
        return usual
    with_entries = _costed(replace(query, training="record"), recall, market)
    return with_entries if len(with_entries.candidates.row) else usual


def _costed(query: EstimateQuery, recall: Recall, market: Market) -> Costed:
    catalogue, as_of = recall.catalogue, recall.as_of
    offered = catalogue.confirmed_offers if query.rates == "confirmed" else catalogue.current_offers
    current = offered(as_of, query.max_price_age)
    eligible = eligible_recipes(recall.recipes(query), query)
    matrix = recall.matrix(query, eligible.care)
    offers = recall.allowed_offers(matrix, current, OfferFilter.of(query))
    course = Course.of(matrix, query, eligible)
    times = training_times(course, offers.clusters)
    unused = without_training_time(course, offers, times)
    confirmation = catalogue.confirmed(as_of, query.max_price_age)
    marks = offer_marks(catalogue, offers, confirmation.among(recall.rates(offers)), query)

    sieve = Sieve(query, catalogue, matrix, offers, times, recall.spot_risks, market, eligible.best, marks)
    if sieve.is_large:  # as of a question that is asked again without what may change nothing
        sieve = recall.memory.in_use.setdefault(sieve.name, sieve)
    times, candidates, free, totals, needed = sieve.made
    candidates = with_frontier(candidates, needed.marks)
    if query.frontier:
        candidates = candidates.take(candidates.on_frontier)
        totals = Totals.of(candidates, totals.rejections)
    return Costed(
        recall=recall,
        current=current,
        matrix=matrix,
        offers=offers,
        course=course,
        times=times,
        candidates=candidates,
        free=free,
        widened=confirmation.widened,
        sieve=sieve,
        totals=totals,
        needed=needed,
        rejected=_rejected(
            recipes=[eligible.rejections], offers=[offers.rejections, unused], runs=[dict(totals.rejections)]
        ),
    )


def _rejected(**counted: list[dict[str, int]]) -> dict[str, tuple[str, int]]:
    """By reason what was left out, under the name of its argument, and how many: the rejections of all steps that occurred."""
    total: Counter[tuple[str, str]] = Counter()
    for unit, steps in counted.items():
        for reason, number in chain.from_iterable(map(dict.items, steps)):
            if number:
                total[reason, unit] += number
    return {reason: (unit, number) for (reason, unit), number in sorted(total.items())}
