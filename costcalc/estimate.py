"""The one use case: a question, evidence and a catalogue become an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache, cached_property
from itertools import chain, count, islice, repeat
from typing import NamedTuple

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from costcalc.answers import Answer, Estimate, Missed, Overview, PriceBasis, Ranges, Rented, Shown
from costcalc.catalogue.catalogue import Catalogue, CurrentOffers, OfferFilter
from costcalc.catalogue.freshness import LastSeen
from costcalc.choosing import Choice, folded
from costcalc.comparison import owned_machines
from costcalc.convergence.eligibility import EligibleRecipes, best_reached, eligible_recipes
from costcalc.costing.bills import Bill
from costcalc.costing.candidates import (
    Candidates,
    free_tiers,
    with_frontier,
)
from costcalc.costing.kept import LEAST_KEPT
from costcalc.costing.listing import Listing
from costcalc.costing.owning import cheapest_rental, own_candidates
from costcalc.costing.rentals import (
    AllowedOffers,
    without_training_time,
)
from costcalc.costing.requirements import offer_marks
from costcalc.costing.sieve import Sieve, Totals
from costcalc.costing.storage_and_egress import Market
from costcalc.duration.training_matrix import TrainingMatrix
from costcalc.duration.training_times import Course, TrainingTimes, training_times
from costcalc.estimate_details import EstimateDetails
from costcalc.evidence import Evidence
from costcalc.grounds import RankedCandidate
from costcalc.memory import Memory
from costcalc.money import ExchangeRate
from costcalc.offer import PurchaseOption
from costcalc.ordinary import OrdinaryScript
from costcalc.parameters import Part
from costcalc.picks import Needed, PickName
from costcalc.query import LAST_OFFSET, EstimateQuery, reset
from costcalc.reasons import reasoned
from costcalc.recall import Recall
from costcalc.rivals import Rivals
from costcalc.units import Indices

FILTERS: tuple[Part, ...] = ("machine", "count", "purchase", "limit", "order", "page", "price")
"""The parts of a question that leave out or order what can be rented."""
IN_DOLLARS = Market()


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


class Ordinary(NamedTuple):
    """A machine with an ordinary loop of today and with the usual script as published, None where none reaches the target; the
    script that people begin with, where it does so too seldom."""

    today: RankedCandidate | None = None
    as_published: RankedCandidate | None = None
    missed: Missed | None = None


class TooFarBehind(ValueError):
    """A page of very many estimates that are not listed so far."""

    def __init__(self, every: int) -> None:
        super().__init__(
            f"at most {LAST_OFFSET:,} of these {every:,} estimates: filters bring forward what stands behind"
        )


class Asked(Struct, frozen=True, dict=True, weakref=True):
    """A query, and what it is answered from. `starts` says what is known to start as it is. What its answer and its overview both
    need is found once."""

    query: EstimateQuery
    evidence: Evidence
    catalogue: Catalogue
    now: datetime
    market: Market = IN_DOLLARS
    memory: Memory = field(default_factory=Memory)
    starts: Callable[[Rented], bool] | None = None

    def answer(self) -> Answer:
        """The picks and the page of estimates asked for, exactly. Raises TooFarBehind."""
        query, catalogue, found = self.query, self.catalogue, self._found
        if query.offset > LAST_OFFSET and found.totals.every > len(found.candidates.row):
            raise TooFarBehind(found.totals.every)
        chosen = self._chosen()
        exact = self._exact(chosen)
        shown, last_seen = exact.shown, found.recall.last_seen(found.offers)
        estimates = {position: each.estimate for position, each in shown.items()}
        return Answer(
            query=query,
            prices=_price_basis(catalogue, found.recall.as_of, last_seen),
            freshness=last_seen.freshness(found.recall.as_of, catalogue.refreshed_at),
            picks=tuple(reasoned({name: estimates[at] for name, at in chosen.picks.items()}, query.basis)),
            named_first=chosen.first,
            missed=found.needed.missed,
            widened=found.widened,
            options=self,
            best_at=chosen.best,
            unconfirmed=next((estimates[position] for position in chosen.unconfirmed), None),
            rivals={kind: None if at is None else estimates[at] for kind, at in chosen.rivals.items()},
            free=exact.free,
            ordinary=exact.today,
            as_published=exact.as_published,
            ordinary_missed=exact.missed,
            likeliest=self._likeliest,
            folded=folded(found.totals.by_marks.tolist(), found.needed.marks),
            count=found.totals.every,
            estimates=tuple([estimates[position] for position in chosen.listed]),
            owned=owned_machines((shown[at][:2] for at in chosen.own), tuple(estimates.values())) if chosen.own else (),
            rejections={reason: number for reason, (_, number) in found.rejected.items()},
            rejection_units={reason: unit for reason, (unit, _) in found.rejected.items()},
            best_reached=best_reached(found.matrix.recipes, query.metric),
            exchange=self.market.exchange[query.currency] if query.currency != "USD" else None,
            quoted_exchange=self.quoted_exchange(np.append(exact.rows, found.candidates.row[[*chosen.best]])),
            bills=tuple([shown[position].bill for position in chosen.listed]),
            on_demand=tuple([shown[position].on_demand for position in chosen.listed]),
        )

    def _exact(self, chosen: _Chosen) -> _Exact:
        """What is shown, and the scripts beside the lead."""
        found, details = self._found, self._details
        free = found.free.take(free_tiers(found.free, self.catalogue))
        some = found.candidates.take(np.array([*chosen.ranks], np.int64)).followed_by(free)
        ranks, named = chain(chosen.ranks.values(), count(1)), chain(map(self._named.get, chosen.ranks), repeat(None))
        ranked = found.recall.ranked(found.current, found.times, some, ranks, named)
        lead = None if chosen.lead is None else ranked[[*chosen.ranks].index(chosen.lead)]
        beside = Ordinary() if lead is None else self._ordinary(lead)
        scripts = [each for each in (beside.today, beside.as_published) if each]
        exact = iter(details.shown([*ranked, *scripts]))
        return _Exact(
            rows=some.row,
            shown=dict(zip(chosen.ranks, islice(exact, len(chosen.ranks)), strict=True)),
            free=tuple([each.estimate for each in islice(exact, len(free.row))]),
            today=next(exact).estimate if beside.today else None,
            as_published=next(exact).estimate if beside.as_published else None,
            missed=beside.missed,
        )

    def _chosen(self) -> _Chosen:
        """Which candidates are looked at, and the ranks of those that are shown."""
        query, catalogue, choice, candidates = self.query, self.catalogue, self._choice, self._found.candidates
        picks, listing = self._picks, self._listing
        own = own_candidates(catalogue, candidates) if query.own else []
        first = self._named_first
        lead = min(own, key=lambda position: candidates.cost[position], default=picks[first] if first else None)
        best, unconfirmed = self.best(), choice.cheapest_unconfirmed()
        listed = listing.page(query.offset, query.limit)
        rivals = Rivals(query, catalogue, candidates, self.evidence.accelerators, self.evidence.processors.named)
        beside = {} if lead is None else rivals.beside(lead)
        of_rivals = [position for position in beside.values() if position is not None]
        others = (*picks.values(), *unconfirmed, *of_rivals, *own, *(best if own else ()))
        ranks = dict(zip(listed, count(query.offset + 1)))
        ranks |= self._ranks([each for each in others if each not in ranks])
        return _Chosen(picks, first, lead, best, unconfirmed, beside, own, listed, ranks)

    @cached_property
    def _choice(self) -> Choice:
        found, where = self._found, (self.market, self._found.recall.as_of)
        return Choice(self.query, self.catalogue, found.matrix, found.times, found.candidates, *where, self.starts)

    @cached_property
    def _named_first(self) -> PickName | None:
        return self._choice.named_first(self._picks, self._found.sieve.hour_worth)

    def best(self, with_frontier: bool = False) -> tuple[int, ...]:
        """The positions of the picks and a few runners-up, and of the frontier's."""
        best, frontier = self._choice.best(self._picks.values()), self._choice.frontier() if with_frontier else ()
        return tuple(dict.fromkeys([*best, *frontier]))

    def first_that(self, fits: Callable[[Rented], bool]) -> Estimate | None:
        """The best fitting candidate of those that may be picks."""
        position = self._choice.first_that(fits, self._named_first, self._found.sieve.hour_worth)
        return None if position is None else self.shown([position])[0].estimate

    def shown(self, positions: Sequence[int]) -> tuple[Shown, ...]:
        """The candidates at these positions as exact estimates."""
        found = self._found
        some, ranks = found.candidates.take(np.array(positions, np.int64)), self._ranks(positions).values()
        ranked = found.recall.ranked(found.current, found.times, some, ranks, map(self._named.get, positions))
        return tuple(self._details.shown(ranked))

    def _ordinary(self, lead: RankedCandidate) -> Ordinary:
        """The ordinary scripts on a candidate's machine; without the one that people begin with, why."""
        found, query = self._found, self.query
        eligible, course = found.eligible, found.course
        if query.recipes != "best" or query.recipe:
            query = replace(query, recipes="best", recipe=())
            eligible = eligible_recipes(found.matrix.recipes, query)
            course = Course.of(found.matrix, query, eligible)
        recall, matrix = found.recall, found.matrix
        groups = recall.ordinary_groups(matrix, lead.offer.machine.accelerator)
        script = OrdinaryScript(query, self.catalogue, matrix, groups, eligible, course)
        offer = recall.one_offer(matrix, lead.row, lead.time.cluster)
        return Ordinary(*script.instead(lead, offer, recall.spot_risks), script.missed)

    @cached_property
    def _picks(self) -> dict[PickName, int]:
        return self._choice.picks(self._found.sieve.hour_worth)

    @cached_property
    def _listing(self) -> Listing:
        return self._choice.listing(self._picks.values(), self._found.totals.marked(self._found.needed.marks))

    def _ranks(self, positions: Sequence[int]) -> dict[int, int]:
        """Where candidates stand among all, counted from 1; those of which most others were not made by counting these."""
        found, listing = self._found, self._listing
        ranks = {position: listing.rank(position) for position in positions}
        if found.totals.every == len(found.candidates.row):
            return ranks
        deep = np.array([at for at, rank in ranks.items() if rank - listing.start(at) > LEAST_KEPT], np.int64)
        if len(deep):
            points = found.candidates.take(deep)
            before = found.sieve.before(found.needed.marks, points, found.times.recipe[points.time])
            ranks |= {at: listing.rank_behind(at, many) for at, many in zip(deep.tolist(), before, strict=True)}
        return ranks

    @cached_property
    def _named(self) -> dict[int, str]:
        """The names of the picks by their positions."""
        names: dict[int, str] = {}
        for name, position in self._picks.items():
            names[position] = " ".join(filter(None, [names.get(position), name]))
        return names

    @property
    def _likeliest(self) -> Missed | None:
        eligible, recipes = self._found.eligible, self._found.matrix.recipes.recipes
        at = eligible.likeliest
        return None if at is None else Missed(recipes[at].name, float(eligible.success_probability[at]))

    @cached_property
    def _details(self) -> EstimateDetails:
        found, query = self._found, self.query
        renting = found.recall.renting(query, self.market)
        return EstimateDetails(query, found.matrix, renting, found.recall.sayings, self._cheapest_rental())

    def _cheapest_rental(self) -> Callable[[], Decimal | None]:
        """What the training costs where it costs least on demand, whatever the filters.

        It holds no `self`, which holds it: their arrays, of up to 300 MiB, would wait for the collector of cycles.
        """
        of, candidates = self.query, self._found.candidates
        evidence, catalogue, now, market, memory = self.evidence, self.catalogue, self.now, self.market, self.memory

        @cache
        def found() -> Decimal | None:
            everything = reset(of, *FILTERS)
            if everything == of:
                return cheapest_rental(catalogue, candidates)
            elsewhere = Asked(everything, evidence, catalogue, now, market, memory)
            rented = cheapest_rental(catalogue, elsewhere._found.candidates)
            return cheapest_rental(catalogue, candidates) if rented is None else rented

        return found

    def page(self, offset: int, limit: int) -> tuple[Estimate, ...]:
        """A page of the same estimates by the question's order alone, whatever may be picked, exactly."""
        order = self._found.candidates.order(self.query.sort, self.catalogue)
        positions = order.first(np.arange(len(order.row)), offset + limit)[offset:]
        return tuple(each.estimate for each in self.shown(positions.tolist()))

    def bills(self, rows: Sequence[int], nodes: int) -> list[Bill]:
        """The bills of this many machines of the offers in these rows, on the question's terms."""
        recall = self._found.recall
        renting = recall.renting(self.query, self.market)
        return [renting.bill(offer, nodes) for offer in recall.offers(rows).values()]

    def quoted_exchange(self, rows: Indices) -> tuple[ExchangeRate, ...]:
        """The rates of the currencies that these offers are quoted in, dollars and the requested currency apart."""
        words = self.catalogue.vocabulary.currencies
        quoted = {words[code] for code in set(self.catalogue.columns.currency[rows].tolist())}
        return tuple(self.market.exchange[code] for code in sorted(quoted - {"USD", self.query.currency}))

    @property
    def totals(self) -> Totals:
        """How many estimates there are, by their marks and by the catalogue's row."""
        return self._found.totals

    def overview(self, pickable: bool = False) -> Overview:
        """Every estimate as columns, or those alone that picks may come from: in a twentieth of the time that exact ones take."""
        found = self._found
        listed = self._listing.all(pickable)
        candidates = found.candidates.take(listed)
        return Overview(
            rank=np.arange(len(candidates.row)) + 1,
            position=listed,
            row=candidates.row,
            nodes=found.matrix.nodes[found.times.cluster[candidates.time]],
            hours=candidates.calendar_hours,
            cost=candidates.cost,
            on_frontier=candidates.on_frontier,
            every=found.totals.marked(found.needed.marks) if pickable else found.totals.every,
        )

    def ranges(self, positions: Indices) -> Ranges:
        """Both ends of the ranges of the candidates at these positions."""
        return self._choice.ranges(positions)

    def dearer(self, cost: float) -> int:
        """How many estimates that picks may come from cost more."""
        found = self._found
        if found.totals.every > len(found.candidates.row):
            return found.sieve.dearer(found.needed.marks, cost)
        return int(np.count_nonzero(found.candidates.cost[found.candidates.pickable] > cost))

    @cached_property
    def _found(self) -> _Found:
        """What the question leads to; includes benchmark entries if no recipe of less care runs here."""
        found = self._of(self.query)
        ended = any(unit == "runs" for unit, _ in found.rejected.values())
        if ended or len(found.candidates.row) or len(found.free.row) or "beyond_training" not in found.rejected:
            return found
        with_entries = self._of(replace(self.query, training="record"))
        return with_entries if len(with_entries.candidates.row) else found

    def _of(self, query: EstimateQuery) -> _Found:
        catalogue = self.catalogue
        as_of = query.as_of or self.now
        recall = Recall(self.evidence, catalogue, as_of, self.memory)
        offered = catalogue.confirmed_offers if query.rates == "confirmed" else catalogue.current_offers
        current = offered(as_of, query.max_price_age)
        eligible = eligible_recipes(recall.recipes(query), query)
        matrix = recall.matrix(query, eligible.care)
        offers = recall.allowed_offers(matrix, current, OfferFilter.of(query))
        course = Course.of(matrix, query, eligible)
        times = training_times(course, query, eligible, offers.clusters)
        unused = without_training_time(matrix, query, offers, eligible, times)
        confirmation = catalogue.confirmed(as_of, query.max_price_age)
        marks = offer_marks(catalogue, offers, confirmation.among(offers.rates), query)

        sieve = Sieve(query, catalogue, matrix, offers, times, recall.spot_risks, self.market, marks)
        times, candidates, free, totals, chosen = sieve.made()
        candidates = with_frontier(candidates, chosen.marks)
        if query.frontier:
            candidates = candidates.take(candidates.on_frontier)
            totals = Totals.of(candidates, totals.rejections)
        rejected = _rejected(
            recipes=[eligible.rejections], offers=[offers.rejections, unused], runs=[dict(totals.rejections)]
        )
        return _Found(
            recall=recall,
            current=current,
            matrix=matrix,
            offers=offers,
            eligible=eligible,
            course=course,
            times=times,
            candidates=candidates,
            free=free,
            widened=confirmation.widened,
            sieve=sieve,
            totals=totals,
            needed=chosen,
            rejected=rejected,
        )


class _Chosen(NamedTuple):
    """The positions of the candidates that are looked at: those picked and which of them is named first, the one to act on, the
    best, the cheapest whose rate is not confirmed, the rivals, the user's own, and the page asked for.
    `ranks` has the rank of each that is shown."""

    picks: Mapping[PickName, int]
    first: PickName | None
    lead: int | None
    best: tuple[int, ...]
    unconfirmed: Sequence[int]
    rivals: Mapping[str, int | None]
    own: Sequence[int]
    listed: Sequence[int]
    ranks: Mapping[int, int]


class _Exact(NamedTuple):
    """What an answer shows, exactly: candidates by their positions, free tiers, and the lead's machine with the scripts of
    `Ordinary`. `rows` are those of the candidates and the free tiers in the catalogue."""

    rows: Indices
    shown: Mapping[int, Shown]
    free: tuple[Estimate, ...]
    today: Estimate | None
    as_published: Estimate | None
    missed: Missed | None


class _Found(Struct, frozen=True):
    """What a question leads to before any estimate is made exact."""

    recall: Recall
    current: CurrentOffers
    matrix: TrainingMatrix
    offers: AllowedOffers
    eligible: EligibleRecipes
    course: Course
    times: TrainingTimes
    candidates: Candidates
    free: Candidates
    widened: Mapping[PurchaseOption, float]
    sieve: Sieve
    totals: Totals
    needed: Needed
    rejected: dict[str, tuple[str, int]]


def _price_basis(catalogue: Catalogue, as_of: datetime, seen: LastSeen) -> PriceBasis:
    ends = seen.moments[[0, -1]].tolist() if len(seen.moments) else []
    oldest, newest = (datetime.fromtimestamp(each, UTC) for each in ends) if ends else (None, None)
    return PriceBasis(catalogue.snapshot, as_of, oldest, newest, catalogue.gaps)


def _rejected(**counted: list[dict[str, int]]) -> dict[str, tuple[str, int]]:
    """By reason what was left out, under the name of its argument, and how many: the rejections of all steps that occurred."""
    total: Counter[tuple[str, str]] = Counter()
    for unit, steps in counted.items():
        for reason, number in chain.from_iterable(map(dict.items, steps)):
            if number:
                total[reason, unit] += number
    return {reason: (unit, number) for (reason, unit), number in sorted(total.items())}
