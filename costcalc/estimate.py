"""The one use case: a question, the evidence and the catalogue become an answer."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from itertools import count
from typing import TypeVar, cast

from costcalc.answers import Answer, PriceBasis
from costcalc.catalogue.catalogue import OPTIONS, Catalogue, View
from costcalc.convergence.eligibility import best_reached, reached
from costcalc.costing import candidates as costs
from costcalc.costing.hiring import hire
from costcalc.costing.placements import Placements, idle, placements, used_sites
from costcalc.costing.storage_and_egress import NO_RATES, ExtraRates, Market
from costcalc.duration.feasibility import of_one_year, plan, usual_nodes
from costcalc.duration.training_matrix import Plan
from costcalc.duration.training_times import Runs, runs
from costcalc.estimate_details import Entry, Renderer
from costcalc.evidence import Evidence
from costcalc.hardware import Cluster
from costcalc.money import ExchangeRate, from_nanos
from costcalc.offers import Offer, PurchaseOption
from costcalc.query import EstimateQuery
from costcalc.units import Flags

T = TypeVar("T")
WORKED_OUT_KEPT = 64
OFFERS_KEPT = 4096
US_DOLLAR = ExchangeRate("USD", Decimal(1), None, "")


def answer(
    query: EstimateQuery,
    evidence: Evidence,
    catalogue: Catalogue,
    now: datetime,
    exchange: Mapping[str, ExchangeRate] | None = None,
    extra_rates: ExtraRates = NO_RATES,
) -> Answer:
    """What it costs and how long it takes to reach the target on every offer the question allows.

    `query.model` must be a model of the evidence. `exchange` gives units of each currency per US dollar, by ISO code; it must
    hold `query.currency` unless that is USD. Offers in a currency it does not hold are left out and counted. `extra_rates` are
    what providers ask for storage and egress.
    """
    market = Market({"USD": US_DOLLAR} | dict(exchange or {}), extra_rates)
    return engine(evidence, catalogue).answer(query, now, market)


@lru_cache(maxsize=2)
def engine(evidence: Evidence, catalogue: Catalogue) -> Engine:
    """The engine of this evidence and catalogue, with what it has worked out so far."""
    return Engine(evidence, catalogue)


@dataclass(frozen=True, slots=True)
class Possible:
    """All that can be answered: runs, offers with runs and costs, which of these no other beats, and what was left out."""

    runs: Runs
    priced: costs.Priced
    frontier: Flags
    rejections: Counter[str]


class Engine:
    """Answers questions about one catalogue, and keeps what does not depend on the target."""

    def __init__(self, evidence: Evidence, catalogue: Catalogue) -> None:
        self.evidence = evidence
        self.catalogue = catalogue
        self._offer = lru_cache(maxsize=OFFERS_KEPT)(catalogue.offer)
        self._worked_out: OrderedDict[object, object] = OrderedDict()

    def answer(self, query: EstimateQuery, now: datetime, market: Market) -> Answer:
        """See the function `answer`."""
        as_of = query.as_of or now
        view = self.catalogue.view(as_of, query.max_price_age)
        plan = self._plan(query)
        possible = self._possible(query, plan, view, market)
        entries = self._page(query, possible)
        on_demand = tuple(self._on_demand(view, row) for row, _ in entries)
        renderer = Renderer(query, plan, market, as_of)
        bills = tuple(renderer.bill(entry) for _, entry in entries)
        return Answer(
            query=query,
            prices=self._basis(as_of, view),
            count=len(possible.priced.row),
            estimates=tuple(map(renderer.estimate, (entry for _, entry in entries), bills, on_demand)),
            rejections={reason: count for reason, count in sorted(possible.rejections.items()) if count},
            best_reached=best_reached(plan, query),
            exchange=market.exchange[query.currency] if query.currency != "USD" else None,
            quoted_exchange=quoted_exchange(query, market, (entry.offer for _, entry in entries)),
            bills=bills,
            on_demand_hourly=on_demand,
        )

    def _possible(self, query: EstimateQuery, plan: Plan, view: View, market: Market) -> Possible:
        """Every run on every offer that the question allows, and why the others are left out."""
        placed = self._placements(query, plan, view)
        found = reached(plan, query)
        done = runs(plan, query, found, used_sites(plan, placed))
        left = idle(plan, query, placed, found.usable, done.site)
        rejections = sum(map(Counter, (found.rejections, placed.unplaced, left)), Counter[str]())
        done, hired = hire(self.catalogue, plan, placed, done, query)
        kept = costs.kept(query, costs.priced(self.catalogue, query, hired, market), rejections)
        frontier = costs.on_frontier(kept)
        if query.frontier:
            kept, frontier = kept.take(frontier), frontier[frontier]
        return Possible(done, kept, frontier, rejections)

    def _page(self, query: EstimateQuery, possible: Possible) -> list[tuple[int, Entry]]:
        """The entries of the page asked for, in order, each with its catalogue row."""
        chosen = costs.chosen(self.catalogue, query, possible.priced)
        rows, frontier = possible.priced.row[chosen].tolist(), possible.frontier[chosen].tolist()
        done = possible.runs.at(possible.priced.run[chosen])
        entries = map(Entry, map(self._offer, rows), done, count(query.offset + 1), frontier)
        return list(zip(rows, entries, strict=True))

    def _plan(self, query: EstimateQuery) -> Plan:
        known = of_one_year(self.evidence.recipes_of(query.model), query.recipe)

        def work_out() -> Plan:
            return plan(self.evidence, self.catalogue, query.model, self._clusters(query), known)

        return self._remembered(("plan", query.model, query.nodes, query.accelerators, known), work_out)

    def _clusters(self, query: EstimateQuery) -> tuple[Cluster, ...]:
        """The clusters asked about; unasked, one machine and the numbers of machines of the recipes' own systems."""
        if query.accelerators is None:
            counts = [query.nodes] if query.nodes else usual_nodes(self.evidence, query.model)
            return tuple(Cluster(*shape, nodes) for nodes in counts for shape in self.catalogue.shapes)
        whole = [shape for shape in self.catalogue.shapes if shape[1] and query.accelerators % shape[1] == 0]
        clusters = (Cluster(*shape, query.accelerators // shape[1]) for shape in whole)
        return tuple(cluster for cluster in clusters if query.nodes in (None, cluster.nodes))

    def _placements(self, query: EstimateQuery, plan: Plan, view: View) -> Placements:
        def work_out() -> Placements:
            return placements(self.catalogue, plan, view, query)

        filters = (query.provider, query.region, query.instance_type, query.accelerator, query.purchase, query.term)
        return self._remembered(("placed", plan, view, *filters, query.payment, query.regions), work_out)

    def _on_demand(self, view: View, row: int) -> Decimal | None:
        rates = self._remembered(("on demand", view), lambda: on_demand_rows(self.catalogue, view))
        columns = self.catalogue.columns
        found = rates.get((int(columns.instance[row]), int(columns.region[row]), int(columns.currency[row])))
        return None if found is None else from_nanos(columns.hourly[found])

    def _remembered(self, key: object, work_out: Callable[[], T]) -> T:
        """What was worked out before under this key; the least recently used is forgotten. Safe to race: results are equal."""
        found = self._worked_out.pop(key, None) or work_out()
        self._worked_out[key] = found
        if len(self._worked_out) > WORKED_OUT_KEPT:
            self._worked_out.popitem(last=False)
        return cast(T, found)

    def _basis(self, as_of: datetime, view: View) -> PriceBasis:
        oldest, newest = (None if at is None else datetime.fromtimestamp(at, UTC) for at in (view.oldest, view.newest))
        return PriceBasis(self.catalogue.snapshot, as_of, oldest, newest, self.catalogue.gaps)


def quoted_exchange(query: EstimateQuery, market: Market, offers: Iterable[Offer]) -> tuple[ExchangeRate, ...]:
    """The rates of the currencies that these offers are quoted in, dollars and the asked currency apart."""
    quoted = {offer.currency for offer in offers} - {"USD", query.currency}
    return tuple(market.exchange[code] for code in sorted(quoted))


def on_demand_rows(catalogue: Catalogue, view: View) -> dict[tuple[int, int, int], int]:
    """The current on-demand row of each instance, region and currency."""
    columns = catalogue.columns
    rows = view.rows[columns.option[view.rows] == OPTIONS.index(PurchaseOption.ON_DEMAND)]
    keys = zip(
        columns.instance[rows].tolist(), columns.region[rows].tolist(), columns.currency[rows].tolist(), strict=True
    )
    return dict(zip(keys, rows.tolist(), strict=True))
