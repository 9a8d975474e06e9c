"""`/models`: what can be asked about, and everything measured about one model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from api.service import Service
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence import Evidence
from costcalc.training import Model, Recipe, Throughput


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


def models_document(evidence: Evidence) -> ModelsDocument:
    """Every model, by name."""
    models = sorted(evidence.models.values(), key=lambda model: model.name)
    return ModelsDocument(evidence.version, tuple(summary(evidence, model) for model in models))


def model_document(evidence: Evidence, model: Model) -> ModelDocument:
    """Everything about one model."""
    measured = tuple(each for each in evidence.throughputs if each.model == model.name)
    return ModelDocument(evidence.version, summary(evidence, model), evidence.recipes_of(model.name), measured)


@dataclass(frozen=True, slots=True)
class ModelsReport:
    """Every model, or the one that is asked about."""

    evidence: Evidence
    model: Model | None

    def document(self) -> ModelsDocument | ModelDocument:
        """The JSON answer."""
        return models_document(self.evidence) if self.model is None else model_document(self.evidence, self.model)

    def rows(self) -> tuple[ModelSummary, ...]:
        """What is known about each model, in short."""
        document = self.document()
        return document.models if isinstance(document, ModelsDocument) else (document.model,)


def models_report(service: Service, _: Catalogue, values: dict[str, Any]) -> ModelsReport:
    """The report that parsed parameters ask for."""
    return ModelsReport(service.evidence, values.get("model"))
