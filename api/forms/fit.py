"""`/fit`: the largest batch of networks on accelerators; as a grid of memories and a few networks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter
from typing import Annotated, ClassVar, NamedTuple

from msgspec import Struct

from api.formats.blocks import Block, Part, Rows, Say, list_of
from api.formats.column import Column, leading_to
from api.formats.tables import Table, gibibytes
from api.forms.code import Code
from api.questions.errors import NotFound
from api.questions.schemas.training import LayoutSchema, schema
from api.questions.spellings import between_commas
from api.questions.suggestions import not_by_its_layers, unknown
from api.questions.values import Values, taken
from api.reports.paging import Rest, paged
from api.service import Service
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence import normalised
from costcalc.evidence.largest_batch import Fit, FitQuestion, Fits, fits, nearest, networks
from costcalc.parameters import Param
from costcalc.throughput.memory import Precision
from costcalc.training import Tier

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


FitSchema = schema(LayoutSchema, FitParameters)


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
    """The largest batch of networks on accelerators: a `page` of all that are `found`; `of_some` says whether some accelerators
    were asked about."""

    name: ClassVar = "fit"
    as_of: datetime
    found: Fits
    page: Fits
    count: int
    rest: Rest | None
    nearest: Fit | None
    of_some: bool

    def rows(self) -> list[Fit]:
        return list(self.page)

    def document(self) -> FitDocument:
        return FitDocument(self.as_of, self.count, tuple(self.page), self.nearest)


def fit_report(service: Service, _: Catalogue, values: Values) -> FitReport:
    """The report that parsed parameters of `/fit` ask for. Raises NotFound for an unknown network."""
    asked, names = taken(FitParameters, values), networks(service.evidence)
    as_of = asked.as_of or service.clock()
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
    page = paged(fitting, {"offset": asked.offset, "limit": asked.limit})
    return FitReport(as_of, fitting, *page, holds, bool(asked.accelerator))


def _network(service: Service, text: str, names: Sequence[str]) -> str:
    model = service.evidence.find_model(text)
    name = model.name if model else next((each for each in names if normalised(each) == normalised(text)), None)
    if name in names:
        return str(name)
    message = not_by_its_layers(text) or unknown("model", text, names, "/fit without model lists them all")
    raise NotFound(message, "model")


MOST_NETWORKS, MOST_NAMED = 12, 2
"""Networks of a grid, and accelerators of equal memory that are named in it."""
SIGNS = "~: modelled or carried over from other cards, with its 80 % range; else measured. -: not even one image fits."
MEMORY = attrgetter("memory_gib")


def batch(fit: Fit) -> str:
    """The largest batch as measured, with its range where it is modelled; `-` where nothing fits."""
    if not fit.fits:
        return "-"
    if fit.evidence is Tier.MEASURED:
        return f"{fit.largest_batch:,}"
    return f"~{fit.largest_batch:,} ({fit.largest_batch_low:,}-{fit.largest_batch_high:,})"


TABLE = Table(
    "What fits",
    "The largest batch of each network that fits the memory of each accelerator.",
    "largest batch size",
    Fit,
    (
        Column("Network", lambda row: row.model,
               lambda row: " ".join(filter(None, [row.precision, row.image_size and f"{row.image_size} px"]))),
        Column("Accelerator", lambda row: row.accelerator, lambda row: gibibytes(row.memory_gib)),
        Column("Largest batch", batch, is_number=True, bar=lambda row: row.largest_batch),
        Column("Known", lambda row: row.evidence.value, source=lambda row: row.source, leave=1),
    ),
    ("model", "accelerator", "precision", "image_size", "as_of"),
)  # fmt: skip


class GridRow(NamedTuple):
    """Accelerators of equal memory, and by network the largest batch on them: as measured where anybody did."""

    memory_gib: float
    accelerators: tuple[str, ...]
    batches: dict[str, Fit]


def blocks(report: FitReport) -> Iterator[Block]:
    """The batches that each size of memory holds, and each accelerator on demand; of accelerators that are named the list."""
    rows = list_of(TABLE, report)
    if nearest := report.nearest:
        none = ", ".join(row.accelerator for row in rows.rows if row.model == nearest.model and not row.fits)
        held = f"{nearest.accelerator} ({nearest.memory_gib:g} GiB)"
        yield Say([f"{nearest.model} does not fit {none}; the smallest that holds it is {held}."])
    if report.of_some:
        yield rows
        return
    first = sorted(report.found.of_the_first(MOST_NETWORKS), key=MEMORY)
    networks = list(dict.fromkeys(row.model for row in first))
    more = f"The first {len(networks)} networks are shown; model= takes others, separated by commas."
    by_memory = (GridRow(memory, *_together(list(some))) for memory, some in groupby(first, key=MEMORY))
    yield Rows(_grid(networks), list(by_memory))
    yield Say([SIGNS, more], small=True)
    yield Part("Each accelerator with its source", [rows], folded=True)


def _together(some: Sequence[Fit]) -> tuple[tuple[str, ...], dict[str, Fit]]:
    """The accelerators; by network, the batch that was measured, else any, since what is modelled follows from the memory."""
    by_evidence = sorted(some, key=lambda row: row.evidence is Tier.MEASURED)
    return tuple(dict.fromkeys(row.accelerator for row in some)), {row.model: row for row in by_evidence}


def _grid(networks: Sequence[str]) -> Table:
    """A column for each network, of which a narrow terminal leaves out the last."""
    columns = (_of_network(name, len(networks) - place) for place, name in enumerate(networks))
    title = "The largest batch by memory and network"
    return Table(
        title,
        "",
        "size of memory",
        None,
        (Column("Memory", lambda row: f"{row.memory_gib:g} GiB", _accelerators), *columns),
    )


def _accelerators(row: GridRow) -> str:
    named, more = row.accelerators[:MOST_NAMED], len(row.accelerators) - MOST_NAMED
    return f"{', '.join(named)}{f' and {more} more' if more > 0 else ''}"


def _of_network(name: str, leave: int) -> Column:
    def part(row: GridRow, which: int) -> str:
        return batch(row.batches[name]).partition(" ")[which].strip("()") if name in row.batches else ""

    return Column(
        name,
        lambda row: part(row, 0),
        lambda row: part(row, 2),
        is_number=True,
        leave=leave,
        link=lambda row: leading_to("/fit", model=name, accelerator=",".join(row.accelerators)),
    )


CODE: Code[FitReport] = Code(FitSchema, fit_report, FitDocument, TABLE, blocks)
