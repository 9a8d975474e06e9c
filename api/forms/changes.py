"""`/offers/changes`: rates that are new or different since a date."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from api.formats.column import Column
from api.formats.tables import BOUGHT, MACHINE, PRICE_FILTERS, RATE, SEEN, Table, day, rate
from api.forms.code import Code
from api.questions.errors import BadParameters
from api.questions.schemas.layout import own_words
from api.questions.schemas.training import OfferFilters, schema
from api.questions.values import Values
from api.reports.paging import Rest, paged
from api.reports.prices.rates import selected
from api.service import Service
from costcalc.catalogue.catalogue import Catalogue
from costcalc.fields import filled
from costcalc.offer import Offer, Payment, PurchaseOption
from costcalc.parameters import Param

USUAL = timedelta(days=30)
COMPARED = ("hourly_rate", "upfront", "currency", "observed_at", "source")
"""What a row has of the rate before too."""
RATES = ("hourly", "upfront", "recurring", "monthly", "currency")


class ChangesParameters(Struct):
    """Since when."""

    # fmt: off
    since: Annotated[datetime | None, Param(
        "the earlier of the two dates; as_of is the later; default 30 days before it",
        "date", "2025-06-01", "begin", use="everyday")] = None
    limit: Annotated[int | None, Param("maximum number of rows; default all", "page", 100, low=1, high=10**9, use="usual")] = None
    # fmt: on


ChangesSchema = schema(OfferFilters, ChangesParameters)


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


@dataclass(frozen=True, slots=True)
class ChangesReport:
    """The rates that differ between two dates: `page` has the row before, -1 for none, and the row after of each to show."""

    name: ClassVar = "changes"
    catalogue: Catalogue
    since: datetime
    as_of: datetime
    page: NDArray[np.int64]
    count: int
    rest: Rest | None
    words: Mapping[str, str]

    def rows(self) -> Iterator[ChangeRow]:
        for previous, row in self.page.tolist():
            before, offer = self.catalogue.offer(previous) if previous >= 0 else None, self.catalogue.offer(row)
            previous_cells: dict[str, Any] = {f"previous_{name}": getattr(before, name, None) for name in COMPARED}
            kind = "changed" if before else "new"
            yield filled(ChangeRow, offer, offer.machine, kind=kind, change=_change(before, offer), **previous_cells)

    def document(self) -> ChangesDocument:
        return ChangesDocument(self.catalogue.snapshot, self.since, self.as_of, self.count, tuple(self.rows()))


def changes_report(service: Service, catalogue: Catalogue, values: Values) -> ChangesReport:
    """The report that parsed parameters of `/offers/changes` ask for. Raises BadParameters where `since` is after `as_of`."""
    as_of = values.get("as_of") or service.clock()
    since = values.get("since") or as_of - USUAL
    if since > as_of:
        message = f"{since:%Y-%m-%d %H:%M} UTC is later than as_of, {as_of:%Y-%m-%d %H:%M} UTC: choose an earlier date"
        raise BadParameters({"since": [message]})
    catalogue = service.at(catalogue, since, as_of)
    before, after = (selected(catalogue, moment, values) for moment in (since, as_of))
    columns = catalogue.columns
    current = np.full(int(columns.key.max(initial=-1)) + 1, -1)
    current[columns.key[before]] = before
    previous = current[columns.key[after]]
    differs = previous < 0
    for rates in (getattr(columns, name) for name in RATES):
        differs |= rates[previous] != rates[after]
    pairs = np.stack((previous[differs], after[differs]), axis=1)
    return ChangesReport(catalogue, since, as_of, *paged(pairs, values), own_words(values))


def _change(previous: Offer | None, offer: Offer) -> float | None:
    if previous is None or not previous.hourly_rate or previous.currency != offer.currency:
        return None
    return round(float(offer.hourly_rate / previous.hourly_rate - 1), 6)


TABLE = Table(
    "Changes of rates",
    "Every rate that is new or different since a date.",
    "new or different rate",
    ChangeRow,
    (
        MACHINE,
        BOUGHT,
        Column("Before", lambda row: rate(row.previous_hourly_rate), is_number=True),
        RATE,
        Column("Change", lambda row: "new" if row.change is None else f"{row.change:+.1%}", is_number=True, leave=2),
        Column("Seen", SEEN.text, leave=3, source=SEEN.source),
    ),
    (*PRICE_FILTERS, "since", "as_of"),
    lambda document: f"from {day(document.since)} to {day(document.as_of)}",
)

CODE: Code[ChangesReport] = Code(ChangesSchema, changes_report, ChangesDocument, TABLE)
