"""`/cost`: every estimate that answers the question, and all of them at a glance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from api.questions.regions import located
from api.questions.subjects import whose_target
from api.questions.values import Values
from api.reports.left_out import Hints, nothing
from api.reports.next_step import next_step
from api.reports.paging import OfQuery, Rest, rest_of
from api.reports.verdict import verdict
from api.service import Service, query_of, with_moment
from costcalc.answers import Answer, Estimate, Folded, Hint, Overview, OwnedMachine, Pick, PriceBasis
from costcalc.catalogue.catalogue import OPTIONS, Catalogue, OfferFilter
from costcalc.catalogue.freshness import Freshness
from costcalc.convergence.eligibility import BestReached
from costcalc.estimate import Asked
from costcalc.fields import filled
from costcalc.money import ExchangeRate
from costcalc.picks import Requirement
from costcalc.query import EstimateQuery
from costcalc.rented import FREE_TIER
from costcalc.training import Recipe
from costcalc.units import Indices

if TYPE_CHECKING:
    from api.reports.commitments import CommitmentsDocument
    from api.reports.decision import MachineBills

Counted = Literal["provider", "accelerator", "purchase"]


class Point(NamedTuple):
    """One estimate: what is rented, its hours on the calendar and its cost by the question's basis, each with its 80 %
    range."""

    rank: int
    provider: str
    instance_type: str
    nodes: int
    accelerator: str
    accelerators: int
    region: str
    purchase_option: str
    term: str | None
    hours: float
    cost: float
    frontier: bool
    hours_low: float
    hours_high: float
    cost_low: float
    cost_high: float


class Points(Struct, frozen=True):
    """The estimates that picks may come from, as figures in the question's order; the rows of all estimates, and the catalogue
    that has their offers."""

    figures: Overview
    rows: Indices
    catalogue: Catalogue

    def counted(self, name: Counted) -> Counter[str]:
        """How many estimates have each provider, accelerator or way to buy."""
        columns, instances = self.catalogue.columns, self.catalogue.vocabulary.instances
        codes = columns.option if name == "purchase" else columns.instance
        counted: Counter[str] = Counter()
        for code, number in enumerate(np.bincount(codes[self.rows]).tolist()):
            if not number:
                continue
            if name == "purchase":
                counted[OPTIONS[code].value] += number
            else:
                counted[instances[code][0] if name == "provider" else instances[code][2].accelerator] += number
        return counted

    def drawn(self) -> Counter[str]:
        """The ways to buy of the estimates that pictures show: those that picks may come from."""
        return replace(self, rows=self.figures.row).counted("purchase")

    def sold(self, positions: Indices) -> Iterator[tuple[int, str, str]]:
        """The rank, the provider and the way to buy of each of these estimates."""
        columns, machines = self.catalogue.columns, self.catalogue.vocabulary.instances
        row = self.figures.row[positions]
        codes = (each.tolist() for each in (self.figures.rank[positions], columns.instance[row], columns.option[row]))
        return (
            (rank, machines[instance][0], OPTIONS[option].value) for rank, instance, option in zip(*codes, strict=True)
        )

    def at(self, positions: Indices) -> Iterator[Point]:
        """The estimates at these positions of the columns."""
        columns, words, found = self.catalogue.columns, self.catalogue.vocabulary, self.figures
        row = found.row[positions]
        codes = (each[row] for each in (columns.instance, columns.region, columns.option, columns.term))
        figures = (each[positions] for each in (found.nodes, found.hours, found.cost, found.on_frontier))
        every = (found.rank[positions], *codes, *figures, *found.ranges(positions))
        for rank, instance, region, option, term, nodes, *told in zip(*(each.tolist() for each in every), strict=True):
            provider, name, machine = words.instances[instance]
            offered = (provider, name, nodes, machine.accelerator, machine.accelerators * nodes, words.regions[region])
            yield Point(rank, *offered, OPTIONS[option].value, words.terms[term] or None, *told)


class Glance(Struct, frozen=True, dict=True):
    """Overviews of one question, and of the questions beside it that leave one filter out."""

    service: Service
    catalogue: Catalogue
    asked: Asked

    @property
    def query(self) -> EstimateQuery:
        return self.asked.query

    @cached_property
    def points(self) -> Points:
        """The estimates in the question's order."""
        return Points(self.asked.overview(pickable=True), self.asked.rows, self.asked.catalogue)

    def counts(self) -> dict[str, list[tuple[str, int]]]:
        """By filter, every name that it may have with the number of estimates that it would leave, most first."""
        return {name: self._counted(name) for name in get_args(Counted)}

    def _counted(self, name: Counted) -> list[tuple[str, int]]:
        chosen = getattr(self.query, name)
        points = self._without(name).points if chosen else self.points
        counted = {**dict.fromkeys(map(str, chosen), 0), **points.counted(name)}
        return sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))

    def _without(self, name: str) -> Glance:
        dropped: dict[str, Any] = {name: ()}
        return replace(self, asked=self.service.asked(replace(self.query, **dropped), self.catalogue))


class CostDocument(Struct, frozen=True):
    """The JSON answer. `query` is the question as it was understood; `exchange` is null for dollars; `quoted_exchange` has the
    rates of further currencies that offers here are quoted in; `notes` are to be read before the figures."""

    query: EstimateQuery
    prices: PriceBasis
    picks: tuple[Pick, ...]
    missed: tuple[Requirement, ...]
    count: int
    verdict: tuple[str, ...]
    unconfirmed: Estimate | None
    folded: Folded
    freshness: Freshness
    estimates: tuple[Estimate, ...]
    free: tuple[Estimate, ...]
    rejections: dict[str, int]
    rejection_units: dict[str, str]
    best_reached: BestReached | None
    exchange: ExchangeRate | None
    quoted_exchange: tuple[ExchangeRate, ...]
    hints: tuple[Hint, ...]
    owned: tuple[OwnedMachine, ...]
    notes: tuple[str, ...] = ()


class CostReport(OfQuery):
    """Every estimate that answers a question."""

    @property
    def name(self) -> str:
        return f"cost-{self.query.model}-{self.query.target:g}"

    @cached_property
    def answer(self) -> Answer:
        """The estimates and the verdict; where there are none or a few, with the changes of the question that bring more."""
        hints = Hints(self._asked.evidence, self._answer_instead, self._last_seen)
        found = hints.added(self.service.answered(self._asked))
        missing = "" if found.count else nothing(found)
        return replace(
            found, verdict=verdict(found, self.notes, missing, next_step(found, self.service.evidence.accelerators))
        )

    def with_frontier(self) -> Answer:
        """The same answer with the frontier's estimates among the best, for sheets."""
        return replace(self.answer, best_shown=self._asked.answer(with_frontier=True).best_shown)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What to know before the figures: whose target it is where the question names none, and that regions asked about have no
        rates, and which ones stand in."""
        as_of = self.query.as_of or self.service.clock()
        catalogue = self.service.at(self.catalogue, self.query.as_of)
        return (*whose_target(self.query), *located(self.query, catalogue, as_of, self.service.sources).notes)

    @cached_property
    def _asked(self) -> Asked:
        return self.service.asked(self.query, self.catalogue)

    def _answer_instead(self, query: EstimateQuery) -> Answer:
        """The answer to a changed question, for which another region than for this one may stand in."""
        asked = replace(query, region=self.query.region) if query.region else query
        return self.service.answer(asked, self.catalogue)

    def _last_seen(self, query: EstimateQuery) -> datetime | None:
        now, wanted = self.service.clock(), OfferFilter.of(query)
        return self.catalogue.last_seen(query.as_of or now, wanted) or self.catalogue.last_seen(now, wanted)

    def document(self) -> CostDocument:
        """The estimates in the order of the document's keys."""
        return filled(
            CostDocument, self.answer, query=with_moment(self.answer.query, self.answer.prices.as_of), notes=self.notes
        )

    @property
    def rest(self) -> Rest | None:
        return rest_of(self.answer.count, slice(self.query.offset, self.query.offset + self.query.limit))

    @property
    def nothing(self) -> str:
        """Why there is no estimate, and which changes of the question find some; empty where there is one."""
        found = self.answer
        return "" if found.count else " ".join([f"{nothing(found)}.", *(hint.sentence for hint in found.hints)])

    def recipes(self) -> tuple[Recipe, ...]:
        """The recipes that the estimates may rest on."""
        return self._asked.evidence.recipes_of(self.query.model)

    def commitments(self) -> tuple[CommitmentsDocument, tuple[MachineBills, ...]]:
        """What commitments on such machines cost, and the bills behind it."""
        from api.reports.commitments import CommitmentsReport, question_beside  # only a workbook asks for them

        return CommitmentsReport(self.service, self.catalogue, question_beside(self.query)).with_bills()

    @cached_property
    def glance(self) -> Glance:
        return Glance(self.service, self.catalogue, self._asked)


def cost_report(service: Service, catalogue: Catalogue, values: Values) -> CostReport:
    """The report that parsed parameters of `/cost` ask for."""
    return CostReport(service, catalogue, query_of(values))


def waiting(free: Estimate) -> str:
    """What a free tier takes, in words: hours of work, calendar time, sessions and quota."""
    return next(line.removeprefix(FREE_TIER) for line in free.assumptions if line.startswith(FREE_TIER))
