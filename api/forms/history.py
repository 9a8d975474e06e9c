"""`/offers/history`: every rate that was ever observed for a machine, and when each was last seen.

The snapshot in memory holds all observations unless they are very many; only for older ones the store is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, ClassVar

import numpy as np
from msgspec import Struct

from api.formats import words
from api.formats.charts.figure import Figure, Place, Scale, across, line, nothing, sign, stepped, told_apart, up
from api.formats.charts.frame import days, months
from api.formats.column import Column
from api.formats.tables import BOUGHT, MACHINE, RATE, SEEN, Table, day
from api.forms.code import Code
from api.questions.schemas.layout import own_words
from api.questions.schemas.training import OfferFilters, schema
from api.questions.values import Values
from api.reports.paging import Rest, paged
from api.reports.prices.rates import RateRow, offer_filter
from api.service import Service
from costcalc.catalogue.catalogue import Catalogue
from costcalc.fields import filled
from costcalc.parameters import Param
from costcalc.units import Indices

SAME_RATE = ("key", "source", "hourly", "upfront", "recurring", "monthly", "hours_in_month", "currency", "parts")


class HistoryParameters(Struct):
    """Which machines, and of which time."""

    # fmt: off
    instance_type: Annotated[tuple[str, ...], Param(
        "machine type, as its provider names it",
        "machine", "p3.8xlarge", use="everyday")]
    accelerator: Annotated[tuple[str, ...], Param(
        "accelerator of the machine, where several machines share a name",
        "machine", "V100", use="usual")] = ()
    since: Annotated[datetime | None, Param(
        "only rates still seen at this time or later; default all",
        "date", "2018-01-01", "begin", use="everyday")] = None
    until: Annotated[datetime | None, Param(
        "only rates observed by this time; default now",
        "date", "2026-06-30", use="usual")] = None
    limit: Annotated[int | None, Param("maximum number of rows; default all", "page", 100, low=1, high=10**9, use="usual")] = None
    # fmt: on


HistorySchema = schema(OfferFilters, HistoryParameters, without=("as_of", "available"))
"""A history has no one moment."""


@dataclass(frozen=True, slots=True)
class HistoryRow(RateRow):
    """One rate from one source: `observed_at` is when it was first seen, `last_seen_at` when it was last seen unchanged."""

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
class HeldRates:
    """Rates that did not change for a while: the rows of the first and of the last observation of each."""

    first: Indices
    last: Indices

    def __len__(self) -> int:
        return len(self.first)

    def __getitem__(self, some: slice) -> HeldRates:
        return HeldRates(self.first[some], self.last[some])


def held_rates(catalogue: Catalogue, rows: Indices) -> HeldRates:
    """These observations as rates that held, by offer and then by when they began."""
    columns = catalogue.columns
    rows = rows[np.lexsort((columns.observed[rows], columns.source[rows], columns.key[rows]))]
    starts = np.zeros(len(rows), bool)
    starts[:1] = True
    for name in SAME_RATE:
        values = getattr(columns, name)[rows]
        starts[1:] |= values[1:] != values[:-1]
    starts[1:] |= catalogue.ended[rows[:-1]]  # an offer that comes back begins anew
    first = np.flatnonzero(starts)
    last = np.r_[first[1:], len(rows)][: len(first)] - 1
    order = np.lexsort((columns.observed[rows[first]], columns.key[rows[first]]))
    return HeldRates(rows[first[order]], rows[last[order]])


def seen_between(catalogue: Catalogue, filters: Values, until: datetime) -> HeldRates:
    """The rates that began by `until` and were still seen at `since` or later."""
    observed = catalogue.columns.observed
    earlier = np.flatnonzero(observed <= int(until.timestamp()))
    rates = held_rates(catalogue, catalogue.passing_rows(earlier, offer_filter(filters)))
    if "since" not in filters:
        return rates
    late = observed[rates.last] >= int(filters["since"].timestamp())
    return HeldRates(rates.first[late], rates.last[late])


@dataclass(frozen=True, slots=True)
class HistoryReport:
    """The rates seen between two moments; `page` has those to show."""

    name: ClassVar = "history"
    catalogue: Catalogue
    since: datetime | None
    until: datetime
    page: HeldRates
    count: int
    rest: Rest | None
    words: Mapping[str, str]

    def rows(self) -> Iterator[HistoryRow]:
        for pair in zip(self.page.first.tolist(), self.page.last.tolist(), strict=True):
            began, offer = map(self.catalogue.offer, pair)
            seen, last = began.observed_at, offer.observed_at
            yield filled(HistoryRow, offer.machine, offer, observed_at=seen, last_seen_at=last)

    def document(self) -> HistoryDocument:
        return HistoryDocument(self.catalogue.snapshot, self.since, self.until, self.count, tuple(self.rows()))


def history_report(service: Service, catalogue: Catalogue, values: Values) -> HistoryReport:
    """The report that parsed parameters of `/offers/history` ask for."""
    until = values.get("until") or service.clock()
    if "since" not in values or not catalogue.knows(values["since"]):
        catalogue = service.with_history(catalogue, values["instance_type"])
    rates = seen_between(catalogue, values, until)
    return HistoryReport(catalogue, values.get("since"), until, *paged(rates, values), own_words(values))


TABLE = Table(
    "History of a rate",
    "Every rate that was observed for a machine, and when each was first and last seen.",
    "rate",
    HistoryRow,
    (MACHINE, BOUGHT, RATE, SEEN, Column("Last seen", lambda row: day(row.last_seen_at))),
    ("instance_type", "provider", "region", "purchase", "since", "until"),
    lambda document: f"until {day(document.until)}",
)


def figure(report: HistoryReport) -> Figure:
    """The picture of a history."""
    rows = list(report.rows())
    if not rows:
        return nothing("No rate of such a machine was ever observed.")
    x = Scale.around([days(moment) for row in rows for moment in (row.observed_at, row.last_seen_at)])
    y = Scale.around([float(row.hourly_rate) for row in rows], 0.0)
    ways = told_apart(words.bought(row) for row in rows)
    lines: dict[tuple[str, ...], list[Place]] = {}
    marks = []
    for row in rows:
        way = ways[words.bought(row)]
        first, last = (
            Place.of(x.at(days(at)), y.at(float(row.hourly_rate))) for at in (row.observed_at, row.last_seen_at)
        )
        lines.setdefault((row.provider, row.instance_type, row.region, way.name), []).append(first)
        dates = f"from {row.observed_at:%Y-%m-%d} to {row.last_seen_at:%Y-%m-%d}"
        title = f"{float(row.hourly_rate):,.6g} {row.currency} per hour {dates}"
        marks.append(line([first, last], f"p{way.colour}"))
        marks.append(sign(first, way.sign, f"p{way.colour}", f"{title}: {row.provider} {row.region}, {way.name}"))
    thin = (line(stepped(places), f"p{ways[key[-1]].colour} thin faint") for key, places in lines.items())
    return Figure(
        f"{', '.join(sorted({f'{row.provider} {row.instance_type}' for row in rows}))}: rates per hour",
        "each line lasts from the first to the last day on which a rate was seen",
        across(x.at, months(x)),
        up(y.at, y.ticks()),
        "",
        f"{rows[0].currency} per hour, effective",
        "".join((*thin, *marks)),
        list(ways.values()),
    )


CODE: Code[HistoryReport] = Code(HistorySchema, history_report, HistoryDocument, TABLE, figure=figure)
