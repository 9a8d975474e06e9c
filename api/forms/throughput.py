"""`/throughput`: images per second, and images per second for each dollar per hour, on what can be rented."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, ClassVar, Literal

import numpy as np
from msgspec import Struct

from api.formats import words
from api.formats.column import Column
from api.formats.tables import PRICE_FILTERS, RATE, Table, day, number, offered_accelerators
from api.forms.code import Code
from api.questions.schemas.layout import own_words
from api.questions.schemas.training import OfferFilters, schema
from api.questions.values import Values
from api.reports.paging import Rest, paged
from api.reports.prices.rates import selected
from api.service import Service
from costcalc.catalogue.catalogue import Catalogue
from costcalc.catalogue.confirmation import Confirmation
from costcalc.evidence import Evidence
from costcalc.fields import filled
from costcalc.memory import Few
from costcalc.money import NANOS_PER_UNIT
from costcalc.offer import Offer, Payment, PurchaseOption
from costcalc.parameters import Param
from costcalc.recall import OFFER_BYTES, OFFERS_KEPT
from costcalc.recipes import Recipe
from costcalc.training import Throughput

DEFAULT_ROWS = 100

BEST = "best"


class ThroughputParameters(Struct):
    """Which speeds."""

    # fmt: off
    model: Annotated[str | None, Param("only this model", "goal", "resnet50", use="everyday")] = None
    recipe: Annotated[tuple[str, ...], Param(
        "only speeds of these recipes' code on their own systems; a name may end in *",
        "recipe", "ffcv-*", use="usual")] = ()
    image_size: Annotated[int | None, Param(
        "only this image size in pixels",
        "recipe", 224, low=1, high=10_000, use="usual")] = None
    year: Annotated[int | None, Param("only software of this year", "recipe", 2022, low=1900, high=3000, use="usual")] = None
    nodes: Annotated[int | None, Param("only this number of machines", "count", 1, low=1, high=100_000, use="usual")] = None
    speeds: Annotated[Literal["all", "best"], Param(
        "best: of each machine the highest speed of each model and image size; default all",
        "order", BEST, use="usual")] = "all"
    limit: Annotated[int, Param(
        "maximum number of rows; default 100",
        "page", 100, low=1, high=10**6, use="usual")] = DEFAULT_ROWS
    # fmt: on


ThroughputSchema = schema(OfferFilters, ThroughputParameters, "price", without=("max_price_age",))


@dataclass(frozen=True, slots=True)
class ThroughputRow:
    """A measured speed on a machine of the same accelerators, at its cheapest region's rate for all nodes together.

    `measured_on` is `Throughput.data`, `confirmed` that of the rate, as in `OfferRow`.
    """

    model: str
    image_size: int
    precision: str | None
    framework: str
    accelerator: str
    accelerators: int
    nodes: int
    images_per_second: float
    includes_evaluation: bool
    synthetic_data: bool
    provider: str
    region: str
    instance_type: str
    purchase_option: PurchaseOption
    term: str | None
    payment: Payment | None
    hourly_rate: Decimal
    currency: str
    images_per_second_per_dollar_hour: float
    throughput_source: str
    throughput_year: int
    price_source: str
    price_observed_at: datetime
    measured_on: Literal["synthetic", "real", "whole run"]
    confirmed: bool


@dataclass(frozen=True, slots=True)
class ThroughputDocument:
    """The JSON table, most images for the money first; `count` is the number of rows before limit and offset."""

    snapshot: str
    as_of: datetime
    count: int
    throughputs: tuple[ThroughputRow, ...]


@dataclass(frozen=True, slots=True)
class _Pair:
    throughput: Throughput
    row: int
    value: float


@dataclass(frozen=True, slots=True)
class ThroughputReport:
    """The measured speeds that pass the filters, on the offers that do; `page` has those to show."""

    name: ClassVar = "throughput"
    catalogue: Catalogue
    as_of: datetime
    page: list[_Pair]
    count: int
    rest: Rest | None
    confirmed: Confirmation
    words: Mapping[str, str]

    def rows(self) -> Iterator[ThroughputRow]:
        confirmed = self.confirmed.of(np.array([pair.row for pair in self.page], dtype=np.int64)).tolist()
        offers: Few[int, Offer] = Few(OFFERS_KEPT, OFFER_BYTES)  # most stand beside several speeds
        for pair, is_confirmed in zip(self.page, confirmed, strict=True):
            offer = offers.recall(pair.row, self.catalogue.offer, pair.row)
            measured = pair.throughput
            yield filled(
                ThroughputRow,
                offer,
                measured,
                synthetic_data=measured.is_synthetic,
                hourly_rate=offer.hourly_rate * measured.nodes,
                images_per_second_per_dollar_hour=pair.value,
                throughput_source=measured.source,
                throughput_year=measured.year,
                price_source=offer.source,
                price_observed_at=offer.observed_at,
                measured_on=measured.data,
                confirmed=is_confirmed,
            )

    def document(self) -> ThroughputDocument:
        return ThroughputDocument(self.catalogue.snapshot, self.as_of, self.count, tuple(self.rows()))


def throughput_report(service: Service, catalogue: Catalogue, values: Values) -> ThroughputReport:
    """The report that parsed parameters of `/throughput` ask for."""
    as_of = values.get("as_of") or service.clock()
    catalogue = service.at(catalogue, as_of)
    codes, currencies = catalogue.columns.currency, catalogue.vocabulary.currencies
    offers = selected(catalogue, as_of, values, regions="cheapest").tolist()
    evidence = service.evidence.known_on(as_of.astimezone(UTC).date())
    speeds = pairs(measured(evidence, values), catalogue, (row for row in offers if currencies[codes[row]] == "USD"))
    if values.get("speeds") == BEST:
        best: dict[tuple[object, ...], _Pair] = {}
        for pair in speeds:
            best.setdefault((pair.row, pair.throughput.model, pair.throughput.image_size), pair)
        speeds = [*best.values()]
    page, confirmed = paged(speeds, values, DEFAULT_ROWS), catalogue.confirmed(as_of)
    return ThroughputReport(catalogue, as_of, *page, confirmed, own_words(values))


def measured(evidence: Evidence, values: Values) -> Iterator[Throughput]:
    """The measured speeds that pass the filters."""
    wanted: dict[str, object] = {name: values[name] for name in ("image_size", "year", "nodes") if name in values}
    if "model" in values:
        wanted["model"] = values["model"].name
    names = values.get("recipe")
    of_recipes = names and {own_run(recipe) for recipe in evidence.recipes if recipe.is_named(names)}
    for row in evidence.throughputs:
        passes = all(getattr(row, name) == value for name, value in wanted.items())
        if passes and (of_recipes is None or own_run(row) in of_recipes):
            yield row


def own_run(of: Recipe | Throughput) -> tuple[object, ...]:
    """What a recipe and a speed measured with its code on its own system have in common."""
    system = of.system if isinstance(of, Recipe) else of
    where = system and (system.accelerator, system.accelerators, system.nodes)
    return of.model, of.organisation, of.stack, of.year, where


def pairs(throughputs: Iterable[Throughput], catalogue: Catalogue, rows: Iterable[int]) -> list[_Pair]:
    """Every one of these speeds on every one of these offers with the same accelerators, most images for the money first."""
    columns, instances = catalogue.columns, catalogue.vocabulary.instances
    by_shape: dict[tuple[str, int], list[Throughput]] = defaultdict(list)
    for each in throughputs:
        by_shape[each.accelerator, each.accelerators // each.nodes].append(each)
    every = list[_Pair]()
    for row in rows:
        machine, hourly = instances[columns.instance[row]][2], float(columns.hourly[row]) / NANOS_PER_UNIT
        alike = by_shape.get((machine.accelerator, machine.accelerators), [])
        every += [_Pair(each, row, each.images_per_second / each.nodes / hourly) for each in alike if hourly]
    return sorted(every, key=lambda pair: (-pair.value, pair.throughput.name, pair.row))


TABLE = Table(
    "Speeds",
    "Measured training speeds on machines for rent in dollars, most images per dollar first.",
    "measured speed",
    ThroughputRow,
    (
        Column("Model", lambda row: row.model, lambda row: f"{row.image_size} px, {row.precision or 'unknown precision'}"),
        Column("Machine", words.machine, offered_accelerators),
        Column("Images/s", lambda row: number(row.images_per_second, ",.1f"), is_number=True,
               bar=lambda row: row.images_per_second),
        Column("Per $ an hour", lambda row: number(row.images_per_second_per_dollar_hour, ",.1f"), is_number=True,
               bar=lambda row: row.images_per_second_per_dollar_hour),
        Column("Rate per hour", RATE.text, words.bought, is_number=True, leave=2),
        Column("Rate seen", lambda row: day(row.price_observed_at), lambda row: "" if row.confirmed else "not confirmed",
               leave=3),
        Column("Measured with", lambda row: row.framework, lambda row: f"{row.measured_on}, {row.throughput_year}",
               leave=1, source=lambda row: row.throughput_source),
    ),
    ("model", "recipe", "image_size", "year", "nodes", *PRICE_FILTERS, "rates", "speeds"),
    lambda document: f"on offers, most images per dollar first, at prices of {day(document.as_of)}",
)  # fmt: skip

CODE: Code[ThroughputReport] = Code(ThroughputSchema, throughput_report, ThroughputDocument, TABLE)
