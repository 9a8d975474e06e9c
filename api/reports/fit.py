"""`/fit`: the largest batch of networks on accelerators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, ClassVar

from msgspec import Struct

from api.questions.declared import fields_of
from api.questions.errors import NotFound
from api.questions.schemas.training import LayoutSchema
from api.questions.spellings import between_commas
from api.questions.suggestions import not_by_its_layers, unknown
from api.questions.values import Values, taken
from api.reports.paging import Rest, page_of, rest_of
from api.service import Service
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence import normalised
from costcalc.evidence.largest_batch import Fit, FitQuestion, Fits, fits, nearest, networks
from costcalc.parameters import Param
from costcalc.throughput.memory import Precision

MOST_FITS = 1000


class FitParameters(Struct):
    """Which networks on which accelerators."""

    # fmt: off
    model: Annotated[tuple[str, ...], Param("networks, one or more; default all", "goal", "resnet50", use="everyday")] = ()
    accelerator: Annotated[tuple[str, ...], Param(
        "GPU or TPU models; default all",
        "machine", "RTX 3090", use="everyday")] = ()
    precision: Annotated[Precision, Param("bits of the computation; default 16bit", "recipe", "16bit", use="usual")] = "16bit"
    image_size: Annotated[int | None, Param(
        "image size in pixels; default each network's own",
        "recipe", 224, low=1, high=10_000, use="usual")] = None
    as_of: Annotated[datetime | None, Param(
        "only accelerators on sale and measurements known at this time; default now",
        "date", "2020-02-20", use="usual")] = None
    limit: Annotated[int, Param("maximum number of rows; default 1000", "page", 100, low=1, high=10**6, use="usual")] = MOST_FITS
    offset: Annotated[int, Param("rows to skip", "page", 0, low=0, high=10**9, use="usual")] = 0
    # fmt: on


class FitSchema(LayoutSchema):
    """The parameters of `/fit`."""

    class Meta:
        """It asks of no offer."""

        include = fields_of(FitParameters)


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


def fit_report(service: Service, _: Catalogue, values: Values) -> FitReport:
    """The report that parsed parameters of `/fit` ask for. Raises NotFound for an unknown network."""
    page, asked = page_of(values, MOST_FITS), taken(FitParameters, values)
    as_of = asked.as_of or service.clock()
    names = networks(service.evidence)
    question = FitQuestion(
        models=tuple(_network(service, name, names) for name in between_commas(*asked.model)) or names,
        accelerators=asked.accelerator or tuple(service.evidence.accelerators),
        precision=asked.precision,
        image_size=asked.image_size,
        day=as_of.astimezone(UTC).date(),
    )
    fitting = fits(service.evidence, question)
    unfit = next((each for each in fitting if not each.fits), None) if asked.accelerator else None
    holds = nearest(service.evidence, question, unfit) if unfit else None
    return FitReport(as_of, fitting, page, holds, bool(asked.accelerator))


def _network(service: Service, text: str, names: Sequence[str]) -> str:
    model = service.evidence.find_model(text)
    name = model.name if model else next((each for each in names if normalised(each) == normalised(text)), None)
    if name in names:
        return str(name)
    message = not_by_its_layers(text) or unknown("model", text, names, "/fit without model lists them all")
    raise NotFound(message, "model")
