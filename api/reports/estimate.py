"""`/estimate`: the first estimate of a question with all that it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from api.reports.cost import CostReport
from api.service import Service, query_of, with_moment
from costcalc.answers import Answer, Estimate, Hint, PriceBasis
from costcalc.catalogue.catalogue import Catalogue
from costcalc.query import EstimateQuery
from costcalc.training import IMAGES_PER_EPOCH, Recipe


@dataclass(frozen=True, slots=True)
class EstimateDocument:
    """The JSON answer. `recipe` has the accuracy curve from which the epochs are read; both are null where nothing is found."""

    query: EstimateQuery
    prices: PriceBasis
    estimate: Estimate | None
    recipe: Recipe | None
    images_per_epoch: int
    hints: tuple[Hint, ...]


@dataclass(frozen=True)
class EstimateReport:
    """One estimate of a question; `offset` says which."""

    rest: ClassVar = None
    service: Service
    catalogue: Catalogue
    query: EstimateQuery

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"estimate-{self.query.model}-{self.query.target:g}"

    @cached_property
    def answer(self) -> Answer:
        """The answer of which it is the only estimate shown."""
        return CostReport(self.service, self.catalogue, self.query).answer

    @property
    def estimate(self) -> Estimate | None:
        """The estimate."""
        return self.answer.estimates[0] if self.answer.estimates else None

    @property
    def recipe(self) -> Recipe | None:
        """Its recipe."""
        evidence, found = self.service.evidence, self.estimate
        known = (*evidence.recipes_of(self.query.model), *evidence.interpolated)
        return next((recipe for recipe in known if found and recipe.name == found.recipe), None)

    def document(self) -> EstimateDocument:
        """The whole answer."""
        answer = self.answer
        query = with_moment(answer.query, answer.prices.as_of)
        return EstimateDocument(query, answer.prices, self.estimate, self.recipe, IMAGES_PER_EPOCH, answer.hints)


def estimate_report(service: Service, catalogue: Catalogue, values: dict[str, Any]) -> EstimateReport:
    """The report that parsed parameters ask for; they are those of `/cost`."""
    return EstimateReport(service, catalogue, query_of({**values, "limit": 1}))
