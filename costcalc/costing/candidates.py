"""Costs of every placement as arrays, what the question keeps of them, and their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from costcalc.catalogue.catalogue import OPTIONS, Catalogue
from costcalc.costing import ranking
from costcalc.costing.storage_and_egress import Market, asked
from costcalc.costing.tariff_columns import TariffColumns
from costcalc.duration.overheads import ENDLESS_HOURS
from costcalc.money import NANOS_PER_UNIT, ExchangeRate
from costcalc.offers import PurchaseOption
from costcalc.query import EstimateQuery
from costcalc.units import Flags, Floats, Indices

SPOT = OPTIONS.index(PurchaseOption.SPOT)


@dataclass(frozen=True, slots=True)
class Priced:
    """One entry per offer and run: catalogue `row`, position of the `run`, its hours, and costs in the asked currency."""

    row: Indices
    run: Indices
    hours: Floats
    cost: Floats

    def take(self, which: Flags) -> Priced:
        """The entries that are kept."""
        return Priced(self.row[which], self.run[which], self.hours[which], self.cost[which])


@dataclass(frozen=True, slots=True)
class Hired:
    """An offer, how many machines of it, which run they do and for how many hours: arrays of equal length."""

    row: Indices
    run: Indices
    nodes: Indices
    hours: Floats


def priced(catalogue: Catalogue, query: EstimateQuery, hired: Hired, market: Market) -> Priced:
    """What each entry costs by the basis asked for; NaN where the offer's currency has no exchange rate."""
    factors = _price_factors(catalogue, query, hired.row, market.exchange)
    tariffs = _tariffs(catalogue, hired.row, hired.nodes * factors)
    beside = _beside(catalogue, query, hired, market)
    billed = query.basis == "billed"
    cost = tariffs.billed(hired.hours) if billed else tariffs.effective(hired.hours, query.utilization)
    return Priced(hired.row, hired.run, hired.hours, cost + beside)


def _beside(catalogue: Catalogue, query: EstimateQuery, hired: Hired, market: Market) -> Floats | float:
    """What storage and egress cost with each entry, where they are asked for."""
    if not any(asked(query)):
        return 0.0
    providers = [provider for provider, _, _ in catalogue.vocabulary.instances]
    extras = {provider: market.extras(query, provider) for provider in providers}
    once = {name: sum(float(each.rate * each.quantity) for each in lines) for name, lines in extras.items()}
    hourly = {name: sum(float(each.rate * each.quantity_hourly) for each in lines) for name, lines in extras.items()}
    instance = catalogue.columns.instance[hired.row]
    by_instance = np.array([(once[provider], hourly[provider]) for provider in providers], float)
    beside: Floats = by_instance[instance, 0] + by_instance[instance, 1] * hired.hours
    return beside


def kept(query: EstimateQuery, candidates: Priced, rejections: Counter[str]) -> Priced:
    """The entries that end, within `max_hours` and `max_cost`; the others are counted by the first limit they break."""
    ends = candidates.hours < ENDLESS_HOURS
    rejections["interrupted_too_often"] += int((~ends).sum())
    candidates = candidates if ends.all() else candidates.take(ends)
    known = ~np.isnan(candidates.cost)
    quick = candidates.hours <= (query.max_hours if query.max_hours is not None else np.inf)
    limit = float(query.max_cost) if query.max_cost is not None else np.inf
    cheap = candidates.cost <= limit
    rejections["no_exchange_rate"] += int((~known).sum())
    rejections["over_max_hours"] += int((known & ~quick).sum())
    rejections["over_max_cost"] += int((known & quick & ~cheap).sum())
    passes = known & quick & cheap
    return candidates if passes.all() else candidates.take(passes)


def on_frontier(candidates: Priced) -> Flags:
    """Which entries no other beats on both cost and time. All entries of one run take equally long, so runs are compared."""
    if not len(candidates.row):
        return np.zeros(0, bool)
    cost = candidates.cost
    runs = int(candidates.run.max()) + 1
    cheapest = np.full(runs, np.inf)
    np.minimum.at(cheapest, candidates.run, cost)
    hours = np.full(runs, np.inf)
    hours[candidates.run] = candidates.hours
    unbeaten: Flags = ranking.frontier(cheapest, hours)[candidates.run] & (cost == cheapest[candidates.run])
    return unbeaten


def chosen(catalogue: Catalogue, query: EstimateQuery, candidates: Priced) -> Indices:
    """The positions of the page asked for, in order; ties go by time or cost, then by the offer's and the recipe's name."""
    cost, hours = candidates.cost, candidates.hours
    order = (cost, hours) if query.sort == "cost" else (hours, cost)
    names = (catalogue.columns.key[candidates.row].astype(float), candidates.run.astype(float))
    return ranking.first((*order, *names), query.offset + query.limit)[query.offset :]


def _tariffs(catalogue: Catalogue, row: Indices, factor: Floats) -> TariffColumns:
    columns, unit = catalogue.columns, factor / NANOS_PER_UNIT
    return TariffColumns(
        fee=columns.fee[row] * unit,
        period_hours=columns.period_hours[row],
        minimum_periods=columns.minimum_periods[row],
        metered_hourly=columns.metered[row] * unit,
        increment_seconds=columns.increment_seconds[row],
        minimum_seconds=columns.minimum_seconds[row],
    )


def discount_fraction(query: EstimateQuery, provider: str) -> float:
    """The discount on this provider's list rates: its own if one is named, else the general one."""
    by_provider = {discount.provider: float(discount.fraction) for discount in query.discount}
    return by_provider.get(provider, by_provider.get(None, 0.0))


def _price_factors(
    catalogue: Catalogue, query: EstimateQuery, row: Indices, exchange: Mapping[str, ExchangeRate]
) -> Floats:
    """What a list amount of each row is multiplied with to be the own amount in the asked currency."""
    words, columns = catalogue.vocabulary, catalogue.columns
    target = float(exchange[query.currency].per_usd)
    into = np.array(
        [target / float(exchange[code].per_usd) if code in exchange else np.nan for code in words.currencies]
    )
    if not query.discount:
        return into[columns.currency[row]]
    own = np.array([1 - discount_fraction(query, provider) for provider, _, _ in words.instances])
    factors: Floats = own[columns.instance[row]] * into[columns.currency[row]]
    return factors
