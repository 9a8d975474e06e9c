"""`GET /offers/changes`: rates that are new or different since a date."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

import numpy as np
from flask import Blueprint, Response

from api.formats import csv as csv_export
from api.formats.sheet_columns import word_columns
from api.reports.documents import to_json
from api.reports.offers import selected
from api.service import CHANGES
from api.web.responses import Body, answered, arguments, page_of, service
from costcalc.catalogue.catalogue import Catalogue
from costcalc.offers import Offer, Payment, PurchaseOption
from costcalc.units import Indices

blueprint = Blueprint("changes", __name__)
RATES = ("hourly", "upfront", "recurring", "monthly", "currency")


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One rate that is `new` or `changed`; `change` is a fraction of the previous hourly rate, null where there was none."""

    provider: str
    region: str
    instance_type: str
    accelerator: str
    accelerators: int
    purchase_option: PurchaseOption
    term: str | None
    payment: Payment | None
    offering_class: str | None
    kind: Literal["new", "changed"]
    previous_hourly_rate: Decimal | None
    hourly_rate: Decimal
    change: float | None
    previous_upfront: Decimal | None
    upfront: Decimal | None
    previous_currency: str | None
    currency: str
    previous_observed_at: datetime | None
    observed_at: datetime
    previous_source: str | None
    source: str


@dataclass(frozen=True, slots=True)
class ChangesDocument:
    """The JSON list; `count` is the number of changes before limit and offset."""

    snapshot: str
    since: datetime
    as_of: datetime
    count: int
    changes: tuple[ChangeRow, ...]


def changed_rows(catalogue: Catalogue, before: Indices, after: Indices) -> tuple[Indices, Indices]:
    """Of the rows current after, those that are new or have other rates, each with its row before, -1 where there was none."""
    columns = catalogue.columns
    current = np.full(int(columns.key.max(initial=-1)) + 1, -1)
    current[columns.key[before]] = before
    previous = current[columns.key[after]]
    differs = previous < 0
    for name in RATES:
        rates = getattr(columns, name)
        differs |= rates[previous] != rates[after]
    return previous[differs], after[differs]


def as_row(previous: Offer | None, offer: Offer) -> ChangeRow:
    """An offer beside what it was before."""
    machine = offer.machine
    return ChangeRow(
        provider=offer.provider,
        region=offer.region,
        instance_type=offer.instance_type,
        accelerator=machine.accelerator,
        accelerators=machine.accelerators,
        purchase_option=offer.purchase_option,
        term=offer.term,
        payment=offer.payment,
        offering_class=offer.offering_class,
        kind="changed" if previous else "new",
        previous_hourly_rate=previous.hourly_rate if previous else None,
        hourly_rate=offer.hourly_rate,
        change=_change(previous, offer),
        previous_upfront=previous.upfront if previous else None,
        upfront=offer.upfront,
        previous_currency=previous.currency if previous else None,
        currency=offer.currency,
        previous_observed_at=previous.observed_at if previous else None,
        observed_at=offer.observed_at,
        previous_source=previous.source if previous else None,
        source=offer.source,
    )


def _change(previous: Offer | None, offer: Offer) -> float | None:
    if previous is None or not previous.hourly_rate or previous.currency != offer.currency:
        return None
    return round(float(offer.hourly_rate / previous.hourly_rate - 1), 6)


@blueprint.get("/offers/changes")
@blueprint.get("/offers/changes.csv")
def changes() -> Response:
    """What a rate was at one date and is at another, for every rate that is new or different."""
    asked = service()
    catalogue = asked.catalogue()
    filters, layout = asked.filters(CHANGES, arguments(), catalogue)
    as_of = filters.get("as_of") or asked.clock()
    since = min(filters["since"], as_of)  # nothing has changed between a day and one before it
    before, after = (selected(catalogue, moment, filters) for moment in (since, as_of))
    found = np.stack(changed_rows(catalogue, before, after), axis=1)
    page = found[page_of(filters)]

    def rows() -> Iterator[ChangeRow]:
        for previous, row in page.tolist():
            yield as_row(catalogue.offer(previous) if previous >= 0 else None, catalogue.offer(row))

    makers: dict[str, Callable[[], Body]] = {
        "json": lambda: to_json(ChangesDocument(catalogue.snapshot, since, as_of, len(found), tuple(rows()))),
        "csv": lambda: csv_export.chunks([*csv_export.columns_of(ChangeRow), *word_columns(filters)], rows(), layout),
    }
    parts = (catalogue.snapshot, sorted(filters.items(), key=str), filters.get("as_of") or as_of.date())
    return answered(parts, layout, makers, "changes")
