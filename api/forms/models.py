"""`/models`: every model, or one with its recipes and measured speeds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from msgspec import Struct

from api.formats import words
from api.formats.blocks import Block, list_of
from api.formats.column import Column, leading_to
from api.formats.tables import Table, number
from api.forms.code import Code
from api.questions.schemas.training import LayoutSchema, schema
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


ModelQuestionSchema = schema(LayoutSchema, ModelParameters)


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
        best_top1=_highest(recipes, Metric.TOP1),
        best_top5=_highest(recipes, Metric.TOP5),
        recipes=tuple(recipe.name for recipe in recipes),
        throughputs=len(measured),
        accelerators=tuple(sorted(used)),
    )


def _highest(recipes: Iterable[Recipe], metric: Metric) -> float | None:
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


def _best(recipe: Recipe, metric: Metric) -> str:
    return number(recipe.best(metric), ".4f")


def _cost_just_below_best(row: ModelSummary) -> str:
    """What the network costs to an accuracy that its best recipe reaches with ease."""
    target = int((row.best_top1 or 0) * 1000 - 2) / 1000
    return leading_to("/", model=row.model, target=f"{target:g}")


TABLE = Table(
    "Models",
    "Every model that is known, and the highest accuracy of any recipe. An accuracy leads to what it costs.",
    "model",
    ModelSummary,
    (
        Column("Model", lambda row: row.model, lambda row: ", ".join(row.aliases),
               link=lambda row: f"/models/{row.model}"),
        Column("Best top-1", lambda row: number(row.best_top1, ".4f"), is_number=True, link=_cost_just_below_best),
        Column("Best top-5", lambda row: number(row.best_top5, ".4f"), is_number=True),
        Column("Parameters", lambda row: (row.parameters_millions and f"{row.parameters_millions:,.1f} M") or "", is_number=True,
               leave=3),
        Column("GMACs", lambda row: number(row.gmacs, ",.2f"), is_number=True, leave=2),
        Column("Recipes", lambda row: number(len(row.recipes), ","), is_number=True),
        Column("Speeds", lambda row: number(row.throughputs, ","), is_number=True),
    ),
    find=lambda row: " ".join((row.model, *row.aliases)),
    example="efficientnet",
    first=lambda row: (-len(row.recipes), -row.throughputs),
)  # fmt: skip

RECIPES = Table(
    "Recipes",
    "How this model was trained, and the accuracy that each recipe reached.",
    "recipe",
    None,
    (
        Column("Recipe", lambda row: row.name, lambda row: row.organisation, source=lambda row: row.source),
        Column("Year", lambda row: str(row.year), is_number=True, leave=5),
        Column("Epochs", lambda row: number(row.scheduled_epochs), is_number=True, leave=4),
        Column("Batch", lambda row: number(row.global_batch_size, ","), is_number=True, leave=3),
        Column("Best top-1", lambda row: _best(row, Metric.TOP1), is_number=True),
        Column("Best top-5", lambda row: _best(row, Metric.TOP5), is_number=True),
        Column("Trained on", lambda row: words.accelerators(row.system) if row.system else "", lambda row: row.framework,
               leave=2),
        Column("Logged points", lambda row: number(len(row.evaluations), ","), is_number=True, leave=1),
    ),
    rows=lambda report: report.document().recipes,
    first=lambda row: -(row.best(Metric.TOP1) or row.best(Metric.TOP5) or 0.0),
    find=lambda row: f"{row.name} {row.organisation} {row.framework} {row.system.accelerator if row.system else ''}",
    example="mlperf",
)  # fmt: skip

MEASURED = Table(
    "Measured speeds",
    "Every measured speed of this model.",
    "measured speed",
    None,
    (
        Column("Accelerators", words.accelerators),
        Column("Images/s", lambda row: number(row.images_per_second, ",.1f"), is_number=True),
        Column("Precision", lambda row: row.precision or "", leave=3),
        Column("Framework", lambda row: row.framework, leave=2),
        Column("Year", lambda row: str(row.year), is_number=True, source=lambda row: row.source),
    ),
    rows=lambda report: report.document().throughputs,
)


def blocks(report: ModelsReport) -> Iterator[Block]:
    """Every model, or a single one with its recipes and its measured speeds."""
    return (list_of(table, report) for table in ((TABLE, RECIPES, MEASURED) if report.model else (TABLE,)))


CODE: Code[ModelsReport] = Code(
    LayoutSchema, models_report, ModelsDocument, TABLE, blocks, in_terminal=ModelQuestionSchema
)

MODEL: Code[ModelsReport] = Code(LayoutSchema, models_report, ModelDocument, RECIPES)
