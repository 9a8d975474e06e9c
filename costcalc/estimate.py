"""The one use case: a question, the evidence and the catalogue become an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain, count
from typing import Any
from weakref import ref

import numpy as np

from costcalc.answers import Answer, Estimate, Overview, PriceBasis, Ranges
from costcalc.catalogue.catalogue import OPTIONS, Catalogue, CurrentOffers, OfferFilter
from costcalc.catalogue.freshness import LastSeen
from costcalc.choosing import Choice
from costcalc.comparison import owned_machines
from costcalc.convergence.eligibility import EligibleRecipes, best_reached, eligible_recipes
from costcalc.costing.bills import Bill
from costcalc.costing.candidates import (
    Candidates,
    free_tiers,
    page,
    rank,
    with_frontier,
    within_limits,
)
from costcalc.costing.owning import cheapest_rental, own_candidates
from costcalc.costing.rentals import (
    AllowedOffers,
    Rentals,
    Risks,
    allowed_offers,
    cost_ranges,
    costs,
    rentals,
    spot_risks,
    without_training_time,
)
from costcalc.costing.requirements import are_rentable, are_sure
from costcalc.costing.storage_and_egress import Market
from costcalc.duration.running import UNKNOWN, YES
from costcalc.duration.training_matrix import TrainingMatrix, Way, training_matrix
from costcalc.duration.training_times import TrainingTimes, training_times
from costcalc.estimate_details import EstimateDetails, RankedCandidate
from costcalc.evidence import Evidence
from costcalc.interruptions import ObservedInterruptions, Place, newest, observed_until
from costcalc.memory import Few, Memory, Shelf
from costcalc.money import ExchangeRate
from costcalc.offers import Offer, PurchaseOption
from costcalc.ordinary import OrdinaryScript, ordinary_groups
from costcalc.picks import PickName, Requirement, pickable
from costcalc.query import EstimateQuery
from costcalc.reasons import reasoned
from costcalc.throughput.own_speeds import asked_speed
from costcalc.units import Flags, Indices

OFFERS_KEPT, OFFER_BYTES = 4096, 1200
SAYINGS_KEPT, SAYING_BYTES = 1024, 2000
UNFILTERED: dict[str, Any] = {
    **dict.fromkeys(("provider", "region", "instance_type", "accelerator", "purchase"), ()),
    **dict.fromkeys(("accelerators", "nodes", "max_hours", "max_cost")),
}
"""What a question asks about where it asks about everything that can be rented."""
IN_DOLLARS = Market()
PICK_BY: dict[str, PickName] = {"cost": "cheapest", "time": "fastest"}
"""The pick to act on, by what the question is sorted by."""
HOUR_WORTH = 10
"""What an hour of waiting is worth unless the question says otherwise, in US dollars."""


def answer(
    query: EstimateQuery,
    evidence: Evidence,
    catalogue: Catalogue,
    now: datetime,
    market: Market = IN_DOLLARS,
    memory: Memory | None = None,
) -> Answer:
    """What it costs and how long it takes to reach the target on every offer that the question allows.

    `query.model` must be a model of the evidence, and `now` must be aware. The `market` must have an exchange rate for
    `query.currency`: raises KeyError otherwise. Offers quoted in a currency that it lacks are left out and counted. Questions
    with the same `memory` share what was worked out for the first of them, which takes a hundred times as long.
    """
    return Asked(query, evidence, catalogue, now, market, memory or Memory()).answer()


@dataclass(frozen=True)
class Asked:
    """A query, and what it is answered from. What its answer and its overview both need is found once."""

    query: EstimateQuery
    evidence: Evidence
    catalogue: Catalogue
    now: datetime
    market: Market = IN_DOLLARS
    memory: Memory = field(default_factory=Memory)

    def answer(self) -> Answer:
        """The picks and the page of estimates asked for, exactly."""
        query, catalogue, found = self.query, self.catalogue, self._found
        known, times, candidates = found.known, found.times, found.candidates
        seen = known.last_seen(found.offers)
        choice = Choice(query, catalogue, found.matrix, times, candidates, found.sure, self._ranges)
        picked = choice.picks(self._hour_worth)
        mine = own_candidates(catalogue, candidates) if query.own else []
        best, unconfirmed = choice.best(picked.values()), choice.cheapest_unconfirmed()
        shown = known.shown(query, found.current, times, candidates, (*best, *unconfirmed, *mine))
        tiers = known.ranked(found.current, times, found.free.take(free_tiers(found.free, catalogue)), count(1))
        details = self._details(any(one.offer.purchase_option is PurchaseOption.OWNED for one in shown.values()))
        bills = tuple(map(details.bill, shown.values()))
        lead = min(mine, key=lambda position: candidates.cost[position], default=picked.get(PICK_BY[query.sort]))
        script = None if lead is None else self._ordinary(lead)
        usual = script and script.found(self.market, known.spot_risks(found.as_of))
        plain = known.ranked(found.current, *usual, [0]) if usual else ()
        estimates = dict(zip(shown, map(details.estimate, shown.values(), bills), strict=True))
        bill_at = dict(zip(shown, bills, strict=True))
        on_page = sum(query.offset < one.rank <= query.offset + query.limit for one in shown.values())
        return Answer(
            query=query,
            prices=_price_basis(catalogue, found.as_of, seen),
            freshness=seen.freshness(found.as_of, catalogue.refreshed_at),
            picks=tuple(reasoned({name: estimates[position] for name, position in picked.items()}, query.basis)),
            missed=found.missed,
            best=tuple(estimates[position] for position in best),
            best_bills=tuple(bill_at[position] for position in best),
            best_on_demand=tuple(shown[position].on_demand for position in best),
            unconfirmed=next((estimates[position] for position in unconfirmed), None),
            ordinary=details.priced(plain[0]) if plain else None,
            ordinary_missed=script.missed if script else None,
            folded=choice.folded(),
            count=len(candidates.row),
            estimates=tuple(estimates.values())[:on_page],
            free=tuple(map(details.priced, tiers)),
            owned=owned_machines(_with_bills(estimates, bills, mine), tuple(estimates.values())) if mine else (),
            rejections={reason: number for reason, (_, number) in found.rejected.items()},
            rejection_units={reason: unit for reason, (unit, _) in found.rejected.items()},
            best_reached=best_reached(found.matrix.recipes, query.metric),
            exchange=self.market.exchange[query.currency] if query.currency != "USD" else None,
            quoted_exchange=_quoted_exchange(query, self.market, (*shown.values(), *tiers)),
            bills=bills[:on_page],
            on_demand=tuple(one.on_demand for one in shown.values())[:on_page],
        )

    def _ordinary(self, position: int) -> OrdinaryScript:
        """The script that most people run, on a candidate's machine."""
        found, query = self._found, replace(self.query, recipes="best", recipe=())
        row, cluster = found.candidates.row[[position]], found.times.cluster[found.candidates.time[[position]]]
        eligible = found.eligible if query == self.query else eligible_recipes(found.matrix.recipes, query)
        accelerator, *_ = self.catalogue.shapes[found.matrix.clusters[int(cluster[0])].shape]
        groups = found.known.ordinary_groups(found.matrix, accelerator)
        return OrdinaryScript(query, self.catalogue, found.matrix, row, cluster, groups, eligible)

    @property
    def _hour_worth(self) -> float:
        """What an hour of waiting is worth, in the currency asked for."""
        asked, per_usd = self.query.hour_worth, self.market.exchange[self.query.currency].per_usd
        return float(HOUR_WORTH * per_usd if asked is None else asked)

    def _details(self, compares_own: bool) -> EstimateDetails:
        """What makes estimates exact; an own machine's is compared with the cheapest rental, whatever the filters."""
        found, known = self._found, self._found.known
        details = EstimateDetails(
            self.query,
            found.matrix,
            self.market,
            found.as_of,
            known.interruptions(found.as_of),
            self.evidence.energy,
            known.sayings(found.matrix),
        )
        if not compares_own:
            return details
        rented = cheapest_rental(self.catalogue, found.candidates)
        if rented is None:
            elsewhere = replace(self, query=replace(self.query, **UNFILTERED))
            rented = cheapest_rental(self.catalogue, elsewhere._found.candidates)
        return replace(details, cheapest_rental=rented)

    def overview(self) -> Overview:
        """Every estimate as columns, for charts and counts: in a twentieth of the time that exact ones take."""
        found = self._found
        order = found.candidates.order(self.query.sort, self.catalogue)
        candidates = found.candidates.take(np.lexsort(tuple(reversed(order))))
        return Overview(
            row=candidates.row,
            nodes=found.matrix.nodes[found.times.cluster[candidates.time]],
            hours=candidates.calendar_hours,
            cost=candidates.cost,
            pickable=candidates.pickable,
            on_frontier=candidates.on_frontier,
            ranges=lambda positions: self._ranges(candidates.take(positions)),
        )

    def _ranges(self, some: Candidates) -> Ranges:
        found, calendar = self._found, some.calendar_hours
        times = found.times.take(some.time)
        nodes, waits = found.matrix.nodes[times.cluster], calendar > times.hours
        rented = Rentals(some.row, some.time, nodes, times.hours, calendar, np.zeros(len(nodes), bool))
        low, high = (np.where(waits, calendar, end) for end in (times.hours_low, times.hours_high))
        return Ranges(low, high, *cost_ranges(self.catalogue, self.query, rented, times, self.market, found.as_of))

    @cached_property
    def _found(self) -> _Found:
        """What the question leads to; with benchmark entries where no recipe of less care takes any time here."""
        found = self._of(self.query)
        ended = any(unit == "runs" for unit, _ in found.rejected.values())
        if ended or len(found.candidates.row) or len(found.free.row) or "beyond_training" not in found.rejected:
            return found
        with_entries = self._of(replace(self.query, training="record"))
        return with_entries if len(with_entries.candidates.row) else found

    def _of(self, query: EstimateQuery) -> _Found:
        catalogue = self.catalogue
        as_of, known = query.as_of or self.now, Recall(self.evidence, catalogue, self.memory)
        offered = catalogue.confirmed_offers if query.rates == "confirmed" else catalogue.current_offers
        current = offered(as_of, query.max_price_age)
        matrix = known.matrix(query, as_of)
        offers = known.allowed_offers(matrix, current, OfferFilter.of(query))
        eligible = eligible_recipes(matrix.recipes, query)
        times = training_times(matrix, query, eligible, offers.clusters)
        unused = without_training_time(matrix, query, offers, eligible, times)
        times, rented = rentals(catalogue, matrix, offers, times, query, known.spot_risks(as_of))
        candidates, free, beyond_limits = within_limits(query, rented, costs(catalogue, query, rented, self.market))
        rejected = _rejected(recipes=[eligible.rejections], offers=[offers.rejections, unused], runs=[beyond_limits])
        runs_here = matrix.runs.at(times.recipe, times.cluster)
        vouched = catalogue.confirmed(as_of, query.max_price_age)
        candidates, free = (
            replace(some, runs_here=runs_here[some.time], confirmed=vouched.of(some.row)) for some in (candidates, free)
        )
        rentable = are_rentable(catalogue, candidates.row, query)
        chosen = pickable((candidates.runs_here == YES, rentable, candidates.confirmed))
        candidates = replace(candidates, pickable=chosen.flags)
        candidates = with_frontier(candidates, times.hours[candidates.time])
        if query.frontier:
            candidates = candidates.take(candidates.on_frontier)
        sure = are_sure(matrix, times)
        return _Found(
            known, as_of, current, matrix, offers, eligible, times, candidates, free, rejected, chosen.missed, sure
        )


@dataclass(frozen=True, slots=True)
class _Found:
    """What a question leads to before any estimate is made exact."""

    known: Recall
    as_of: datetime
    current: CurrentOffers
    matrix: TrainingMatrix
    offers: AllowedOffers
    eligible: EligibleRecipes
    times: TrainingTimes
    candidates: Candidates
    free: Candidates
    rejected: dict[str, tuple[str, int]]
    missed: tuple[Requirement, ...]
    sure: Flags


def _with_bills(
    estimates: Mapping[int, Estimate], bills: Sequence[Bill], positions: Iterable[int]
) -> Iterator[tuple[Estimate, Bill]]:
    """The estimates at these positions, each with its bill."""
    bill_at = dict(zip(estimates, bills, strict=True))
    return ((estimates[position], bill_at[position]) for position in positions)


@dataclass(frozen=True)
class Recall:
    """What answers about one catalogue share, as it stands in memory."""

    evidence: Evidence
    catalogue: Catalogue
    memory: Memory

    @cached_property
    def _shelf(self) -> Shelf:
        return self.memory.shelf(self.evidence.of_own_run)

    def matrix(self, query: EstimateQuery, as_of: datetime) -> TrainingMatrix:
        """The recipes of the question's model that were known then on the clusters it asks about.

        Catalogues with the same machines share it."""
        day = self.evidence.last_publication(as_of.astimezone(UTC).date())
        speed = query.images_per_second
        own = asked_speed(speed, query.model, as_of.year) if speed else None
        way = Way(query.software == "recipe", query.pipeline, own)
        asked = query.model, query.accelerators, query.nodes, way

        def worked_out() -> TrainingMatrix:
            return training_matrix(self.evidence.known_on(day), self.catalogue, *asked)

        return self._shelf.recall((ref(self.evidence), self.catalogue.machine_types, day, *asked), worked_out)

    def allowed_offers(self, matrix: TrainingMatrix, current: CurrentOffers, wanted: OfferFilter) -> AllowedOffers:
        """The offers of the matrix's machines that a question allows."""
        name = ref(self.catalogue), ref(matrix), ref(current), wanted
        return self._shelf.recall(name, lambda: allowed_offers(self.catalogue, matrix, current, wanted))

    def ordinary_groups(self, matrix: TrainingMatrix, accelerator: str) -> tuple[Flags, ...]:
        """The ordinary recipes of a matrix, those first that most people run on this accelerator."""
        chip = self.evidence.accelerators.get(accelerator)
        usual = next((each for each in self.evidence.usual_scripts if chip and each.vendor == chip.vendor), None)
        name = ref(self.evidence), ref(matrix), "ordinary", usual
        return self._shelf.recall(name, lambda: ordinary_groups(matrix.recipes.recipes, usual))

    def last_seen(self, offers: AllowedOffers) -> LastSeen:
        """When these offers were last observed."""
        name = ref(self.catalogue), ref(offers), "last seen"
        return self._shelf.recall(name, lambda: LastSeen.of(self.catalogue, offers.listed))

    def interruptions(self, as_of: datetime) -> Mapping[Place, ObservedInterruptions]:
        """What was known then of the interruptions of spot machines."""
        observed = self._interruptions_observed(as_of)
        name = ref(self.evidence), "interruptions", observed
        return self._shelf.recall(name, lambda: newest(self.evidence.interruptions[:observed]))

    def spot_risks(self, as_of: datetime) -> Risks:
        """The same by instance code and region code of the catalogue."""
        observed = self._interruptions_observed(as_of)
        name = ref(self.evidence), ref(self.catalogue), "spot risks", observed
        return self._shelf.recall(name, lambda: spot_risks(self.catalogue, self.evidence.interruptions[:observed]))

    def _interruptions_observed(self, as_of: datetime) -> int:
        return observed_until(self.evidence.interruptions, as_of.astimezone(UTC).date())

    def shown(
        self,
        query: EstimateQuery,
        current: CurrentOffers,
        times: TrainingTimes,
        candidates: Candidates,
        others: Iterable[int],
    ) -> dict[int, RankedCandidate]:
        """By position: the candidates of the page asked for, in order, then the others to show that stand elsewhere."""
        order = candidates.order(query.sort, self.catalogue)
        ranks = dict(zip(page(order, query).tolist(), count(query.offset + 1)))
        ranks |= {position: rank(order, position) for position in others if position not in ranks}
        chosen = candidates.take(np.array(list(ranks), np.int64))
        return dict(zip(ranks, self.ranked(current, times, chosen, ranks.values()), strict=True))

    def ranked(
        self, current: CurrentOffers, times: TrainingTimes, candidates: Candidates, ranks: Iterable[int]
    ) -> tuple[RankedCandidate, ...]:
        """These candidates with their exact offers."""
        of = candidates
        columns = of.calendar_hours, of.on_frontier, of.confirmed, of.runs_here
        hours, front, confirmed, codes = (column.tolist() for column in columns)
        runs_here = [None if code == UNKNOWN else code == YES for code in codes]
        offers, known = map(self._offer, of.row.tolist()), times.at(of.time)
        on_demand = self._on_demand(current, of.row)
        return tuple(map(RankedCandidate, offers, known, hours, ranks, front, on_demand, confirmed, runs_here))

    def _on_demand(self, current: CurrentOffers, rows: Indices) -> Iterator[Offer | None]:
        """The same machines on demand, in the same region and currency."""
        name = ref(self.catalogue), ref(current), "on demand"
        known = self._shelf.recall(name, lambda: _on_demand_rows(self.catalogue, current))
        for found in map(known.get, _places(self.catalogue, rows)):
            yield None if found is None else self._offer(found)

    @cached_property
    def _offers(self) -> Few[int, Offer]:
        return self._shelf.recall((ref(self.catalogue), "offers"), lambda: Few(OFFERS_KEPT, OFFER_BYTES))

    def _offer(self, row: int) -> Offer:
        return self._offers.recall(row, self.catalogue.offer, row)

    def sayings(self, matrix: TrainingMatrix) -> Few[Any, Any]:
        """What is said of estimates of this matrix, whatever they cost."""
        return self._shelf.recall((ref(matrix), "sayings"), lambda: Few(SAYINGS_KEPT, SAYING_BYTES))


def _on_demand_rows(catalogue: Catalogue, current: CurrentOffers) -> dict[tuple[int, int, int], int]:
    """The current on-demand row of each instance, region and currency."""
    on_demand = catalogue.columns.option[current.listed] == OPTIONS.index(PurchaseOption.ON_DEMAND)
    rows = current.listed[on_demand]
    return dict(zip(_places(catalogue, rows), rows.tolist(), strict=True))


def _places(catalogue: Catalogue, rows: Indices) -> Iterable[tuple[int, int, int]]:
    """The codes of each row's instance, region and currency."""
    columns = catalogue.columns
    codes = (columns.instance[rows], columns.region[rows], columns.currency[rows])
    return zip(*(each.tolist() for each in codes), strict=True)


def _price_basis(catalogue: Catalogue, as_of: datetime, seen: LastSeen) -> PriceBasis:
    ends = seen.moments[[0, -1]].tolist() if len(seen.moments) else []
    oldest, newest = (datetime.fromtimestamp(each, UTC) for each in ends) if ends else (None, None)
    return PriceBasis(catalogue.snapshot, as_of, oldest, newest, catalogue.gaps)


def _rejected(**counted: list[dict[str, int]]) -> dict[str, tuple[str, int]]:
    """By reason what was left out, under the name of its argument, and how many: the rejections of all steps that occurred."""
    total: Counter[tuple[str, str]] = Counter()
    for unit, steps in counted.items():
        for reason, number in chain.from_iterable(step.items() for step in steps):
            total[reason, unit] += number
    return {reason: (unit, number) for (reason, unit), number in sorted(total.items()) if number}


def _quoted_exchange(
    query: EstimateQuery, market: Market, shown: Iterable[RankedCandidate]
) -> tuple[ExchangeRate, ...]:
    """The rates of the currencies that these offers are quoted in, dollars and the requested currency apart."""
    quoted = {one.offer.currency for one in shown} - {"USD", query.currency}
    return tuple(market.exchange[code] for code in sorted(quoted))
