"""Candidates: which offers a question allows, how long each trains, what it costs, which stay within limits, their order, and
which are picked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costcalc.catalogue.catalogue import OPTIONS, Catalogue, CurrentOffers, OfferFilter
from costcalc.convergence.eligibility import EligibleRecipes
from costcalc.costing.bills import Tariffs
from costcalc.costing.storage_and_egress import Market, requested
from costcalc.duration.overheads import ENDLESS_HOURS, calendar_hours
from costcalc.duration.training_matrix import NOWHERE, TrainingMatrix
from costcalc.duration.training_times import TrainingTimes, interrupted, repeated
from costcalc.money import NANOS_PER_UNIT, ExchangeRate
from costcalc.offers import PurchaseOption
from costcalc.query import EstimateQuery
from costcalc.throughput import REFUSALS, TIERS
from costcalc.training import Tier
from costcalc.units import SECONDS_PER_DAY, Flags, Floats, Indices

STALE_PRICE, SECOND_HAND_PRICE = "stale_price", "second_hand_price"
NO_MATCHING_OFFER, NO_MATCHING_CLUSTER = "no_matching_offer", "no_matching_cluster"
MOST_FREE, FRESH_DAYS, SURE = 3, 30, 0.95
SPOT, FREE = OPTIONS.index(PurchaseOption.SPOT), OPTIONS.index(PurchaseOption.FREE)

Order = tuple[NDArray[Any], ...]  # keys, the first decides
PickName = Literal["cheapest", "fastest", "balanced", "surest"]


@dataclass(frozen=True, eq=False)
class AllowedOffers:
    """One entry per offer and cluster that it can be rented for: `row` of the catalogue, `cluster` of the training matrix.

    `rejections` counts by reason the offers of which no cluster can be rented, those too old, and those that give way to a
    first-hand rate. `clusters` flags which of the matrix's C clusters some offer can be rented for. `observed` are the first
    and the last moment, in seconds since 1970, at which the allowed offers were observed, None where there are none.
    """

    row: Indices
    cluster: Indices
    clusters: Flags
    rejections: dict[str, int]
    observed: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Rentals:
    """An offer, how many machines of it, which training time they have and how many hours that is, also on the calendar: columns
    of equal length.

    `row` is of the catalogue, `time` a position in the training times. `beside` flags free tiers that nobody asked for, which
    stand beside the estimates.
    """

    row: Indices
    time: Indices
    nodes: Indices
    hours: Floats
    calendar_hours: Floats
    beside: Flags


@dataclass(frozen=True, slots=True)
class Candidates:
    """Rentals within the limits of the question, with their cost in the requested currency; `on_frontier` flags those that no
    other beats on both cost and time. Time is that of the calendar."""

    row: Indices
    time: Indices
    calendar_hours: Floats
    cost: Floats
    on_frontier: Flags

    def take(self, which: Flags | Indices) -> Candidates:
        """These entries alone."""
        return Candidates(*(getattr(self, field.name)[which] for field in fields(self)))

    def order(self, by: Literal["cost", "time"]) -> Order:
        """What sorts them: cost, then time, or the other way round; ties go by the offer's name, in whose order the catalogue's
        rows are, and the recipe's."""
        first, second = (self.cost, self.calendar_hours) if by == "cost" else (self.calendar_hours, self.cost)
        return first, second, self.row, self.time


class Picked(NamedTuple):
    """The position of a candidate to look at first, which is the best of so many."""

    name: PickName
    position: int
    among: int


def allowed_offers(
    catalogue: Catalogue, matrix: TrainingMatrix, current: CurrentOffers, wanted: OfferFilter
) -> AllowedOffers:
    """Every current offer that passes the filter with every cluster of the matrix that it can be rented for."""
    rows, stale = catalogue.allowed_rows(current, wanted), catalogue.passing_rows(current.stale, wanted)
    instances = catalogue.columns.instance[rows]
    single = catalogue.stands_alone[rows] | (catalogue.columns.option[rows] == FREE)  # a free tier lends each of us one
    found_rows, found_clusters = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    anywhere = np.zeros(len(rows), bool)
    for nodes, cluster_of_instance in matrix.clusters_of_instances(catalogue).items():
        clusters = cluster_of_instance[instances]
        here = (clusters != NOWHERE) & ~(single & (nodes > 1))
        anywhere |= here
        found_rows.append(rows[here])
        found_clusters.append(clusters[here])
    rejections = _without_cluster(catalogue, matrix, instances[~anywhere])
    rejections |= {STALE_PRICE: len(stale), SECOND_HAND_PRICE: len(catalogue.second_hand_rows(current, wanted))}
    rejections |= {NO_MATCHING_OFFER: int(not len(rows) and not len(stale))}
    cluster = np.concatenate(found_clusters)
    in_use = np.bincount(cluster, minlength=len(matrix.clusters)) > 0
    seen = catalogue.columns.observed[rows]
    observed = (int(seen.min()), int(seen.max())) if len(rows) else None
    return AllowedOffers(np.concatenate(found_rows), cluster, in_use, rejections, observed)


def _without_cluster(
    catalogue: Catalogue, matrix: TrainingMatrix, instances: NDArray[np.integer[Any]]
) -> dict[str, int]:
    """How many offers of these instance types no cluster stands for, by reason."""
    if not matrix.recipes.recipes:
        return {}  # no speed is missing: there is nothing to run
    by_shape = Counter(catalogue.shape_of_instance[instances].tolist())
    counted: Counter[str] = Counter()
    for shape, count in by_shape.items():
        counted[matrix.refusals.get(catalogue.shapes[shape], NO_MATCHING_CLUSTER)] += count
    return dict(counted)


def rentals(
    catalogue: Catalogue, matrix: TrainingMatrix, offers: AllowedOffers, times: TrainingTimes, query: EstimateQuery
) -> tuple[TrainingTimes, Rentals]:
    """Every allowed offer with every training time on its cluster, and the times that they point to.

    Spot machines train as long with interruptions, whose times are appended. The hours are those of all repetitions.
    """
    order = np.argsort(times.cluster, kind="stable")
    starts = np.searchsorted(times.cluster[order], np.arange(len(matrix.clusters) + 1))
    counts = np.diff(starts)[offers.cluster]
    entry = np.repeat(np.arange(len(counts)), counts)
    row, cluster = offers.row[entry], offers.cluster[entry]
    first_time = starts[cluster]
    if counts.max(initial=0) > 1:
        first_time += np.arange(len(entry)) - (np.cumsum(counts) - counts)[entry]
    time = order[first_time]
    option = catalogue.columns.option[row]
    if query.runs > 1:
        times = repeated(times, query)
    if query.overheads == "typical":
        time = time + (option == SPOT) * len(times.cluster)
        times = times + interrupted(times, matrix.nodes[times.cluster])
    hours, free = times.hours[time], option == FREE
    beside = free if PurchaseOption.FREE not in query.purchase else np.zeros(len(row), bool)
    return times, Rentals(row, time, matrix.nodes[cluster], hours, _calendar_hours(catalogue, row, hours, free), beside)


def _calendar_hours(catalogue: Catalogue, row: Indices, hours: Floats, free: Flags) -> Floats:
    """The hours with the waiting for sessions and quotas, which free tiers alone have."""
    at = np.flatnonzero(free)
    session, week = catalogue.columns.session_hours[row[at]], catalogue.columns.hours_per_week[row[at]]
    calendar = hours.copy()
    calendar[at] = calendar_hours(hours[at], session.astype(float), week.astype(float))
    return calendar


def without_training_time(
    matrix: TrainingMatrix, query: EstimateQuery, offers: AllowedOffers, eligible: EligibleRecipes, times: TrainingTimes
) -> dict[str, int]:
    """The offers on none of whose clusters any eligible recipe runs, counted by reason.

    Of an offer's clusters the one with the fewest machines gives the reason.
    """
    if not eligible.eligible.any() or not len(offers.row):
        return {}
    trains_there = (np.bincount(times.cluster, minlength=len(matrix.clusters)) > 0)[offers.cluster]
    answered = np.bincount(offers.row[trains_there], minlength=int(offers.row.max()) + 1) > 0
    left_out = np.flatnonzero(~answered[offers.row])
    _, first_entry = np.unique(offers.row[left_out], return_index=True)
    clusters = offers.cluster[left_out[first_entry]]
    return dict(Counter(_refusals(matrix, query, eligible)[clusters].tolist())) if len(clusters) else {}


def _refusals(matrix: TrainingMatrix, query: EstimateQuery, eligible: EligibleRecipes) -> NDArray[np.str_]:
    """Why none of the eligible recipes runs on each cluster [C], if none does."""
    if query.evidence == "measured":
        return np.full(len(matrix.clusters), "not_measured")
    anywhere = eligible.eligible & ~matrix.own_system_only
    if not anywhere.any():
        return np.full(len(matrix.clusters), "own_system_only")
    return np.asarray(np.array(REFUSALS)[matrix.speeds.refusal[matrix.speed_row[anywhere]].max(axis=0)])


def costs(catalogue: Catalogue, query: EstimateQuery, rented: Rentals, market: Market) -> Floats:
    """What each rental costs by the basis asked for, storage and egress included; NaN where the offer's currency has no exchange
    rate."""
    tariffs = _tariffs(
        catalogue, rented.row, rented.nodes * _price_factors(catalogue, query, rented.row, market.exchange)
    )
    billed = query.basis == "billed"
    machines = tariffs.billed(rented.hours) if billed else tariffs.effective(rented.hours, query.utilization)
    return machines + _storage_and_egress(catalogue, query, rented, market)


def within_limits(query: EstimateQuery, rented: Rentals, cost: Floats) -> tuple[Candidates, Candidates, dict[str, int]]:
    """The rentals that end, within `max_hours` and `max_cost`, and no others than the frontier where that is asked for; apart,
    the free tiers that stand beside them. Of the others those beyond a limit are counted by the first they break."""
    passing, rejections = ~rented.beside, {}
    beside = rented.beside
    for reason, within in (
        ("interrupted_too_often", rented.hours < ENDLESS_HOURS),
        ("no_exchange_rate", ~np.isnan(cost)),
        ("over_max_hours", rented.calendar_hours <= (np.inf if query.max_hours is None else query.max_hours)),
        ("over_max_cost", cost <= (np.inf if query.max_cost is None else float(query.max_cost))),
    ):
        rejections[reason] = int((passing & ~within).sum())
        passing &= within
        beside = beside & within
    kept = slice(None) if passing.all() else passing
    row, time, calendar, cost_kept = rented.row[kept], rented.time[kept], rented.calendar_hours[kept], cost[kept]
    waiting = np.flatnonzero(calendar != rented.hours[kept])
    found = Candidates(row, time, calendar, cost_kept, _unbeaten(_apart(time, waiting), calendar, cost_kept))
    at = np.flatnonzero(beside)
    free = Candidates(rented.row[at], rented.time[at], rented.calendar_hours[at], cost[at], np.zeros(len(at), bool))
    return (found.take(found.on_frontier) if query.frontier else found), free, rejections


def _apart(time: Indices, waits: Indices) -> Indices:
    """The training times, a new one for each of those that wait, since they take longer on the calendar."""
    if not len(waits):
        return time
    apart = time.copy()
    apart[waits] = time.max() + 1 + np.arange(len(waits))
    return apart


def _unbeaten(time: Indices, hours: Floats, cost: Floats) -> Flags:
    """Which no other beats on both cost and time. Those of one training time take equally long, so times are compared."""
    if not len(time):
        return np.zeros(0, bool)
    cheapest = np.full(int(time.max()) + 1, np.inf)
    each_hours, unbeaten = cheapest.copy(), np.zeros(len(cheapest), bool)
    np.minimum.at(cheapest, time, cost)
    each_hours[time] = hours
    used = np.flatnonzero(cheapest < np.inf)
    unbeaten[used] = frontier(cheapest[used], each_hours[used])
    return np.asarray(unbeaten[time] & (cost == cheapest[time]))


def page(order: Order, query: EstimateQuery) -> Indices:
    """The positions of the page asked for, in order."""
    return first(order, query.offset + query.limit)[query.offset :]


def free_tiers(free: Candidates) -> Indices:
    """Of each free tier the run that ends first on the calendar, at most three of them, in that order."""
    in_order = first(free.order("time"), len(free.row))
    _, each = np.unique(free.row[in_order], return_index=True)
    return in_order[np.sort(each)[:MOST_FREE]]


def picks(catalogue: Catalogue, candidates: Candidates, sure: Flags, as_of: datetime) -> list[Picked]:
    """The candidates to look at first: the cheapest, the fastest, the balanced and the surest, those there are.

    The balanced has the least cost x time of the frontier, the surest the least cost of those that are `sure` and have the
    freshest price of a provider's own.
    """
    front, safe = np.flatnonzero(candidates.on_frontier), np.flatnonzero(sure)
    safe = safe[_freshest(catalogue, candidates.row[safe], as_of)]
    whole, unbeaten = np.arange(len(sure)), candidates.take(front)
    ways: tuple[tuple[PickName, Indices, Order], ...] = (
        ("cheapest", whole, candidates.order("cost")),
        ("fastest", whole, candidates.order("time")),
        ("balanced", front, (unbeaten.cost * unbeaten.calendar_hours, *unbeaten.order("cost"))),
        ("surest", safe, candidates.take(safe).order("cost")),
    )
    return [Picked(name, int(among[first(order, 1)[0]]), len(among)) for name, among, order in ways if len(among)]


def is_sure(matrix: TrainingMatrix, times: TrainingTimes) -> Flags:
    """The training times of recipes that somebody ran, at a measured or transferred speed, that most likely reach the target."""
    tier = matrix.speeds.tier[matrix.speed_row[times.recipe], times.cluster]
    known = times.logged | (tier <= TIERS.index(Tier.TRANSFERRED))
    ran = ~matrix.recipes.is_interpolated[times.recipe]
    return np.asarray(ran & known & (times.success_probability >= SURE))


def _freshest(catalogue: Catalogue, row: Indices, as_of: datetime) -> Indices:
    """The positions of the rows whose provider itself stated the rate at most 30 days before; if there are none, of the newest
    that each provider stated."""
    columns = catalogue.columns
    own = np.flatnonzero(catalogue.first_hand[row])
    days = (int(as_of.timestamp()) - columns.observed[row[own]]) // SECONDS_PER_DAY
    if (days <= FRESH_DAYS).any():
        return own[days <= FRESH_DAYS]
    provider = catalogue.provider_of_instance[columns.instance[row[own]]]
    newest = np.full(len(catalogue.vocabulary.instances), np.iinfo(np.int64).max)
    np.minimum.at(newest, provider, days)
    return np.asarray(own[days == newest[provider]])


def rank(order: Order, position: int) -> int:
    """Where a position stands among all, counted from 1."""
    primary = order[0]
    tied = np.flatnonzero(primary == primary[position])
    before = np.lexsort(tuple(key[tied] for key in reversed(order)))
    return int((primary < primary[position]).sum()) + int(np.flatnonzero(tied[before] == position)[0]) + 1


def first(sort_by: Order, count: int) -> Indices:
    """The positions of the `count` smallest in order, ties settled by the later keys, then by position."""
    primary = sort_by[0]
    candidates = np.arange(len(primary))
    if count < len(primary):
        limit = primary.min() if count == 1 else np.partition(primary, count - 1)[count - 1]
        candidates = np.flatnonzero(primary <= limit)
    order = np.lexsort(tuple(key[candidates] for key in reversed(sort_by)))
    return candidates[order[:count]]


def frontier(cost: Floats, hours: Floats) -> Flags:
    """Which points no other beats: none is as good on both cost and time and better on one."""
    order = np.lexsort((cost, hours))
    sorted_cost, sorted_hours = cost[order], hours[order]
    cheapest_before = np.r_[np.inf, np.minimum.accumulate(sorted_cost)[:-1]]
    unbeaten = sorted_cost < cheapest_before
    same = np.r_[False, (sorted_hours[1:] == sorted_hours[:-1]) & (sorted_cost[1:] == sorted_cost[:-1])]
    for position in np.flatnonzero(same):
        unbeaten[position] = unbeaten[position - 1]
    flags = np.zeros(len(cost), bool)
    flags[order] = unbeaten
    return flags


def discount_fraction(query: EstimateQuery, provider: str, option: PurchaseOption) -> float:
    """The discount on this provider's list rates: its own if one is named, else the general one.

    None on machines that one owns: what they cost is paid, and electricity is no rate of a provider.
    """
    if option is PurchaseOption.OWNED:
        return 0.0
    by_provider = {discount.provider: float(discount.fraction) for discount in query.discount}
    return by_provider.get(provider, by_provider.get(None, 0.0))


def _tariffs(catalogue: Catalogue, row: Indices, factor: Floats) -> Tariffs:
    columns, unit = catalogue.columns, factor / NANOS_PER_UNIT
    return Tariffs(
        fee=columns.fee[row] * unit,
        period_hours=columns.period_hours[row],
        minimum_periods=columns.minimum_periods[row],
        sold_singly=columns.sold_singly[row],
        metered_hourly=columns.metered[row] * unit,
        increment_seconds=columns.increment_seconds[row],
        minimum_seconds=columns.minimum_seconds[row],
    )


def _price_factors(
    catalogue: Catalogue, query: EstimateQuery, row: Indices, exchange: Mapping[str, ExchangeRate]
) -> Floats:
    """What a list amount of each row is multiplied with to be the own amount in the requested currency."""
    words, columns = catalogue.vocabulary, catalogue.columns
    target = float(exchange[query.currency].per_usd)
    into = np.array(
        [target / float(exchange[code].per_usd) if code in exchange else np.nan for code in words.currencies]
    )
    if not query.discount:
        return into[columns.currency[row]]
    providers = [provider for provider, _, _ in words.instances]
    left = {name: [1 - discount_fraction(query, name, option) for option in OPTIONS] for name in set(providers)}
    own = np.array([left[provider] for provider in providers])
    return np.asarray(own[columns.instance[row], columns.option[row]] * into[columns.currency[row]])


def _storage_and_egress(catalogue: Catalogue, query: EstimateQuery, rented: Rentals, market: Market) -> Floats | float:
    """What storage and egress cost with each rental, where they are asked for."""
    if not any(requested(query)):
        return 0.0
    providers = [provider for provider, _, _ in catalogue.vocabulary.instances]
    charges = {provider: market.storage_and_egress(query, provider) for provider in set(providers)}
    once = {name: sum(float(each.rate * each.quantity) for each in lines) for name, lines in charges.items()}
    hourly = {name: sum(float(each.rate * each.quantity_hourly) for each in lines) for name, lines in charges.items()}
    instance = catalogue.columns.instance[rented.row]
    by_instance = np.array([(once[provider], hourly[provider]) for provider in providers], float)
    return np.asarray(by_instance[instance, 0] + by_instance[instance, 1] * rented.hours)
