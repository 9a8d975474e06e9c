"""`/offers`: the price sheet."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import Any

from api.formats import csv_export
from api.formats.blocks import Block, Rows, list_of
from api.formats.column import Column, leading_to
from api.formats.sheet import Sheet, list_sheet, sheet_of
from api.formats.sheet_columns import within, word_columns
from api.formats.tables import BOUGHT, MACHINE, PRICE_FILTERS, RATE, SEEN, Table, day, gibibytes, number, rate
from api.forms.code import Code
from api.reports.prices.offers import Converter, OfferRow, OffersDocument, OffersReport, OffersSchema, offers_report
from costcalc.money import money
from costcalc.offer import COUNT_NOT_STATED, PurchaseOption


def _free(row: Any) -> str:
    """When one became free to rent, if the provider says so."""
    if row.available is None:
        return ""
    return day(row.available_at) if row.available and row.available_at else "none"


def _per_accelerator(row: Any) -> str:
    """The rate of one; of a machine without any nothing."""
    if row.accelerators:
        return f"{rate(row.hourly_rate / row.accelerators)} {row.currency}"
    return "count not stated" if COUNT_NOT_STATED in row.flags else ""


TABLE = Table(
    "Offers",
    "Every current rate for a whole machine, and for each of its accelerators, with its source and date.",
    "rate",
    OfferRow,
    (
        Column("Machine", MACHINE.text, MACHINE.small, sort="machine",
               link=lambda row: leading_to("/offers/history", instance_type=row.instance_type, provider=row.provider)),
        BOUGHT,
        Column("Per accelerator", is_number=True, sort="accelerator", leave=6, text=_per_accelerator),
        Column(RATE.heading, RATE.text, RATE.small, is_number=True, sort="rate"),
        Column("vCPUs", lambda row: number(row.vcpus, ","), is_number=True, leave=4),
        Column("RAM", lambda row: gibibytes(row.memory_gib), is_number=True, leave=3),
        Column("Accelerator memory", lambda row: gibibytes(row.accelerator_memory_gib), is_number=True, leave=2),
        Column(SEEN.heading, SEEN.text, source=SEEN.source, sort="seen"),
        Column("Free to rent", _free, leave=5),
        Column("Confirmed", lambda row: "yes" if row.confirmed else "no", leave=1),
    ),
    (*PRICE_FILTERS, "rates", "as_of", "currency"),
    lambda document: f"at prices of {day(document.as_of)}",
)  # fmt: skip


MOST_SUMMARIES = 5
SUMMARY = Table(
    "What an hour of one accelerator costs",
    "The least, the median and the most of all rates that pass the filters.",
    "accelerator",
    None,
    (
        Column("Per hour of one", lambda row: row.accelerator),
        Column("Bought", lambda row: row.purchase_option.value.replace("_", " ")),
        Column("Rates", lambda row: f"{row.count:,}", is_number=True),
        Column("Least", lambda row: money(row.least, row.currency), is_number=True),
        Column("Median", lambda row: money(row.median, row.currency), is_number=True),
        Column("Most", lambda row: money(row.most, row.currency), is_number=True),
        Column("Least at", lambda row: f"{row.provider} {row.instance_type}", leave=1),
    ),
)


def blocks(report: OffersReport) -> Iterator[Block]:
    """What an hour of the accelerators with most rates costs, those on demand first, then the rates."""
    summary = sorted(report.summary, key=lambda row: row.purchase_option is not PurchaseOption.ON_DEMAND)
    if report.count > 1 and summary:
        yield Rows(SUMMARY, summary[:MOST_SUMMARIES])
    yield list_of(TABLE, report)


def sheet(report: OffersReport) -> Sheet:
    """One row per offer; in another currency also the quoted currency and the exchange rate."""
    if report.converter.currency is None:
        return list_sheet(TABLE, report)
    columns = [*_converted(report.converter), *word_columns(report.words)]
    return sheet_of(TABLE, report, columns, report.quoted())


def _converted(into: Converter) -> Iterator[csv_export.Column]:
    """The columns of (quoted offer, row in the currency asked for): the row's, what the offer was quoted in, and the rate."""
    yield from (within(itemgetter(1), column) for column in csv_export.columns_of(OfferRow))
    yield "quoted_currency", lambda pair: pair[0].currency
    yield "exchange_rate", lambda pair: into.factor(pair[0])
    yield "exchange_rate_date", lambda pair: (rate := into.rate(pair[0])) and rate.date
    yield "exchange_rate_source", lambda pair: (rate := into.rate(pair[0])) and rate.source


CODE: Code[OffersReport] = Code(OffersSchema, offers_report, OffersDocument, TABLE, blocks, sheet=sheet)
