"""The models that one can ask about and the recipes of one, in short."""

from __future__ import annotations

from dataclasses import dataclass

from api.questions.errors import BadParameters
from api.questions.values import Values
from api.reports.models import models_document
from api.service import Service
from costcalc.catalogue.catalogue import Catalogue
from costcalc.fields import filled
from costcalc.training import Metric, Recipe


@dataclass(frozen=True, slots=True)
class TrainableDocument:
    """The best top-1 accuracy of any recipe by model; of other networks `how` says what to ask."""

    how: str
    best_top1: dict[str, float]


HOW = "250 more networks of timm answer to their names. Others, and longer or shorter trainings, are asked with model=any."


def trainable(service: Service, _: Catalogue, values: Values) -> TrainableDocument:
    """The model asked about, else all by name but those of which nobody published how long they train."""
    asked = values["model"].name if "model" in values else None
    recipes_of = service.evidence.recipes_of
    every = (
        one
        for one in models_document(service.evidence).models
        if one.best_top1
        and (one.model == asked if asked else not all(each.epochs_width for each in recipes_of(one.model)))
    )
    return TrainableDocument(HOW, {one.model: round(one.best_top1 or 0.0, 3) for one in every})


@dataclass(frozen=True, slots=True)
class RecipeSummary:
    """A recipe: what it trains with, and the highest accuracies on its own curve."""

    recipe: str
    organisation: str
    framework: str
    scheduled_epochs: float | None
    global_batch_size: int | None
    precision: str | None
    best_top1: float | None
    best_top5: float | None
    accelerator: str | None
    accelerators: int | None
    year: int
    source: str


@dataclass(frozen=True, slots=True)
class RecipesDocument:
    """The recipes of one model that somebody ran, those with the highest accuracy first."""

    model: str
    recipes: tuple[RecipeSummary, ...]


def recipes(service: Service, _: Catalogue, values: Values) -> RecipesDocument:
    """The recipes of the model asked about. Raises BadParameters where none is."""
    if "model" not in values:
        raise BadParameters({"model": ["missing: write a model, such as resnet50"]})
    model = values["model"].name
    run = [recipe for recipe in service.evidence.recipes_of(model) if not recipe.is_interpolated]
    found = sorted(map(_summary, run), key=lambda one: (-(one.best_top1 or 0), one.recipe))
    return RecipesDocument(model, tuple(found))


def _summary(recipe: Recipe) -> RecipeSummary:
    return filled(
        RecipeSummary,
        recipe,
        recipe=recipe.name,
        best_top1=recipe.best(Metric.TOP1),
        best_top5=recipe.best(Metric.TOP5),
        accelerator=recipe.system.accelerator if recipe.system else None,
        accelerators=recipe.system.accelerators if recipe.system else None,
    )
