"""What the answers about one catalogue share: worked out for the first question that needs it, and then recalled."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cached_property
from operator import attrgetter
from typing import Any
from weakref import ref

import numpy as np
from msgspec import Struct

from costcalc.catalogue.catalogue import OPTIONS, Catalogue, OfferFilter
from costcalc.catalogue.confirmation import Rates
from costcalc.catalogue.current import CurrentOffers
from costcalc.catalogue.freshness import LastSeen
from costcalc.catalogue.stated import Statements
from costcalc.choosing import Kind, Starting, Starts
from costcalc.convergence.eligibility import ModelRecipes
from costcalc.costing.candidates import Candidates
from costcalc.costing.rentals import AllowedOffers, Risks, allowed_offers, spot_risks
from costcalc.costing.storage_and_egress import Market, requested
from costcalc.duration.making import model_recipes, training_matrix
from costcalc.duration.offered_clusters import NOWHERE, MachinesAsked
from costcalc.duration.running import UNKNOWN, YES
from costcalc.duration.training_matrix import TrainingMatrix
from costcalc.duration.training_times import TrainingTimes
from costcalc.duration.ways import Way
from costcalc.evidence import Evidence
from costcalc.interruptions import ObservedInterruptions, Place, newest, observed_until
from costcalc.memory import Few, Memory, Shelf
from costcalc.offer import Offer, PurchaseOption
from costcalc.ordinary import OrdinaryGroups, ordinary_groups
from costcalc.parts import RankedCandidate
from costcalc.programs import Training
from costcalc.query import EstimateQuery
from costcalc.rented import Rented, Renting
from costcalc.throughput.own_speeds import asked_speed
from costcalc.units import Indices

OFFERS_KEPT, OFFER_BYTES = 4096, 1200
SAYINGS_KEPT, SAYING_BYTES = 4096, 2000
RENTED_KEPT, RENTED_BYTES = 256, 2500
KINDS_KEPT, KIND_BYTES = 2048, 150
OF_TERMS = attrgetter("currency", "discount", "utilization", "overheads")


class Recall(Struct, frozen=True, dict=True):
    """What answers about one catalogue and moment share, as it stands in memory."""

    evidence: Evidence
    catalogue: Catalogue
    as_of: datetime
    memory: Memory

    @cached_property
    def _shelf(self) -> Shelf:
        return self.memory.shelf(self.evidence.of_own_run)

    @cached_property
    def _day(self) -> date:
        return self.as_of.astimezone(UTC).date()

    @cached_property
    def _published_by(self) -> date:
        return self.evidence.last_publication(self._day)

    def _way(self, query: EstimateQuery) -> Way:
        own = tuple(asked_speed(speed, query.model, self.as_of.year) for speed in query.images_per_second)
        return Way(query.software == "recipe", query.pipeline, own, query.running)

    def recipes(self, query: EstimateQuery) -> ModelRecipes:
        """The recipes of the question's model known by then."""
        day, of = self._published_by, (query.model, self._way(query))
        name = ref(self.evidence), day, *of
        return self._shelf.recall(name, lambda: model_recipes(self.evidence.known_on(day), *of))

    def matrix(self, query: EstimateQuery, care: Training = "record") -> TrainingMatrix:
        """The training matrix of the question's model: recipes known by then, on the requested clusters of machines offered by
        then, with speeds for recipes of at most this care. Catalogues with the same machines share it."""
        day, way = self._published_by, self._way(query)
        instances = self.catalogue.instances_by(self._day.year)
        machines = MachinesAsked(query.accelerators, query.nodes, instances, query.max_accelerators, query.max_nodes)
        scope = machines, way, care

        def worked_out() -> TrainingMatrix:
            return training_matrix(self.evidence.known_on(day), self.catalogue, self.recipes(query), *scope)

        name = ref(self.evidence), self.catalogue.machine_types, day, query.model, *scope
        return self._shelf.recall(name, worked_out)

    def allowed_offers(self, matrix: TrainingMatrix, current: CurrentOffers, wanted: OfferFilter) -> AllowedOffers:
        """The offers of the matrix's machines that a question allows."""
        name = ref(self.catalogue), ref(matrix), ref(current), wanted
        return self._shelf.recall(name, lambda: allowed_offers(self.catalogue, matrix, current, wanted))

    def rates(self, offers: AllowedOffers) -> Rates:
        """What decides whether the rates of these offers are confirmed."""
        name = ref(self.catalogue), ref(offers), "rates"
        return self._shelf.recall(name, lambda: self.catalogue.rates.at(offers.row))

    def one_offer(self, matrix: TrainingMatrix, row: int, cluster: int) -> AllowedOffers:
        """The offer in this row alone, for this cluster of the matrix."""
        name, rows = (ref(self.catalogue), ref(matrix), row, cluster), np.array([row])
        columns = rows, np.array([cluster]), rows
        return self._shelf.recall(name, lambda: AllowedOffers.of(self.catalogue, matrix, columns, {}))

    def ordinary_groups(self, matrix: TrainingMatrix, accelerator: str) -> OrdinaryGroups:
        """The ordinary recipes of a matrix in groups, the first of which most people run on this accelerator."""
        chip = self.evidence.accelerators.get(accelerator)
        usual = next((script for script in self.evidence.usual_scripts if chip and script.vendor == chip.vendor), None)
        name = ref(self.evidence), ref(matrix), "ordinary", usual
        return self._shelf.recall(name, lambda: ordinary_groups(matrix.recipes.recipes, usual))

    def starting(self, matrix: TrainingMatrix, starts: Starts) -> Starting:
        """Which machines start recipes of the matrix as they are."""
        name = ref(self.evidence), ref(self.catalogue), ref(matrix), starts
        known = self._shelf.recall(name, lambda: Few[Kind, bool](KINDS_KEPT, KIND_BYTES))
        return Starting(starts, known, self.evidence.accelerators)

    def last_seen(self, offers: AllowedOffers) -> LastSeen:
        name = ref(self.catalogue), ref(offers), "last seen"
        return self._shelf.recall(name, lambda: LastSeen.of(self.catalogue, offers.listed))

    def _interruptions(self) -> Mapping[Place, ObservedInterruptions]:
        """The newest statements of interruptions by then, by machine and region."""
        name = ref(self.evidence), ref(self.catalogue), "interruptions", self._stated
        return self._shelf.recall(name, lambda: newest(self._known_interruptions()))

    @cached_property
    def spot_risks(self) -> Risks:
        """The interruption risks by row of the catalogue."""
        name = ref(self.evidence), ref(self.catalogue), "spot risks", self._stated
        return self._shelf.recall(name, lambda: spot_risks(self.catalogue, self._known_interruptions()))

    def _known_interruptions(self) -> Sequence[ObservedInterruptions]:
        """The statements of the evidence and those that came with rates, ordered by date."""
        packaged, with_rates = self._stated
        statements = *self.evidence.interruptions[:packaged], *self._statements.newest(self.catalogue, with_rates)
        return sorted(statements, key=lambda each: each.observed_on)

    @cached_property
    def _stated(self) -> tuple[int, int]:
        """How many statements of interruptions were made by then: in the evidence, and with rates."""
        return observed_until(self.evidence.interruptions, self._day), self._statements.until(self._day)

    @property
    def _statements(self) -> Statements:
        return self._shelf.recall((ref(self.catalogue), "statements"), lambda: Statements.of(self.catalogue))

    def ranked(
        self,
        current: CurrentOffers,
        times: TrainingTimes,
        candidates: Candidates,
        ranks: Iterable[int],
        named: Iterable[str | None],
    ) -> tuple[RankedCandidate, ...]:
        """These candidates with their exact offers, their ranks, and what picks they are."""
        of = candidates
        columns = of.row, of.calendar_hours, of.on_frontier, of.confirmed, of.runs_here
        rows, hours, front, confirmed, codes = (column.tolist() for column in columns)
        runs_here = [None if code == UNKNOWN else code == YES for code in codes]
        on_demand = self._on_demand(current, of.row)
        exact = self.offers({*rows, *on_demand} - {NOWHERE})
        offers, beside, trained = map(exact.get, rows), map(exact.get, on_demand), times.at(of.time)
        marks = ranks, front, beside, confirmed, runs_here, named
        return tuple(map(RankedCandidate, rows, offers, trained, hours, *marks))

    def offers(self, rows: Collection[int]) -> dict[int, Offer]:
        """The offers in these rows of the catalogue."""
        name = ref(self.catalogue), "offers"
        offers = self._shelf.recall(name, lambda: Few[int, Offer](OFFERS_KEPT, OFFER_BYTES))
        return dict(zip(rows, offers.recall_all(self.catalogue.offer, [(row, (row,)) for row in rows]), strict=True))

    def _on_demand(self, current: CurrentOffers, rows: Indices) -> list[int]:
        """The rows of the same machines on demand, in the same region and currency; NOWHERE where there is none."""
        name = ref(self.catalogue), ref(current), "on demand"
        stored = self._shelf.recall(name, lambda: OnDemandRows.of(self.catalogue, current))
        return stored.at(_places(self.catalogue, rows))

    def renting(self, query: EstimateQuery, market: Market) -> Renting:
        """How a question rents. Questions of equal terms on one day share what they show, unless they ask for storage or
        egress."""
        for_a_number, rates = bool(query.nodes or query.accelerators), market.exchange.values()
        terms = *OF_TERMS(query), for_a_number, *rates, self.as_of.date(), *self._stated
        name = ref(self.evidence), ref(self.catalogue), "rented", terms
        shared: Few[tuple[int, int, int], Rented] = Few(RENTED_KEPT, RENTED_BYTES)
        if not any(requested(query)):
            shared = self._shelf.recall(name, lambda: shared)
        return Renting(
            *(query, market, self.as_of, self._interruptions(), self.evidence.energy),
            announced=self.catalogue.announced,
            shared=shared,
        )

    @property
    def sayings(self) -> Few[Any, Any]:
        """What is said of estimates at any cost, by its subject; a matrix is held by a weak reference."""
        return self._shelf.recall((ref(self.evidence), "sayings"), lambda: Few(SAYINGS_KEPT, SAYING_BYTES))


class OnDemandRows(Struct, frozen=True, eq=False):
    """The current on-demand `row` of each of these `places`, which rise; a mapping would take most of what memory there is for a
    million offers."""

    places: Indices
    row: Indices

    @classmethod
    def of(cls, catalogue: Catalogue, current: CurrentOffers) -> OnDemandRows:
        """The on-demand rows of a catalogue; the last of several in one place."""
        on_demand = catalogue.columns.option[current.listed] == OPTIONS.index(PurchaseOption.ON_DEMAND)
        rows = current.listed[on_demand]
        places = _places(catalogue, rows)
        order = places.argsort(kind="stable")
        return cls(np.append(NOWHERE, places[order]), np.append(NOWHERE, rows[order]))

    def at(self, places: Indices) -> list[int]:
        """The rows in these places; NOWHERE if there is none."""
        position = self.places.searchsorted(places, side="right") - 1
        rows: list[int] = np.where(self.places[position] == places, self.row[position], NOWHERE).tolist()
        return rows


def _places(catalogue: Catalogue, rows: Indices) -> Indices:
    """A number for each row's instance, region and currency."""
    columns, words = catalogue.columns, catalogue.vocabulary
    machine = columns.instance[rows].astype(np.int64) * len(words.regions) + columns.region[rows]
    return np.asarray(machine * len(words.currencies) + columns.currency[rows])
