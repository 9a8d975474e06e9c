"""`GET /offers`: the price sheet, every current rate with its source and date."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from flask import Blueprint, Response

from api.formats import csv as csv_export
from api.formats import price_sheet
from api.formats.sheet_columns import word_columns, words_of
from api.reports.conversion import columns_of_pairs, converter
from api.reports.documents import to_json
from api.service import OFFERS
from api.web.responses import answered, arguments, page_of, service
from costcalc.catalogue.catalogue import Catalogue, OfferFilter
from costcalc.money import ExchangeRate
from costcalc.offers import Gap, Offer, Payment, PurchaseOption
from costcalc.units import Indices

blueprint = Blueprint("offers", __name__)
ANY_AGE_DAYS = 36_500
FILTERS = ("provider", "region", "instance_type", "accelerator", "purchase", "term", "payment")


@dataclass(frozen=True, slots=True)
class OfferRow:
    """One rate for one whole instance; `hourly_rate` spreads any upfront payment over the term."""

    provider: str
    region: str
    instance_type: str
    accelerator: str
    accelerators: int
    accelerator_memory_gib: float | None
    vcpus: int | None
    memory_gib: float | None
    purchase_option: PurchaseOption
    term: str | None
    payment: Payment | None
    hourly_rate: Decimal
    upfront: Decimal | None
    recurring_hourly: Decimal | None
    monthly: Decimal | None
    currency: str
    effective_from: datetime | None
    observed_at: datetime
    source: str
    flags: tuple[str, ...]
    offering_class: str | None


@dataclass(frozen=True, slots=True)
class OffersDocument:
    """The JSON price sheet; `count` is the number of offers before limit and offset, `exchange` has the rates converted with."""

    snapshot: str
    as_of: datetime
    gaps: tuple[Gap, ...]
    count: int
    offers: tuple[OfferRow, ...]
    exchange: tuple[ExchangeRate, ...]


def selected(
    catalogue: Catalogue, as_of: datetime, filters: dict[str, Any], regions: Literal["all", "cheapest"] = "all"
) -> Indices:
    """The catalogue's rows that pass the filters, in the catalogue's order, of any age."""
    current = catalogue.current_offers(as_of, ANY_AGE_DAYS)
    return catalogue.allowed_rows(current, offer_filter(filters)._replace(regions=regions))


def offer_filter(filters: dict[str, Any]) -> OfferFilter:
    """The filters on offers, in all regions."""
    return OfferFilter(**{name: filters[name] for name in FILTERS if name in filters}, regions="all")


def as_row(offer: Offer) -> OfferRow:
    """The offer with its machine's figures beside it."""
    machine = offer.machine
    return OfferRow(
        provider=offer.provider,
        region=offer.region,
        instance_type=offer.instance_type,
        accelerator=machine.accelerator,
        accelerators=machine.accelerators,
        accelerator_memory_gib=machine.accelerator_memory_gib,
        vcpus=machine.vcpus,
        memory_gib=machine.memory_gib,
        purchase_option=offer.purchase_option,
        term=offer.term,
        payment=offer.payment,
        hourly_rate=offer.hourly_rate,
        upfront=offer.upfront,
        recurring_hourly=offer.recurring_hourly,
        monthly=offer.monthly,
        currency=offer.currency,
        effective_from=offer.effective_from,
        observed_at=offer.observed_at,
        source=offer.source,
        flags=offer.flags,
        offering_class=offer.offering_class,
    )


@blueprint.get("/offers")
@blueprint.get("/offers.csv")
def offers() -> Response:
    """The rates current at a date, cheapest first within each instance type, all of them unless a limit is asked for."""
    asked = service()
    catalogue = asked.catalogue()
    filters, layout = asked.filters(OFFERS, arguments(), catalogue)
    as_of = filters.get("as_of") or asked.clock()
    rows = selected(catalogue, as_of, filters)
    page = rows[page_of(filters)]
    into = converter(filters, catalogue.vocabulary.currencies, as_of.date())

    def as_json() -> bytes:
        exact = (into.converted(catalogue.offer(row)) for row in page.tolist())
        sheet = tuple(map(as_row, exact))
        return to_json(OffersDocument(catalogue.snapshot, as_of, catalogue.gaps, len(rows), sheet, into.used))

    def as_csv() -> Iterator[bytes]:
        if into.currency is None:
            return price_sheet.chunks(catalogue, page, tuple(OfferRow.__dataclass_fields__), layout, words_of(filters))
        quoted = (catalogue.offer(row) for row in page.tolist())
        pairs = ((offer, as_row(into.converted(offer))) for offer in quoted)
        columns = [*columns_of_pairs(OfferRow), *into.columns(), *word_columns(filters)]
        return csv_export.chunks(columns, pairs, layout)

    moment = filters.get("as_of") or as_of.date()
    parts = (catalogue.snapshot, sorted(filters.items()), moment)
    return answered(parts, layout, {"json": as_json, "csv": as_csv}, "offers")
