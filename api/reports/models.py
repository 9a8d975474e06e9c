"""`/models`: what can be asked about, and everything measured about one model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar

from msgspec import Struct

from api.questions.declared import fields_of
from api.questions.schemas.training import LayoutSchema
from api.questions.values import Values
from api.service import Service
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence import Evidence
from costcalc.fields import filled
from costcalc.parameters import Param
from costcalc.recipes import Recipe
from costcalc.training import Metric, Model, Throughput


class ModelParameters(Struct):
    """One model, or none for all."""

    model: Annotated[
        str | None,
        Param("only this model, with its recipes and measured speeds", "goal", "resnet50", use="everyday"),
    ] = None


class ModelQuestionSchema(LayoutSchema):
    """The parameters of `costcalc models`."""

    class Meta:
        """It asks of no offer."""

        include = fields_of(ModelParameters)


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
    used = {recipe.system.accelerator for recipe in recipes if recipe.system} | {each.accelerator for each in measured}
    return filled(
        ModelSummary,
        model,
        model=model.name,
        best_top1=_best(recipes, Metric.TOP1),
        best_top5=_best(recipes, Metric.TOP5),
        recipes=tuple(recipe.name for recipe in recipes),
        throughputs=len(measured),
        accelerators=tuple(sorted(used)),
    )


def _best(recipes: Iterable[Recipe], metric: Metric) -> float | None:
    values = (recipe.best(metric) for recipe in recipes)
    return max((value for value in values if value is not None), default=None)


@dataclass(frozen=True, slots=True)
class ModelsReport:
    """Every model, or the one that is asked about."""

    rest: ClassVar = None
    evidence: Evidence
    model: Model | None

    @property
    def name(self) -> str:
        return self.model.name if self.model else "models"

    def document(self) -> ModelsDocument | ModelDocument:
        evidence, model = self.evidence, self.model
        if model is None:
            return ModelsDocument(evidence.version, self.rows())
        measured = tuple(each for each in evidence.throughputs if each.model == model.name)
        return ModelDocument(evidence.version, summary(evidence, model), evidence.recipes_of(model.name), measured)

    def rows(self) -> tuple[ModelSummary, ...]:
        models = [self.model] if self.model else sorted(self.evidence.models.values(), key=lambda each: each.name)
        return tuple(summary(self.evidence, model) for model in models)


def models_report(service: Service, _: Catalogue, values: Values) -> ModelsReport:
    """The report that parsed parameters ask for."""
    model = values.get("model")
    return ModelsReport(service.evidence_about(model.name) if model else service.evidence, model)
