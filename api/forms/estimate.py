"""`/estimate`: one figure term by term, so that a reader can redo it by hand, and the curve behind it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from msgspec import Struct

from api.formats import words
from api.formats.blocks import Block, Say
from api.formats.charts.figure import Figure, Place, Scale, across, line, nothing, sign, text, up
from api.formats.estimates import rests_on
from api.formats.page import Page
from api.formats.source_links import parts
from api.forms.code import Code
from api.questions.asked import query_of, with_moment
from api.questions.links import narrowed
from api.questions.schemas.training import CostSchema
from api.questions.suggestions import many
from api.questions.values import Values
from api.reports.advice import Advice
from api.service import Service
from costcalc.answers import Estimate, Hint, PriceBasis
from costcalc.catalogue.catalogue import Catalogue
from costcalc.fields import filled
from costcalc.query import EstimateQuery
from costcalc.recipes import Recipe
from costcalc.training import IMAGES_PER_EPOCH, Metric


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
class EstimateReport(Advice):
    """One estimate of a question: the one to act on, or of the list the one behind the `offset` that is asked for."""

    of_list: bool = False

    @property
    def name(self) -> str:
        return f"estimate-{self.query.model}-{self.query.target:g}"

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


OF_OVERHEAD = ("Overhead", "Staging", "Spot: ")
ROOM = 0.05


def html(report: EstimateReport) -> Page:
    """The page of a report."""
    query, estimate = report.query, report.estimate
    own = narrowed(query, estimate) if estimate else query
    shown = {
        "answer": report.answer,
        "each": estimate,
        "notes": report.notes,
        "recipe": report.recipe,
        "measured": tuple(Metric) if isinstance(query.metric, Metric) else (query.metric,),
        "images": report.images_per_epoch,
        "sources": parts,
        "overhead": [line for line in estimate.assumptions if line.startswith(OF_OVERHEAD)] if estimate else [],
        "query": query,
        "own": own,
        "kept": with_moment(own, report.answer.prices.as_of),
        "rates": _about(estimate, "instance_type", "provider", "region") if estimate else "",
        "beside": _about(estimate, "model", "target", "provider", "instance_type") if estimate else "",
    }
    return Page("estimate.html", shown)


def _about(each: Estimate, *names: str) -> str:
    """The parameters that ask about an estimate's training or machine elsewhere."""
    values = ((name, getattr(each, name)) for name in names if getattr(each, name) is not None)
    return f"?{urlencode({name: f'{value:g}' if name == 'target' else value for name, value in values})}"


def blocks(report: EstimateReport) -> Iterator[Block]:
    """The estimate in a line, and what it rests on; without one, why there is none."""
    estimate, answer = report.estimate, report.answer
    lines = [words.in_one_line(estimate, answer.query.basis)] if estimate else [*answer.verdict]
    yield Say([*report.notes, *lines])
    yield from [rests_on({"1": estimate})] if estimate else []


def figure(report: EstimateReport) -> Figure:
    """The picture of an estimate's curve."""
    estimate, recipe = report.estimate, report.recipe
    if estimate is None or recipe is None or estimate.target is None or estimate.metric is None:
        return nothing()
    points = [(each.epochs, each.in_metric(estimate.metric)) for each in recipe.evaluations]
    logged = [(epochs, accuracy) for epochs, accuracy in points if accuracy is not None]
    values = [estimate.target, *(accuracy for _, accuracy in logged)]
    lowest = min(values)
    x = Scale.around([estimate.epochs, *(epochs for epochs, _ in logged)], 0.0)
    y = Scale.around(values, max(lowest - ROOM, min(lowest, 0.0)))
    places = [Place.of(x.at(epochs), y.at(accuracy)) for epochs, accuracy in logged]
    right, high = x.at(estimate.epochs), y.at(estimate.target)
    signs = (
        sign(place, "circle", "p1", f"{accuracy:.4g} after {epochs:g} epochs")
        for place, (epochs, accuracy) in zip(places, logged, strict=True)
    )
    measure = words.measure(estimate.metric)
    return Figure(
        f"{recipe.name}: {measure} by epoch",
        f"{many(len(recipe.evaluations), 'point')}, {recipe.organisation}, {recipe.year}",
        across(x.at, x.ticks()),
        up(y.at, y.ticks()),
        "epochs",
        measure,
        line(places, "p1 faint")
        + "".join(signs)
        + line([Place.of(0, high), Place.of(1, high)], "ink dashed")
        + text(Place.of(0, high), f"target {estimate.target:g}", "ink", 6, -5)
        + line([Place.of(right, 0), Place.of(right, 1)], "ink dashed")
        + sign(Place.of(right, high), "circle", "ink")
        + text(Place.of(right, 0), f"{estimate.epochs:.4g} epochs", "ink end", -7, -8),
    )


CODE: Code[EstimateReport] = Code(
    CostSchema, estimate_report, EstimateDocument, blocks=blocks, html=html, figure=figure
)
