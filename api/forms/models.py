"""`/models`: every model, or one with its recipes and measured speeds."""

from __future__ import annotations

from collections.abc import Iterator

from api.formats import words
from api.formats.blocks import Block, list_of
from api.formats.column import Column, leading_to
from api.formats.tables import Table, number
from api.forms.code import Code
from api.questions.schemas.training import LayoutSchema
from api.reports.models import (
    ModelDocument,
    ModelQuestionSchema,
    ModelsDocument,
    ModelsReport,
    ModelSummary,
    models_report,
)
from costcalc.recipes import Recipe
from costcalc.training import Metric


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
