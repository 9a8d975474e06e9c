"""The one use case: a question, evidence and a catalogue become an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache, cached_property
from itertools import chain, count, islice, repeat
from typing import NamedTuple

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from costcalc.answers import Answer, Estimate, Missed, Overview, PriceBasis, Ranges, Rented
from costcalc.catalogue.catalogue import Catalogue
from costcalc.catalogue.freshness import LastSeen
from costcalc.choosing import Choice, Starts, folded
from costcalc.comparison import owned_machines
from costcalc.convergence.eligibility import best_reached, eligible_recipes
from costcalc.costed import Costed, costed
from costcalc.costing.bills import Bill
from costcalc.costing.candidates import Listing, free_tiers
from costcalc.costing.kept import LEAST_KEPT
from costcalc.costing.owning import cheapest_rental, own_candidates
from costcalc.costing.sieve import Totals
from costcalc.costing.storage_and_egress import Market
from costcalc.duration.training_times import Course
from costcalc.estimate_details import EstimateDetails
from costcalc.evidence import Evidence
from costcalc.memory import Memory
from costcalc.money import ExchangeRate
from costcalc.ordinary import OrdinaryScript
from costcalc.parameters import Part
from costcalc.parts import RankedCandidate
from costcalc.query import LAST_OFFSET, EstimateQuery, reset
from costcalc.reasons import reasoned
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
    starts: Starts | None = None

    def answer(self) -> Answer:
        """The picks and the page of estimates asked for, exactly. Raises TooFarBehind."""
        query, catalogue, costed = self.query, self.catalogue, self._costed
        if query.offset > LAST_OFFSET and not costed.is_whole:
            raise TooFarBehind(costed.totals.every)
        exact, last_seen, best = self._exact(), costed.recall.last_seen(costed.offers), self.best()
        estimates = exact.shown
        return Answer(
            query=query,
            prices=_price_basis(catalogue, costed.recall.as_of, last_seen),
            freshness=last_seen.freshness(costed.recall.as_of, catalogue.refreshed_at),
            picks=tuple(reasoned({name: estimates[at] for name, at in self._choice.picks.items()}, query.basis)),
            named_first=self._choice.named_first,
            missed=costed.needed.missed,
            widened=costed.widened,
            options=self,
            best_at=best,
            unconfirmed=next((estimates[position] for position in self._unconfirmed), None),
            rivals={kind: None if at is None else estimates[at] for kind, at in self._rivals.items()},
            free=exact.free,
            ordinary=exact.today,
            as_published=exact.as_published,
            ordinary_missed=exact.missed,
            likeliest=costed.likeliest,
            folded=folded(costed.totals.by_marks.tolist(), costed.needed.marks),
            count=costed.totals.every,
            estimates=tuple(map(estimates.__getitem__, self._page)),
            owned=owned_machines(map(estimates.__getitem__, self._own), tuple(estimates.values())),
            rejections={reason: number for reason, (_, number) in costed.rejected.items()},
            rejection_units={reason: unit for reason, (unit, _) in costed.rejected.items()},
            best_reached=best_reached(costed.matrix.recipes, query.metric),
            exchange=self.market.exchange[query.currency] if query.currency != "USD" else None,
            quoted_exchange=self.quoted_exchange(np.append(exact.rows, costed.candidates.row[[*best]])),
        )

    def _exact(self) -> _Exact:
        """What is shown, and the scripts beside the lead."""
        costed, details, ranks = self._costed, self._details, self._shown_ranks
        free = costed.free.take(free_tiers(costed.free, self.catalogue))
        some = costed.candidates.take(np.array([*ranks], np.int64)).followed_by(free)
        places, named = chain(ranks.values(), count(1)), chain(map(self._named.get, ranks), repeat(None))
        ranked = costed.recall.ranked(costed.current, costed.times, some, places, named)
        lead = None if self._lead is None else ranked[[*ranks].index(self._lead)]
        beside = Ordinary() if lead is None else self._ordinary(lead)
        scripts = [script for script in (beside.today, beside.as_published) if script]
        exact = iter(details.estimates([*ranked, *scripts]))
        return _Exact(
            rows=some.row,
            shown=dict(zip(ranks, islice(exact, len(ranks)), strict=True)),
            free=tuple(islice(exact, len(free.row))),
            today=next(exact) if beside.today else None,
            as_published=next(exact) if beside.as_published else None,
            missed=beside.missed,
        )

    @cached_property
    def _shown_ranks(self) -> dict[int, int]:
        """The positions of all that an answer shows beside free tiers, and their ranks."""
        rivals = [position for position in self._rivals.values() if position is not None]
        picks, own = self._choice.picks.values(), self._own
        beside = (*picks, *self._unconfirmed, *rivals, *own, *(self.best() if own else ()))
        ranks = dict(zip(self._page, count(self.query.offset + 1)))
        return ranks | self._ranks([position for position in beside if position not in ranks])

    @cached_property
    def _page(self) -> list[int]:
        """The positions of the page asked for."""
        return self._listing.page(self.query.offset, self.query.limit)

    @cached_property
    def _own(self) -> list[int]:
        """The positions of the user's own machines."""
        return own_candidates(self.catalogue, self._costed.candidates) if self.query.own else []

    @cached_property
    def _lead(self) -> int | None:
        """The position of what to act on."""
        cost, first = self._costed.candidates.cost, self._choice.named_first
        return min(self._own, key=lambda position: cost[position], default=self._choice.picks[first] if first else None)

    @cached_property
    def _unconfirmed(self) -> list[int]:
        """The position of the cheapest whose rate is not confirmed."""
        return self._choice.cheapest_unconfirmed()

    @cached_property
    def _rivals(self) -> Mapping[str, int | None]:
        """The positions of the cheapest of what the question names beside that of the lead."""
        of, evidence = self._costed.candidates, self.evidence
        rivals = Rivals(self.query, self.catalogue, of, evidence.accelerators, evidence.processors.named)
        return {} if self._lead is None else rivals.beside(self._lead)

    @cached_property
    def _choice(self) -> Choice:
        costed, where = self._costed, (self.market, self._costed.recall.as_of)
        starting = costed.recall.starting(costed.matrix, self.starts) if self.starts else None
        of = costed.matrix, costed.times, costed.candidates
        return Choice(self.query, self.catalogue, *of, *where, starting, costed.sieve.hour_worth)

    def best(self, with_frontier: bool = False) -> tuple[int, ...]:
        """The positions of the picks and a few runners-up, and of the frontier's."""
        best, frontier = self._choice.best(), self._choice.frontier() if with_frontier else ()
        return tuple(dict.fromkeys([*best, *frontier]))

    def first_that(self, fits: Callable[[Rented], bool]) -> Estimate | None:
        """The best fitting candidate of those that may be picks."""
        position = self._choice.first_that(fits)
        return None if position is None else self.estimates([position])[0]

    def estimates(self, positions: Sequence[int]) -> tuple[Estimate, ...]:
        """The candidates at these positions as exact estimates."""
        costed = self._costed
        some, ranks = costed.candidates.take(np.array(positions, np.int64)), self._ranks(positions).values()
        ranked = costed.recall.ranked(costed.current, costed.times, some, ranks, map(self._named.get, positions))
        return tuple(self._details.estimates(ranked))

    def _ordinary(self, lead: RankedCandidate) -> Ordinary:
        """The ordinary scripts on a candidate's machine; without the one that people begin with, why."""
        costed, query = self._costed, self.query
        recall, matrix, course = costed.recall, costed.matrix, replace(costed.course, query=query)
        if query.recipes != "best" or query.recipe:
            query = replace(query, recipes="best", recipe=())
            course = Course.of(matrix, query, eligible_recipes(matrix.recipes, query))
        script = OrdinaryScript(self.catalogue, recall.ordinary_groups(matrix, lead.offer.machine.accelerator), course)
        offer = recall.one_offer(matrix, lead.row, lead.time.cluster)
        return Ordinary(*script.instead(lead, offer, recall.spot_risks), script.missed)

    @cached_property
    def _listing(self) -> Listing:
        return self._choice.listing(self._costed.totals.marked(self._costed.needed.marks))

    def _ranks(self, positions: Sequence[int]) -> dict[int, int]:
        """Where candidates stand among all, counted from 1; those of which most others were not made by counting these."""
        costed, listing = self._costed, self._listing
        ranks = {position: listing.rank(position) for position in positions}
        if costed.is_whole:
            return ranks
        deep = np.array([at for at, rank in ranks.items() if rank - listing.start(at) > LEAST_KEPT], np.int64)
        if len(deep):
            points = costed.candidates.take(deep)
            before = costed.sieve.before(costed.needed.marks, points, costed.times.recipe[points.time])
            ranks |= {at: listing.rank_behind(at, many) for at, many in zip(deep.tolist(), before, strict=True)}
        return ranks

    @cached_property
    def _named(self) -> dict[int, str]:
        """The names of the picks by their positions."""
        names: dict[int, str] = {}
        for name, position in self._choice.picks.items():
            names[position] = " ".join(filter(None, [names.get(position), name]))
        return names

    @cached_property
    def _details(self) -> EstimateDetails:
        costed, query = self._costed, self.query
        renting = costed.recall.renting(query, self.market)
        return EstimateDetails(query, costed.matrix, renting, costed.recall.sayings, self._cheapest_rental())

    def _cheapest_rental(self) -> Callable[[], Decimal | None]:
        """What the training costs where it costs least on demand, whatever the filters.

        It holds no `self`, which holds it: their arrays, of up to 300 MiB, would wait for the collector of cycles.
        """
        of, candidates = self.query, self._costed.candidates
        evidence, catalogue, now, market, memory = self.evidence, self.catalogue, self.now, self.market, self.memory

        @cache
        def found() -> Decimal | None:
            everything = reset(of, *FILTERS)
            if everything == of:
                return cheapest_rental(catalogue, candidates)
            elsewhere = Asked(everything, evidence, catalogue, now, market, memory)
            rented = cheapest_rental(catalogue, elsewhere._costed.candidates)
            return cheapest_rental(catalogue, candidates) if rented is None else rented

        return found

    def page(self, offset: int, limit: int) -> tuple[Estimate, ...]:
        """A page of the same estimates by the question's order alone, whatever may be picked, exactly."""
        order = self._costed.candidates.order(self.query.sort, self.catalogue)
        positions = order.first(np.arange(len(order.row)), offset + limit)[offset:]
        return self.estimates(positions.tolist())

    def bills(self, rows: Sequence[int], nodes: int) -> list[Bill]:
        """The bills of this many machines of the offers in these rows, on the question's terms."""
        recall = self._costed.recall
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
        return self._costed.totals

    def overview(self, pickable: bool = False) -> Overview:
        """Every estimate as columns, or those alone that picks may come from: in a twentieth of the time that exact ones take."""
        costed = self._costed
        listed = self._listing.all(pickable)
        candidates = costed.candidates.take(listed)
        return Overview(
            rank=np.arange(len(candidates.row)) + 1,
            position=listed,
            row=candidates.row,
            nodes=costed.matrix.nodes[costed.times.cluster[candidates.time]],
            hours=candidates.calendar_hours,
            cost=candidates.cost,
            on_frontier=candidates.on_frontier,
            every=costed.totals.marked(costed.needed.marks) if pickable else costed.totals.every,
        )

    def ranges(self, positions: Indices) -> Ranges:
        """Both ends of the ranges of the candidates at these positions."""
        return self._choice.ranges(positions)

    def dearer(self, cost: float) -> int:
        """How many estimates that picks may come from cost more."""
        return self._costed.dearer(cost)

    @cached_property
    def _costed(self) -> Costed:
        return costed(self.query, self.evidence, self.catalogue, self.now, self.market, self.memory)


class _Exact(NamedTuple):
    """What an answer shows, exactly: candidates by their positions, free tiers, and the lead's machine with the scripts of
    `Ordinary`. `rows` are those of the candidates and the free tiers in the catalogue."""

    rows: Indices
    shown: Mapping[int, Estimate]
    free: tuple[Estimate, ...]
    today: Estimate | None
    as_published: Estimate | None
    missed: Missed | None


def _price_basis(catalogue: Catalogue, as_of: datetime, seen: LastSeen) -> PriceBasis:
    ends = seen.moments[[0, -1]].tolist() if len(seen.moments) else []
    oldest, newest = (datetime.fromtimestamp(end, UTC) for end in ends) if ends else (None, None)
    return PriceBasis(catalogue.snapshot, as_of, oldest, newest, catalogue.gaps)
