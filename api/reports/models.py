"""`/models` and `/fit`: what can be asked about, everything measured about one model, and which accelerators hold it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar, get_args

from api.questions.errors import NotFound
from api.questions.fields import Choice, Moment, Names, Number, Text
from api.questions.schemas.cost import LayoutSchema
from api.questions.spellings import between_commas
from api.questions.suggestions import not_by_its_layers, unknown
from api.questions.values import FitValues, Values
from api.reports.paging import Rest, page_of, rest_of
from api.service import Service
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence import Evidence, normalised
from costcalc.evidence.largest_batch import Fit, FitQuestion, Fits, fits, nearest, networks
from costcalc.fields import filled
from costcalc.throughput.memory import Precision
from costcalc.training import Metric, Model, Recipe, Throughput


class FitSchema(LayoutSchema):
    """The parameters of `/fit`."""

    model = Names("networks, one or more; default all", example="resnet50")
    accelerator = Names("GPU or TPU models; default all", example="RTX 3090")
    precision = Choice(get_args(Precision), "bits that are computed with; default 16bit", example="16bit")
    image_size = Number(int, 1, 10_000, "pixels a side; default each network's own", example=224)
    as_of = Moment("only accelerators on sale and measurements known at this time; default now", example="2020-02-20")
    limit = Number(int, 1, 10**6, "maximum number of rows; default 1000", example=100)
    offset = Number(int, 0, 10**9, "rows to skip", example=0)


class ModelQuestionSchema(LayoutSchema):
    """The parameters of `costcalc models`."""

    model = Text("only this model, with its recipes and measured speeds", example="resnet50")


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


MOST_FITS = 1000


@dataclass(frozen=True, slots=True)
class FitDocument:
    """The JSON table, by network and then by memory; `count` is the number of rows before limit and offset. `nearest` is the
    accelerator with least memory that holds the first network that does not fit an accelerator asked about; null if all fit."""

    as_of: datetime
    count: int
    fits: tuple[Fit, ...]
    nearest: Fit | None


@dataclass(frozen=True, slots=True)
class FitReport:
    """The largest batch of networks on accelerators; `page` says which of all that are `found` to show, and
    `of_some` whether some accelerators were asked about."""

    name: ClassVar = "fit"
    as_of: datetime
    found: Fits
    page: slice
    nearest: Fit | None
    of_some: bool

    @property
    def rest(self) -> Rest | None:
        return rest_of(len(self.found), self.page)

    def rows(self) -> list[Fit]:
        return list(self.found.part(self.page))

    def document(self) -> FitDocument:
        return FitDocument(self.as_of, len(self.found), tuple(self.rows()), self.nearest)


def fit_report(service: Service, _: Catalogue, values: FitValues) -> FitReport:
    """The report that parsed parameters of `/fit` ask for. Raises NotFound for an unknown network."""
    as_of = values.get("as_of") or service.clock()
    known = networks(service.evidence)
    asked = FitQuestion(
        models=tuple(_network(service, name, known) for name in between_commas(*values["model"]))
        if "model" in values
        else known,
        accelerators=values.get("accelerator") or tuple(service.evidence.accelerators),
        precision=values.get("precision", "16bit"),
        image_size=values.get("image_size"),
        day=as_of.astimezone(UTC).date(),
    )
    found = fits(service.evidence, asked)
    unfit = next((each for each in found if not each.fits), None) if "accelerator" in values else None
    holds = nearest(service.evidence, asked, unfit) if unfit else None
    return FitReport(as_of, found, page_of(values, MOST_FITS), holds, "accelerator" in values)


def _network(service: Service, text: str, known: Sequence[str]) -> str:
    model = service.evidence.find_model(text)
    name = model.name if model else next((each for each in known if normalised(each) == normalised(text)), None)
    if name in known:
        return str(name)
    told = not_by_its_layers(text) or unknown("model", text, known, "/fit without model lists them all")
    raise NotFound(told, "model")


def models_report(service: Service, _: Catalogue, values: Values) -> ModelsReport:
    """The report that parsed parameters ask for."""
    model = values.get("model")
    return ModelsReport(service.evidence_about(model.name) if model else service.evidence, model)
