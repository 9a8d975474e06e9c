"""`/cost`: every estimate that answers the question."""

from __future__ import annotations

from decimal import Decimal

from msgspec import Struct, field
from msgspec.structs import replace

from api.questions.asked import query_of, with_moment
from api.questions.values import Values
from api.reports.advice import Advice
from api.reports.by_tokens import ApiPrice, api_prices, needed_gib_of
from api.reports.paging import Rest, rest_of
from api.service import Service
from costcalc.answers import Answer, Estimate, Folded, Hint, OwnedMachine, Pick, PriceBasis, Step
from costcalc.catalogue.catalogue import Catalogue
from costcalc.catalogue.freshness import Freshness
from costcalc.convergence.eligibility import BestReached
from costcalc.fields import filled
from costcalc.money import ExchangeRate
from costcalc.picks import Requirement
from costcalc.query import LAST_OFFSET, EstimateQuery
from costcalc.recipes import Recipe


class Beside(Struct, frozen=True):
    """What the lead's machine takes with another script."""

    recipe: str
    hours: float
    hours_low: float
    hours_high: float
    billed_cost: Decimal
    billed_cost_low: Decimal
    billed_cost_high: Decimal
    command: str | None

    @classmethod
    def of(cls, each: Estimate | None) -> Beside | None:
        """The figures of an estimate."""
        return filled(cls, each, command=each.recipe_command) if each else None


class CostDocument(Struct, frozen=True):
    """The JSON answer. `query` is the question as it was understood; `exchange` is null for dollars; `quoted_exchange` has the
    rates of further currencies that offers here are quoted in; `notes` are to be read before the figures. Of a language model by
    tokens `api_prices` are what APIs charge, and `needed_gib` is the memory that each of so many accelerators needs."""

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
    next: Step | None = None
    ordinary: Beside | None = None
    as_published: Beside | None = None
    api_prices: tuple[ApiPrice, ...] = ()
    needed_gib: dict[str, float] = field(default_factory=dict)


class CostReport(Advice):
    """Every estimate that answers a question."""

    @property
    def name(self) -> str:
        return f"cost-{self.query.model}-{self.query.target:g}"

    def with_frontier(self) -> Answer:
        """The answer with the frontier's estimates among the best, for sheets."""
        return replace(self.answer, best_at=self._asked.best(with_frontier=True))

    def document(self) -> CostDocument:
        """The estimates in the order of the document's keys."""
        return filled(
            CostDocument,
            self.answer,
            query=_as_told(with_moment(self.answer.query, self.answer.prices.as_of)),
            notes=self.notes,
            ordinary=Beside.of(self.answer.ordinary),
            as_published=Beside.of(self.answer.as_published),
            api_prices=api_prices(self.query, self.answer.prices.as_of),
            needed_gib=needed_gib_of(self.query),
        )

    @property
    def rest(self) -> Rest | None:
        end = self.query.offset + self.query.limit
        return rest_of(self.answer.count, slice(self.query.offset, end)) if end <= LAST_OFFSET else None

    def recipes(self) -> tuple[Recipe, ...]:
        """The recipes that the estimates may rest on."""
        return self._asked.evidence.recipes_of(self.query.model)


def _as_told(query: EstimateQuery) -> EstimateQuery:
    """The question without the goal that its tokens or its hours settle, which nobody named."""
    is_settled = query.method is not None or query.took is not None
    return replace(query, target=None, metric=None) if is_settled else query


def cost_report(service: Service, catalogue: Catalogue, values: Values) -> CostReport:
    """The report that parsed parameters of `/cost` ask for."""
    return CostReport(service, catalogue, query_of(values))
