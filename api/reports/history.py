"""`GET /offers/history`: every rate that was ever observed for a machine, and when each was last seen.

Answered from the snapshot in memory, which holds all observations, so a store that is away costs nobody the history.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from flask import Blueprint, Response

from api.formats import csv as csv_export
from api.formats.sheet_columns import word_columns
from api.questions.fields import Names, Number
from api.questions.price_fields import Moment
from api.questions.schemas import OfferFilters
from api.reports.documents import to_json
from api.reports.offers import OfferRow, as_row, offer_filter
from api.web.responses import answered, arguments, page_of, service
from costcalc.catalogue.catalogue import Catalogue
from costcalc.units import Indices

blueprint = Blueprint("history", __name__)
SAME_RATE = ("key", "source", "hourly", "upfront", "recurring", "monthly", "hours_in_month", "currency", "parts")


class HistorySchema(OfferFilters):
    """The parameters of `/offers/history`."""

    class Meta:
        """A history has no one moment."""

        exclude = ("as_of",)

    instance_type = Names("the provider's own name of a machine", example="p3.8xlarge", required=True)
    since = Moment("rates still seen then or later; default the first", example="2018-01-01")
    until = Moment("rates observed by then; default now", example="2026-06-30")
    limit = Number(int, 1, 10**9, "most rows; all of them unless asked", example=100)


HISTORY = HistorySchema()


@dataclass(frozen=True, slots=True)
class HistoryRow(OfferRow):
    """One rate as one source told it: `observed_at` is when it was first seen, `last_seen_at` when last, unchanged."""

    last_seen_at: datetime


@dataclass(frozen=True, slots=True)
class HistoryDocument:
    """The JSON history, by offer and then oldest first; `count` is the number of rates before limit and offset."""

    snapshot: str
    since: datetime | None
    until: datetime
    count: int
    history: tuple[HistoryRow, ...]


@dataclass(frozen=True, slots=True)
class Runs:
    """Observations of a rate that did not change between them: the rows of the first and of the last."""

    first: Indices
    last: Indices

    def __getitem__(self, some: slice) -> Runs:
        return Runs(self.first[some], self.last[some])


def runs(catalogue: Catalogue, rows: Indices) -> Runs:
    """These observations as runs of equal rates, by offer and then by when they began."""
    columns = catalogue.columns
    rows = rows[np.lexsort((columns.observed[rows], columns.source[rows], columns.key[rows]))]
    starts = np.zeros(len(rows), bool)
    starts[:1] = True
    for name in SAME_RATE:
        values = getattr(columns, name)[rows]
        starts[1:] |= values[1:] != values[:-1]
    first = np.flatnonzero(starts)
    last = np.r_[first[1:], len(rows)][: len(first)] - 1
    order = np.lexsort((columns.observed[rows[first]], columns.key[rows[first]]))
    return Runs(rows[first[order]], rows[last[order]])


def seen_between(catalogue: Catalogue, filters: dict[str, Any], until: datetime) -> Runs:
    """The runs that began by `until` and were still seen at `since` or later."""
    observed = catalogue.columns.observed
    known = np.flatnonzero(observed <= int(until.timestamp()))
    found = runs(catalogue, catalogue.passing_rows(known, offer_filter(filters)))
    if "since" not in filters:
        return found
    late = observed[found.last] >= int(filters["since"].timestamp())
    return Runs(found.first[late], found.last[late])


def history_row(catalogue: Catalogue, first: int, last: int) -> HistoryRow:
    """The run's offer as last seen, with both moments."""
    offer, began = catalogue.offer(last), catalogue.offer(first).observed_at
    row = as_row(replace(offer, observed_at=began))
    cells = {name: getattr(row, name) for name in OfferRow.__dataclass_fields__}
    return HistoryRow(**cells, last_seen_at=offer.observed_at)


@blueprint.get("/offers/history")
@blueprint.get("/offers/history.csv")
def history() -> Response:
    """Every rate observed for the machines asked about, with its source."""
    asked = service()
    catalogue = asked.catalogue()
    filters, layout = asked.filters(HISTORY, arguments(), catalogue)
    until, since = filters.get("until") or asked.clock(), filters.get("since")
    found = seen_between(catalogue, filters, until)
    page = found[page_of(filters)]

    def rows() -> Iterator[HistoryRow]:
        return (history_row(catalogue, *run) for run in zip(page.first.tolist(), page.last.tolist(), strict=True))

    def as_json() -> bytes:
        return to_json(HistoryDocument(catalogue.snapshot, since, until, len(found.first), tuple(rows())))

    def as_csv() -> Iterator[bytes]:
        return csv_export.chunks([*csv_export.columns_of(HistoryRow), *word_columns(filters)], rows(), layout)

    parts = (catalogue.snapshot, sorted(filters.items(), key=str), filters.get("until") or until.date())
    return answered(parts, layout, {"json": as_json, "csv": as_csv}, "history")
