"""`GET /models`: what can be asked about, and everything measured about one model."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, Response

from api.reports.documents import to_json
from api.service import READ
from api.web.responses import arguments, cached, service
from costcalc.evidence import Evidence
from costcalc.training import Model, Recipe, Throughput

blueprint = Blueprint("models", __name__)


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """A model with the best accuracies anybody's recipe reached, and where it was measured."""

    model: str
    aliases: tuple[str, ...]
    parameters_millions: float | None
    gmacs: float | None
    image_size: int | None
    best_top1: float | None
    best_top5: float | None
    recipes: tuple[str, ...]
    throughputs: int
    accelerators: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class ModelsDocument:
    """Every model of the evidence; `evidence_version` changes with any measured figure."""

    evidence_version: str
    models: tuple[ModelSummary, ...]


@dataclass(frozen=True, slots=True)
class ModelDocument:
    """One model with its recipes' curves and its measured throughputs, each with its source."""

    evidence_version: str
    model: ModelSummary
    recipes: tuple[Recipe, ...]
    throughputs: tuple[Throughput, ...]


def summary(evidence: Evidence, model: Model) -> ModelSummary:
    """What is known about a model, in short."""
    recipes = evidence.recipes_of(model.name)
    measured = [throughput for throughput in evidence.throughputs if throughput.model == model.name]
    points = [point for recipe in recipes for point in recipe.evaluations]
    used = {recipe.system.accelerator for recipe in recipes if recipe.system} | {each.accelerator for each in measured}
    return ModelSummary(
        model=model.name,
        aliases=model.aliases,
        parameters_millions=model.parameters_millions,
        gmacs=model.gmacs,
        image_size=model.image_size,
        best_top1=max((point.top1 for point in points if point.top1 is not None), default=None),
        best_top5=max((point.top5 for point in points if point.top5 is not None), default=None),
        recipes=tuple(recipe.name for recipe in recipes),
        throughputs=len(measured),
        accelerators=tuple(sorted(used)),
        source=model.source,
    )


@blueprint.get("/models")
def models() -> Response:
    """Every model we know something measured about."""
    asked = service()
    asked.parameters(READ, arguments())
    evidence = asked.evidence

    def as_json() -> bytes:
        every = (summary(evidence, model) for _, model in sorted(evidence.models.items()))
        return to_json(ModelsDocument(evidence.version, tuple(every)))

    return cached(("",), "json", {"json": as_json})


@blueprint.get("/models/<model>")
def one(model: str) -> Response:
    """One model: its recipes with their curves, its throughputs, and where each was published."""
    asked = service()
    asked.parameters(READ, arguments())
    evidence, found = asked.evidence, asked.model(model)

    def as_json() -> bytes:
        measured = tuple(each for each in evidence.throughputs if each.model == found.name)
        recipes = evidence.recipes_of(found.name)
        return to_json(ModelDocument(evidence.version, summary(evidence, found), recipes, measured))

    return cached(("", found.name), "json", {"json": as_json})
