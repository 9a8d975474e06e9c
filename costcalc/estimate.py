"""The one use case: a question, the evidence and the catalogue become an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache, partial
from itertools import count

from costcalc.answers import Answer, PriceBasis
from costcalc.catalogue.catalogue import OPTIONS, Catalogue, CurrentOffers, OfferFilter
from costcalc.convergence.eligibility import best_reached, eligible_recipes
from costcalc.costing.candidates import (
    Candidates,
    allowed_offers,
    costs,
    page,
    rentals,
    within_limits,
    without_training_time,
)
from costcalc.costing.storage_and_egress import NO_RATES, Market, StorageAndEgressRates
from costcalc.duration.training_matrix import TrainingMatrix, requested_clusters, training_matrix
from costcalc.duration.training_times import TrainingTimes, training_times
from costcalc.estimate_details import EstimateDetails, RankedCandidate
from costcalc.evidence import Evidence
from costcalc.money import ExchangeRate
from costcalc.offers import Offer, PurchaseOption
from costcalc.query import EstimateQuery

MATRICES_KEPT = FILTERS_KEPT = 32
MOMENTS_KEPT = 8
OFFERS_KEPT = 4096
US_DOLLAR = ExchangeRate("USD", Decimal(1), None, "")


def answer(
    query: EstimateQuery,
    evidence: Evidence,
    catalogue: Catalogue,
    now: datetime,
    exchange: Mapping[str, ExchangeRate] | None = None,
    storage_and_egress: StorageAndEgressRates = NO_RATES,
) -> Answer:
    """What it costs and how long it takes to reach the target on every offer that the question allows.

    `query.model` must be a model of the evidence, and `now` must be aware. `exchange` has units of each currency for one US
    dollar, by ISO code, and must have `query.currency` unless that is USD: raises KeyError otherwise. Offers quoted in a currency
    that it lacks are left out and counted. `storage_and_egress` has the list rates of both.
    """
    market = Market({"USD": US_DOLLAR} | dict(exchange or {}), storage_and_egress)
    as_of, known = query.as_of or now, memory(evidence, catalogue)
    current = catalogue.current_offers(as_of, query.max_price_age)
    matrix = known.matrix(query)
    offers = known.allowed_offers(matrix, current, OfferFilter.of(query))
    eligible = eligible_recipes(matrix.recipes, query)
    times = training_times(matrix, query, eligible, offers.clusters)
    unused = without_training_time(matrix, query, offers, eligible, times)
    times, rented = rentals(catalogue, matrix, offers, times, query)
    candidates, beyond_limits = within_limits(query, rented, costs(catalogue, query, rented, market))
    ranked = known.ranked(query, current, times, candidates)
    details = EstimateDetails(query, matrix, market, as_of)
    bills = tuple(map(details.bill, ranked))
    rejected = _rejected(recipes=[eligible.rejections], offers=[offers.rejections, unused], runs=[beyond_limits])
    return Answer(
        query=query,
        prices=_price_basis(catalogue, as_of, current),
        count=len(candidates.row),
        estimates=tuple(map(details.estimate, ranked, bills)),
        rejections={reason: number for reason, (_, number) in rejected.items()},
        rejection_units={reason: unit for reason, (unit, _) in rejected.items()},
        best_reached=best_reached(matrix.recipes, query.metric),
        exchange=market.exchange[query.currency] if query.currency != "USD" else None,
        quoted_exchange=_quoted_exchange(query, market, (one.offer for one in ranked)),
        bills=bills,
        on_demand=tuple(one.on_demand for one in ranked),
    )


class Memory:
    """What answers about one catalogue share, worked out at its first use; the least recently used is forgotten."""

    def __init__(self, evidence: Evidence, catalogue: Catalogue) -> None:
        self.evidence = evidence
        self.catalogue = catalogue
        self.allowed_offers = lru_cache(FILTERS_KEPT)(partial(allowed_offers, catalogue))
        self._matrix = lru_cache(MATRICES_KEPT)(partial(_matrix, evidence, catalogue))
        self._on_demand_rows = lru_cache(MOMENTS_KEPT)(partial(_on_demand_rows, catalogue))
        self._offer = lru_cache(OFFERS_KEPT)(catalogue.offer)

    def matrix(self, query: EstimateQuery) -> TrainingMatrix:
        """The recipes of the question's model on the clusters it asks about."""
        return self._matrix(query.model, query.accelerators, query.nodes, query.software == "recipe")

    def ranked(
        self, query: EstimateQuery, current: CurrentOffers, times: TrainingTimes, candidates: Candidates
    ) -> tuple[RankedCandidate, ...]:
        """The candidates of the page asked for, in order, with their exact offers."""
        chosen = candidates.take(page(self.catalogue, query, candidates))
        rows = chosen.row.tolist()
        on_demand = (self._on_demand(current, row) for row in rows)
        columns = map(self._offer, rows), times.at(chosen.time), count(query.offset + 1), chosen.on_frontier.tolist()
        return tuple(map(RankedCandidate, *columns, on_demand))

    def _on_demand(self, current: CurrentOffers, row: int) -> Offer | None:
        """The same machine on demand, in the same region and currency."""
        columns = self.catalogue.columns
        key = int(columns.instance[row]), int(columns.region[row]), int(columns.currency[row])
        found = self._on_demand_rows(current).get(key)
        return None if found is None else self._offer(found)


@lru_cache(maxsize=2)
def memory(evidence: Evidence, catalogue: Catalogue) -> Memory:
    """What is remembered of this evidence and catalogue."""
    return Memory(evidence, catalogue)


def _matrix(
    evidence: Evidence, catalogue: Catalogue, model: str, accelerators: int | None, nodes: int | None, dated: bool
) -> TrainingMatrix:
    clusters = requested_clusters(evidence, catalogue, model, accelerators, nodes)
    return training_matrix(evidence, catalogue, model, clusters, dated)


def _on_demand_rows(catalogue: Catalogue, current: CurrentOffers) -> dict[tuple[int, int, int], int]:
    """The current on-demand row of each instance, region and currency."""
    columns = catalogue.columns
    rows = current.listed[columns.option[current.listed] == OPTIONS.index(PurchaseOption.ON_DEMAND)]
    keys = (columns.instance[rows].tolist(), columns.region[rows].tolist(), columns.currency[rows].tolist())
    return dict(zip(zip(*keys, strict=True), rows.tolist(), strict=True))


def _price_basis(catalogue: Catalogue, as_of: datetime, current: CurrentOffers) -> PriceBasis:
    oldest, newest = (
        None if at is None else datetime.fromtimestamp(at, UTC) for at in (current.oldest, current.newest)
    )
    return PriceBasis(catalogue.snapshot, as_of, oldest, newest, catalogue.gaps)


def _rejected(**counted: list[dict[str, int]]) -> dict[str, tuple[str, int]]:
    """By reason what was left out, under the name of its argument, and how many: the rejections of all steps that occurred."""
    total = {unit: sum(map(Counter, steps), Counter[str]()) for unit, steps in counted.items()}
    found = ((reason, unit, number) for unit, each in total.items() for reason, number in each.items() if number)
    return {reason: (unit, number) for reason, unit, number in sorted(found)}


def _quoted_exchange(query: EstimateQuery, market: Market, offers: Iterable[Offer]) -> tuple[ExchangeRate, ...]:
    """The rates of the currencies that these offers are quoted in, dollars and the requested currency apart."""
    quoted = {offer.currency for offer in offers} - {"USD", query.currency}
    return tuple(market.exchange[code] for code in sorted(quoted))
