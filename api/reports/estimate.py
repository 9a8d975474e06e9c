"""`/estimate`: one estimate with what it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from msgspec import Struct

from api.questions.asked import query_of, with_moment
from api.questions.values import Values
from api.reports.advice import Advice
from api.reports.paging import OfQuery
from api.service import Service
from costcalc.answers import Answer, Estimate, Hint, PriceBasis
from costcalc.catalogue.catalogue import Catalogue
from costcalc.fields import filled
from costcalc.query import EstimateQuery
from costcalc.recipes import Recipe
from costcalc.training import IMAGES_PER_EPOCH


class EstimateDocument(Struct, frozen=True):
    """The JSON answer. `recipe` has the accuracy curve from which the epochs are read; both are null where nothing is found."""

    query: EstimateQuery
    prices: PriceBasis
    estimate: Estimate | None
    recipe: Recipe | None
    images_per_epoch: float
    hints: tuple[Hint, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class EstimateReport(OfQuery):
    """One estimate of a question: the one to act on, or of the list the one behind the `offset` that is asked for."""

    of_list: bool = False

    @property
    def name(self) -> str:
        return f"estimate-{self.query.model}-{self.query.target:g}"

    @property
    def answer(self) -> Answer:
        """The answer of which it is the only estimate shown."""
        return self._advice.answer

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before the figures."""
        return self._advice.notes

    @cached_property
    def _advice(self) -> Advice:
        return Advice(self.service, self.catalogue, self.query)

    @property
    def estimate(self) -> Estimate | None:
        answer = self.answer
        if answer.picks and not self.of_list:
            return answer.lead
        return answer.estimates[0] if answer.estimates else None

    @property
    def recipe(self) -> Recipe | None:
        evidence, estimate = self.service.evidence_for(self.query), self.estimate
        recipes = (*evidence.recipes_of(self.query.model), *evidence.interpolated)
        return next((recipe for recipe in recipes if estimate and recipe.name == estimate.recipe), None)

    @property
    def images_per_epoch(self) -> float:
        """Images in an epoch, or samples of the user's own data set."""
        return self.recipe.samples_per_epoch if self.recipe else IMAGES_PER_EPOCH

    def document(self) -> EstimateDocument:
        answer = self.answer
        query = with_moment(answer.query, answer.prices.as_of)
        return filled(EstimateDocument, self, answer, query=query)


def estimate_report(service: Service, catalogue: Catalogue, values: Values) -> EstimateReport:
    """The report that parsed parameters ask for; they are those of `/cost`."""
    return EstimateReport(service, catalogue, query_of({**values, "limit": 1}), "offset" in values)
