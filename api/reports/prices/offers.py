"""`/offers`: the price sheet, every current rate with its source and date, as quoted or in another currency."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from api.questions.currencies import exchange_rates
from api.questions.schemas.layout import own_words
from api.questions.schemas.training import OfferFilters, schema
from api.questions.values import Values
from api.reports.paging import Rest, paged
from api.reports.prices.rates import RateRow, selected
from api.reports.prices.summary import RateSummary, hourly_in, overall, per_accelerator, summaries
from api.service import Service
from costcalc.catalogue.catalogue import Catalogue
from costcalc.catalogue.confirmation import Confirmation
from costcalc.fields import filled
from costcalc.money import US_DOLLAR, ExchangeRate
from costcalc.offer import Gap, Offer
from costcalc.parameters import Param
from costcalc.units import Indices

AMOUNTS = ("hourly_rate", "upfront", "recurring_hourly", "monthly")
ROWS_AT_ONCE = 1024


class OffersParameters(Struct):
    """How the price sheet is ordered, and which machines it has."""

    # fmt: off
    currency: Annotated[str | None, Param(
        "currency of the answer, an ISO 4217 code; default the currency each offer is quoted in",
        "money", "EUR", "currency", use="usual")] = None
    sort: Annotated[Literal["machine", "accelerator", "rate", "seen"], Param(
        "machine: cheapest first within each type; accelerator: the newest first, and of each the cheapest per accelerator; "
        "rate: cheapest first; seen: newest first; default machine, on the page and in a terminal accelerator",
        "order", "accelerator", use="usual")] = "machine"
    accelerators: Annotated[int | None, Param(
        "accelerators of one machine",
        "count", 8, low=1, high=1_000_000, use="usual")] = None
    limit: Annotated[int | None, Param("maximum number of rows; default all", "page", 100, low=1, high=10**9, use="usual")] = None
    # fmt: on


OffersSchema = schema(OfferFilters, OffersParameters, "price", "money", without=("discount", "max_price_age"))


@dataclass(frozen=True, slots=True)
class OfferRow(RateRow):
    """A current rate; `confirmed` says whether somebody vouches for it, and it is recent
    (`costcalc.catalogue.confirmation`)."""

    confirmed: bool


@dataclass(frozen=True, slots=True)
class OffersDocument:
    """The JSON price sheet; `count` is the number of offers before limit and offset, `summary` has their rates per accelerator
    in US dollars, or in the currency asked for, and `exchange` the rates converted with."""

    snapshot: str
    as_of: datetime
    gaps: tuple[Gap, ...]
    count: int
    summary: tuple[RateSummary, ...]
    offers: tuple[OfferRow, ...]
    exchange: tuple[ExchangeRate, ...]


@dataclass(frozen=True, slots=True)
class Converter:
    """Converts offers into `currency`, unrounded. Without a currency, or without a rate, an offer stays as it is quoted."""

    currency: str | None
    rates: Mapping[str, ExchangeRate]

    def converted(self, offer: Offer) -> Offer:
        factor = self.factor(offer)
        if factor is None or self.currency is None:
            return offer
        amounts: dict[str, Any] = {name: getattr(offer, name) for name in AMOUNTS}
        converted = {name: amount * factor for name, amount in amounts.items() if amount is not None}
        return replace(offer, **converted, currency=self.currency)

    def factor(self, offer: Offer) -> Decimal | None:
        """Units of the currency for one of the offer's own; None where nothing is converted."""
        if self.currency in (None, offer.currency) or offer.currency not in self.rates:
            return None
        return self.rates[self.currency].per_usd / self.rates[offer.currency].per_usd

    @property
    def used(self) -> tuple[ExchangeRate, ...]:
        """Every rate but the dollar's own."""
        return tuple(self.rates[code] for code in sorted(self.rates) if code != "USD")

    def rate(self, offer: Offer) -> ExchangeRate | None:
        """The rate that the factor rests on and that is not the dollar's; of two they have the same day and publisher."""
        if self.factor(offer) is None:
            return None
        return self.rates[str(self.currency) if offer.currency == "USD" else offer.currency]


@dataclass(frozen=True)
class OffersReport:
    """The rows that pass the filters, cheapest first within each instance type, and the `page` of them to show."""

    name: ClassVar = "offers"
    catalogue: Catalogue
    as_of: datetime
    listed: Indices
    page: Indices
    count: int
    rest: Rest | None
    confirmed: Confirmation
    converter: Converter
    words: Mapping[str, str]

    @cached_property
    def summary(self) -> tuple[RateSummary, ...]:
        """What all rates that pass the filters are per accelerator."""
        return summaries(self.catalogue, self.listed, self.converter.currency or "USD", self.as_of.date())

    @cached_property
    def overall(self) -> RateSummary | None:
        """All of them together."""
        return overall(self.catalogue, self.listed, self.converter.currency or "USD", self.as_of.date())

    def quoted(self) -> Iterator[tuple[Offer, OfferRow]]:
        """Each offer of the page as it is quoted, and its row in the currency asked for."""
        for start in range(0, len(self.page), ROWS_AT_ONCE):
            rows = self.page[start : start + ROWS_AT_ONCE]
            for row, confirmed in zip(rows.tolist(), self.confirmed.of(rows).tolist(), strict=True):
                offer = self.catalogue.offer(row)
                yield offer, filled(OfferRow, offer.machine, self.converter.converted(offer), confirmed=confirmed)

    def rows(self) -> Iterator[OfferRow]:
        return (row for _, row in self.quoted())

    def document(self) -> OffersDocument:
        return filled(
            OffersDocument,
            self,
            snapshot=self.catalogue.snapshot,
            gaps=self.catalogue.gaps,
            offers=tuple(self.rows()),
            exchange=self.converter.used,
        )


def offers_report(service: Service, catalogue: Catalogue, values: Values) -> OffersReport:
    """The report that parsed parameters of `/offers` ask for. Raises BadParameters for a currency without a rate."""
    as_of = values.get("as_of") or service.clock()
    catalogue = service.at(catalogue, as_of)
    rows, confirmed = selected(catalogue, as_of, values), catalogue.confirmed(as_of)
    if "accelerators" in values:
        counts = np.array([machine.accelerators for _, _, machine in catalogue.vocabulary.instances])
        rows = rows[counts[catalogue.columns.instance[rows]] == values["accelerators"]]
    rows = ordered(service, catalogue, rows, values.get("sort", "machine"), as_of)
    into = converter(values, catalogue.vocabulary.currencies, as_of.date())
    return OffersReport(catalogue, as_of, rows, *paged(rows, values), confirmed, into, own_words(values))


def ordered(service: Service, catalogue: Catalogue, rows: Indices, by: str, as_of: datetime) -> Indices:
    """The rows in this order; `machine` is that of the catalogue. Rates count in dollars."""
    if by == "machine":
        return rows
    if by == "seen":
        return rows[np.argsort(-catalogue.columns.observed[rows], kind="stable")]
    dollars = hourly_in("USD", catalogue, rows, as_of.date())
    if by == "rate":
        return rows[np.argsort(dollars, kind="stable")]
    each, instances = per_accelerator(dollars, catalogue, rows), catalogue.columns.instance[rows]
    chips = [machine.accelerator for _, _, machine in catalogue.vocabulary.instances]
    on_sale = {name: chip.on_sale_from.toordinal() for name, chip in service.evidence.accelerators.items()}
    ages = np.array([-on_sale.get(name, 0) for name in chips])[instances]
    return rows[np.lexsort((each, np.array(chips)[instances], ages, np.isnan(each)))]


def converter(filters: Values, quoted: Iterable[str], day: date) -> Converter:
    """Converts into the currency that the filters name, at that day's rates or the question's own.

    Raises BadParameters if there is no rate."""
    currency = filters.get("currency")
    if currency is None:
        return Converter(None, {})
    return Converter(currency, {"USD": US_DOLLAR, **exchange_rates(currency, quoted, day, filters.get("fx", ()))})
