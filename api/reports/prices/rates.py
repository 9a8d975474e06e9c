"""Rates of machines: the rows of a catalogue that pass the filters of a question, and a rate as a row of a sheet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from costcalc.catalogue.catalogue import EVER, Catalogue, OfferFilter
from costcalc.offer import Payment, PurchaseOption
from costcalc.units import Indices

FILTERS = tuple(name for name in OfferFilter._fields if name != "regions")


@dataclass(frozen=True, slots=True)
class RateRow:
    """One rate for one whole instance; `hourly_rate` spreads any upfront payment over the term.

    `available` says whether the provider had one free when the rate was read, None where it does not say, `available_at` from
    when.
    """

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
    available: bool | None
    available_at: datetime | None


def selected(
    catalogue: Catalogue, as_of: datetime, filters: Mapping[str, object], regions: Literal["all", "cheapest"] = "all"
) -> Indices:
    """The catalogue's rows that pass the filters, in the catalogue's order, of any age, first and second hand."""
    rows = catalogue.passing_rows(catalogue.current_offers(as_of, EVER).listed, offer_filter(filters))
    if filters.get("rates") == "confirmed":
        rows = rows[catalogue.confirmed(as_of).of(rows)]
    return rows if regions == "all" else catalogue.cheapest_regions(rows)


def offer_filter(filters: Mapping[str, Any]) -> OfferFilter:
    """The filters on offers, in all regions."""
    return OfferFilter(**{name: filters[name] for name in FILTERS if name in filters}, regions="all")
