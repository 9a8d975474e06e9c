"""`/cost`: every estimate that answers the question, and what a picture or a workbook shows beside them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from api.reports.left_out import FEW, Hints
from api.reports.overview import Glance
from api.reports.paging import Rest, rest_of
from api.service import Service, query_of, with_moment
from costcalc.answers import Answer, Estimate, Hint, OwnedMachine, Pick, PriceBasis
from costcalc.assumptions import FREE_TIER
from costcalc.catalogue.catalogue import Catalogue, OfferFilter
from costcalc.convergence.eligibility import BestReached
from costcalc.money import ExchangeRate
from costcalc.query import EstimateQuery
from costcalc.training import Recipe

if TYPE_CHECKING:
    from api.reports.commitments import CommitmentsDocument, MachineBills


@dataclass(frozen=True, slots=True)
class CostDocument:
    """The JSON answer. `query` is the question as understood; `exchange` is null for dollars; `quoted_exchange` has
    the rates of further currencies that offers here are quoted in."""

    query: EstimateQuery
    prices: PriceBasis
    picks: tuple[Pick, ...]
    count: int
    estimates: tuple[Estimate, ...]
    free: tuple[Estimate, ...]
    owned: tuple[OwnedMachine, ...]
    rejections: dict[str, int]
    rejection_units: dict[str, str]
    best_reached: BestReached | None
    exchange: ExchangeRate | None
    quoted_exchange: tuple[ExchangeRate, ...]
    hints: tuple[Hint, ...]


@dataclass(frozen=True)
class CostReport:
    """One question to one service about one snapshot; nothing is computed before it is asked for."""

    service: Service
    catalogue: Catalogue
    query: EstimateQuery

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"cost-{self.query.model}-{self.query.target:g}"

    @cached_property
    def answer(self) -> Answer:
        """The estimates; where there are none or a few, with the changes of the question that bring more."""
        found = self.service.answer(self.query, self.catalogue)
        return found if found.count >= FEW else self.hints().added(found)

    def hints(self) -> Hints:
        """What looks for such changes."""
        return Hints(self.service.evidence, partial(self.service.answer, catalogue=self.catalogue), self._last_seen)

    def _last_seen(self, query: EstimateQuery) -> datetime | None:
        now, wanted = self.service.clock(), OfferFilter.of(query)
        return self.catalogue.last_seen(query.as_of or now, wanted) or self.catalogue.last_seen(now, wanted)

    def document(self) -> CostDocument:
        """The estimates in the order of the document's keys."""
        return cost_document(self.answer)

    @property
    def rest(self) -> Rest | None:
        """The estimates behind the last one shown."""
        return rest_of(self.answer.count, slice(self.query.offset, self.query.offset + self.query.limit))

    def recipes(self) -> tuple[Recipe, ...]:
        """The recipes that the estimates may rest on."""
        return self.service.evidence.recipes_of(self.query.model)

    def commitments(self) -> tuple[CommitmentsDocument, tuple[MachineBills, ...]]:
        """What commitments on such machines cost, and the bills behind it."""
        from api.reports.commitments import CommitmentsReport, question_beside  # only a workbook asks for them

        return CommitmentsReport(self.service, self.catalogue, question_beside(self.query)).with_bills()

    @cached_property
    def glance(self) -> Glance:
        """All estimates as points, and how many there are by filter."""
        return Glance(self.service, self.catalogue, self.query)


def cost_report(service: Service, catalogue: Catalogue, values: dict[str, Any]) -> CostReport:
    """The report that parsed parameters of `/cost` ask for."""
    return CostReport(service, catalogue, query_of(values))


def cost_document(answer: Answer) -> CostDocument:
    """The answer in the order of the document's keys."""
    return CostDocument(
        query=with_moment(answer.query, answer.prices.as_of),
        prices=answer.prices,
        picks=answer.picks,
        count=answer.count,
        estimates=answer.estimates,
        free=answer.free,
        owned=answer.owned,
        rejections=answer.rejections,
        rejection_units=answer.rejection_units,
        best_reached=answer.best_reached,
        exchange=answer.exchange,
        quoted_exchange=answer.quoted_exchange,
        hints=answer.hints,
    )


def waiting(free: Estimate) -> str:
    """What a free tier asks of one who waits: the time of the work and on the calendar, sessions and quota, in words."""
    return next(line.removeprefix(FREE_TIER) for line in free.assumptions if line.startswith(FREE_TIER))
