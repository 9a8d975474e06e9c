"""`/fit`: the largest batch of networks on accelerators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar, TypedDict, get_args

from api.questions.errors import NotFound
from api.questions.fields import Choice, Moment, Names, Number
from api.questions.schemas.training import LayoutSchema
from api.questions.spellings import between_commas
from api.questions.suggestions import not_by_its_layers, unknown
from api.reports.paging import Rest, page_of, rest_of
from api.service import Service
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence import normalised
from costcalc.evidence.largest_batch import Fit, FitQuestion, Fits, fits, nearest, networks
from costcalc.throughput.memory import Precision

MOST_FITS = 1000


class FitSchema(LayoutSchema):
    """The parameters of `/fit`."""

    model = Names("networks, one or more; default all", example="resnet50")
    accelerator = Names("GPU or TPU models; default all", example="RTX 3090")
    precision = Choice(get_args(Precision), "bits of the computation; default 16bit", example="16bit")
    image_size = Number(int, 1, 10_000, "image size in pixels; default each network's own", example=224)
    as_of = Moment("only accelerators on sale and measurements known at this time; default now", example="2020-02-20")
    limit = Number(int, 1, 10**6, "maximum number of rows; default 1000", example=100)
    offset = Number(int, 0, 10**9, "rows to skip", example=0)


class FitValues(TypedDict, total=False):
    """Values of `/fit`."""

    model: tuple[str, ...]
    accelerator: tuple[str, ...]
    precision: Precision
    image_size: int
    as_of: datetime
    offset: int
    limit: int


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
    names = networks(service.evidence)
    question = FitQuestion(
        models=tuple(_network(service, name, names) for name in between_commas(*values["model"]))
        if "model" in values
        else names,
        accelerators=values.get("accelerator") or tuple(service.evidence.accelerators),
        precision=values.get("precision", "16bit"),
        image_size=values.get("image_size"),
        day=as_of.astimezone(UTC).date(),
    )
    fitting = fits(service.evidence, question)
    unfit = next((each for each in fitting if not each.fits), None) if "accelerator" in values else None
    holds = nearest(service.evidence, question, unfit) if unfit else None
    return FitReport(as_of, fitting, page_of(values, MOST_FITS), holds, "accelerator" in values)


def _network(service: Service, text: str, names: Sequence[str]) -> str:
    model = service.evidence.find_model(text)
    name = model.name if model else next((each for each in names if normalised(each) == normalised(text)), None)
    if name in names:
        return str(name)
    message = not_by_its_layers(text) or unknown("model", text, names, "/fit without model lists them all")
    raise NotFound(message, "model")
