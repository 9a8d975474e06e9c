"""Rentals: which offers a question allows, how long each trains with which recipe, and what that costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from costcalc.catalogue.catalogue import OPTIONS, Catalogue, OfferFilter
from costcalc.catalogue.columns import Int8
from costcalc.catalogue.current import CurrentOffers
from costcalc.costing.bills import Tariffs
from costcalc.costing.storage_and_egress import Market, requested
from costcalc.duration.offered_clusters import NOWHERE
from costcalc.duration.overheads import calendar_hours
from costcalc.duration.training_matrix import TrainingMatrix
from costcalc.duration.training_times import Course, TrainingTimes, interrupted, repeated
from costcalc.interruptions import RISK_OF_SHARE, RISKS, ObservedInterruptions, newest
from costcalc.money import ExchangeRate
from costcalc.offer import PurchaseOption
from costcalc.query import EstimateQuery
from costcalc.rate_moves import STILL, RateMoves
from costcalc.throughput import REFUSALS
from costcalc.units import HOURS_PER_DAY, SECONDS_PER_DAY, Flags, Floats, Indices

STALE_PRICE, UNCONFIRMED_PRICE, SECOND_HAND_PRICE = "stale_price", "unconfirmed_price", "second_hand_price"
NO_MATCHING_OFFER, NO_MATCHING_CLUSTER = "no_matching_offer", "no_matching_cluster"
TOGETHER = 2**14  # rentals costed at a time: what is worked out of them fits into a processor's cache
EVERYTHING = slice(None)
Risks = NDArray[np.int8]  # of RISKS, by row of the catalogue
SPOT, FREE, CAPACITY_BLOCK = map(
    OPTIONS.index, (PurchaseOption.SPOT, PurchaseOption.FREE, PurchaseOption.CAPACITY_BLOCK)
)


class AllowedOffers(Struct, frozen=True, eq=False, weakref=True):
    """One entry per offer and cluster that it can be rented for: `row` of the catalogue, `cluster` of the training matrix.

    `rejections` counts by reason the offers of which no cluster can be rented, those too old, and those that give way to a
    first-hand rate. `clusters` flags which of the matrix's C clusters some offer can be rented for. `listed` are the rows of all
    allowed offers but the user's own machines. `tariffs` are those of all machines of the cluster, `option` says how they are
    bought, and `own` flags the user's own machines.
    """

    row: Indices
    cluster: Indices
    clusters: Flags
    rejections: dict[str, int]
    listed: Indices
    tariffs: Tariffs
    option: Int8
    own: Flags

    @classmethod
    def of(
        cls,
        catalogue: Catalogue,
        matrix: TrainingMatrix,
        found: tuple[Indices, Indices, Indices],
        rejections: dict[str, int],
    ) -> AllowedOffers:
        """Those whose row, cluster and rows of all were found."""
        row, cluster, listed = found
        clusters = np.bincount(cluster, minlength=len(matrix.clusters)) > 0
        tariffs = Tariffs.of(catalogue.columns, row, matrix.nodes.take(cluster))
        option, own = catalogue.columns.option.take(row), catalogue.own.take(row)
        return cls(row, cluster, clusters, rejections, listed, tariffs, option, own)


class Rentals(NamedTuple):
    """An offer, which training time its machines have, how many hours that is, also on the calendar, and their tariff: columns of
    equal length.

    `row` is of the catalogue, `entry` a position in the allowed offers and `time` one in the training times. `beside` flags free
    tiers that nobody asked for, which stand beside the estimates.
    """

    row: Indices
    entry: Indices | slice
    time: Indices
    hours: Floats
    calendar_hours: Floats
    beside: Flags
    tariffs: Tariffs


def allowed_offers(
    catalogue: Catalogue, matrix: TrainingMatrix, current: CurrentOffers, wanted: OfferFilter
) -> AllowedOffers:
    """Every current offer that passes the filter with every cluster of the matrix that it can be rented for."""
    rows, stale = catalogue.allowed_rows(current, wanted), catalogue.passing_rows(current.stale, wanted)
    instances = catalogue.columns.instance[rows]
    mine, free = catalogue.own[rows], catalogue.columns.option[rows] == FREE
    single = catalogue.stands_alone[rows] | mine | free  # a free tier lends each of us one
    in_block = catalogue.columns.option[rows] == CAPACITY_BLOCK
    found_rows, found_clusters = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    anywhere = np.zeros(len(rows), bool)
    for nodes, cluster_of_instance in matrix.clusters_of_instances.items():
        clusters = cluster_of_instance[instances]
        here = (clusters != NOWHERE) & ~(single & (nodes > 1))
        if nodes in matrix.in_blocks_alone:
            here &= in_block | ~matrix.in_blocks_alone[nodes][instances]
        anywhere |= here
        found_rows.append(rows[here])
        found_clusters.append(clusters[here])
    rejections = _without_cluster(matrix, instances[~anywhere])
    unconfirmed = catalogue.passing_rows(current.unconfirmed, wanted)
    rejections |= {STALE_PRICE: len(stale), UNCONFIRMED_PRICE: len(unconfirmed)}
    rejections |= {SECOND_HAND_PRICE: len(catalogue.second_hand_rows(current, wanted))}
    rejections |= {NO_MATCHING_OFFER: int(not len(rows) and not len(stale) and not len(unconfirmed))}
    found = np.concatenate(found_rows), np.concatenate(found_clusters), rows[~mine]
    return AllowedOffers.of(catalogue, matrix, found, rejections)


def _without_cluster(matrix: TrainingMatrix, instances: NDArray[np.integer[Any]]) -> dict[str, int]:
    """How many offers of these instance types have no cluster, by reason."""
    if not matrix.recipes.recipes:
        return {}  # no speed is missing: there is nothing to run
    counted: Counter[str] = Counter()
    for instance, count in Counter(instances.tolist()).items():
        counted[matrix.refusals.get(instance, NO_MATCHING_CLUSTER)] += count
    return dict(counted)


class Pairs(NamedTuple):
    """Allowed offers and training times, and pairs of both on the same cluster by their positions: the offers rise, and for each
    of them its times. Where every offer has one time, the slice of all of them."""

    offers: AllowedOffers
    times: TrainingTimes
    entry: Indices | slice
    time: Indices

    @classmethod
    def every(cls, offers: AllowedOffers, times: TrainingTimes) -> Pairs:
        """All pairs."""
        return cls(offers, times, *_each_on_its_cluster(offers.cluster, times.cluster, len(offers.clusters)))


def rentals(
    catalogue: Catalogue, matrix: TrainingMatrix, pairs: Pairs, query: EstimateQuery, risks: Risks
) -> tuple[TrainingTimes, Rentals]:
    """Each of these offers with its training time, and the times that they point to.

    Spot machines train as long with interruptions at their `risks`; those times are appended. The hours are those of all
    repetitions.
    """
    offers, times, entry, time = pairs
    row, option = offers.row[entry], offers.option[entry]
    if query.runs > 1:
        times = repeated(matrix, times, query)
    if query.overheads == "typical":
        spot = (option == SPOT).nonzero()[0]
        times = _interrupted_on_spot(matrix, times, time, spot, risks[row[spot]])
    hours, free = times.hours.take(time), option == FREE
    beside = free if PurchaseOption.FREE not in query.purchase else np.zeros(len(row), bool)
    calendar = _on_the_calendar(catalogue, row, hours, free.nonzero()[0])
    return times, Rentals(row, entry, time, hours, calendar, beside, offers.tariffs.part(entry))


def _interrupted_on_spot(
    matrix: TrainingMatrix, times: TrainingTimes, time: Indices, spot: Indices, risk: Risks
) -> TrainingTimes:
    """The times with those of spot machines, interrupted at these risks, behind them; `time` points there at the positions
    `spot`."""
    if not len(spot):
        return times
    pairs, pair = _distinct(time[spot] * len(RISKS) + risk, len(times.cluster) * len(RISKS))
    steady = times.take(pairs // len(RISKS))
    time[spot] = len(times.cluster) + pair
    return times.followed_by(interrupted(steady, matrix.nodes[steady.cluster], pairs % len(RISKS)))


def _on_the_calendar(catalogue: Catalogue, row: Indices, hours: Floats, free: Indices) -> Floats:
    """The hours, with the waiting for sessions and quotas on the free tiers at these positions."""
    if not len(free):
        return hours
    session, week = catalogue.columns.session_hours[row[free]], catalogue.columns.hours_per_week[row[free]]
    calendar = hours.copy()
    calendar[free] = calendar_hours(hours[free], session.astype(float), week.astype(float))
    return calendar


def _each_on_its_cluster(offered: Indices, trained: Indices, clusters: int) -> tuple[Indices | slice, Indices]:
    """The positions of every pair of an offer and a training time on the same of so many clusters."""
    counted = np.bincount(trained, minlength=clusters)
    if counted.max(initial=0) <= 1:  # as where the best recipe of each is asked for
        there = np.full(clusters, NOWHERE)
        there[trained] = np.arange(len(trained))
        time = there.take(offered)
        trains = time != NOWHERE
        return (EVERYTHING, time) if trains.all() else (trains.nonzero()[0], time[trains])
    counts, starts = counted.take(offered), np.cumsum(counted) - counted
    entry = np.repeat(np.arange(len(counts)), counts)
    nth = np.arange(len(entry)) + np.repeat(starts.take(offered) - (np.cumsum(counts) - counts), counts)
    return entry, np.argsort(trained, kind="stable").take(nth)


def _distinct(codes: Indices, most: int) -> tuple[Indices, Indices]:
    """`np.unique` with the inverse, of codes from 0 and below `most`, without sorting them."""
    number = np.zeros(most, np.int64)
    number[codes] = 1
    known = number.nonzero()[0]
    number[known] = np.arange(len(known))
    return known, number.take(codes)


def spot_risks(catalogue: Catalogue, observed: Sequence[ObservedInterruptions]) -> Risks:
    """The index into RISKS of each spot machine's row in the catalogue; 0 in all other rows."""
    words, columns, places = catalogue.vocabulary, catalogue.columns, len(catalogue.vocabulary.regions)
    region = {name: code for code, name in enumerate(words.regions)}
    known = {
        catalogue.instance_code[provider, name] * places + region[place]: RISK_OF_SHARE[one.share]
        for (provider, name, place), one in newest(observed).items()
        if (provider, name) in catalogue.instance_code and place in region
    }
    spot = (columns.option == SPOT).nonzero()[0]
    machines = columns.instance[spot].astype(np.int64) * places + columns.region[spot]
    risks = np.zeros(len(columns.option), np.int8)
    risks[spot] = [known.get(machine, 0) for machine in machines.tolist()]
    return risks


def without_training_time(course: Course, offers: AllowedOffers, times: TrainingTimes) -> dict[str, int]:
    """The offers on none of whose clusters any eligible recipe runs, counted by reason.

    Of an offer's clusters the one with the fewest machines gives the reason.
    """
    if not course.eligible.eligible.any() or not len(offers.row):
        return {}
    trains = np.bincount(times.cluster, minlength=len(course.matrix.clusters)) > 0
    if not (offers.clusters & ~trains).any():
        return {}
    trains_there = trains[offers.cluster]
    nowhere = (~trains_there).nonzero()[0]
    answered = np.zeros(int(offers.row.max()) + 1, bool)
    answered[offers.row[trains_there]] = True
    left_out = nowhere[~answered[offers.row[nowhere]]]
    _, first_entry = np.unique(offers.row[left_out], return_index=True)
    return _refusals(course, offers.cluster[left_out[first_entry]])


def _refusals(course: Course, clusters: Indices) -> dict[str, int]:
    """Why none of the eligible recipes runs on these clusters, and on how many of them."""
    matrix, is_measured = course.matrix, course.query.evidence == "measured"
    anywhere = (course.eligible.eligible & ~matrix.own_system_only).nonzero()[0]
    if is_measured or not len(anywhere):
        return {"not_measured" if is_measured else "own_system_only": len(clusters)}
    rows, _ = _distinct(matrix.speed_row[anywhere], len(matrix.speeds.refusal))
    here, which = _distinct(clusters, len(matrix.clusters))
    refusal = matrix.speeds.refusal[np.ix_(rows, here)].max(axis=0)
    return {REFUSALS[code]: count for code, count in Counter(refusal[which].tolist()).items()}


def costs(catalogue: Catalogue, query: EstimateQuery, rented: Rentals, market: Market) -> Floats:
    """What each rental costs by the basis asked for, storage and egress included; NaN where the offer's currency has no exchange
    rate."""
    cost = np.empty(len(rented.row))
    for start in range(0, len(cost), TOGETHER):
        part = slice(start, start + TOGETHER)
        cost[part] = _by_basis(query, rented.tariffs.part(part), rented.hours[part])
    return _in_all(catalogue, query, rented.row, market)(cost, rented.hours)


def _by_basis(query: EstimateQuery, tariffs: Tariffs, hours: Floats) -> Floats:
    """The list price of so many hours by the basis asked for."""
    return tariffs.billed(hours) if query.basis == "billed" else tariffs.effective(hours, query.utilization)


def _in_all(
    catalogue: Catalogue, query: EstimateQuery, row: Indices, market: Market
) -> Callable[[Floats, Floats], Floats]:
    """What makes of list prices, and of the hours that they are for, what is paid for the offers in these rows."""
    factors = price_factors(catalogue, query, market.exchange, row)
    if not any(requested(query)):
        return lambda cost, _: cost * factors
    once, hourly = storage_and_egress(catalogue, query, row, market)
    return lambda cost, hours: cost * factors + (once + hourly * hours)


def cost_ranges(
    catalogue: Catalogue,
    query: EstimateQuery,
    rented: Rentals,
    ends: tuple[Floats, Floats],
    market: Market,
    as_of: datetime,
) -> tuple[Floats, Floats]:
    """Both ends of the 80 % range of each rental's cost, from those of its hours; rates move as `rate_moves.factors` says of one,
    and the low end is by the second where nobody knows how a provider rounds up."""
    columns, row, hours = catalogue.columns, rented.row, rented.hours
    age = (int(as_of.timestamp()) - columns.observed.take(row)) // SECONDS_PER_DAY
    widths = _rate_widths(catalogue, market.moves.at(as_of), row, age + hours / HOURS_PER_DAY)
    assumed = _rounding_assumed(catalogue, market, row)
    by_the_second = rented.tariffs.by_the_second(assumed) if assumed.any() else rented.tariffs
    in_all = _in_all(catalogue, query, row, market)

    def at(end: Floats, sign: int, width: Floats, tariffs: Tariffs) -> Floats:
        if width.any():
            own = np.abs(np.log(end / hours))
            tariffs = tariffs._replace(metered=tariffs.metered * np.exp(sign * (np.hypot(own, width) - own)))
        return in_all(_by_basis(query, tariffs, end), end)

    (low, high), (fall, rise) = ends, widths
    return at(low, -1, fall, by_the_second), at(high, 1, rise, rented.tariffs)


def _rounding_assumed(catalogue: Catalogue, market: Market, row: Indices) -> Flags:
    """For which of the offers in these rows nobody knows how the provider rounds time up."""
    assumed = np.array([name in market.whole_hours_assumed for name in catalogue.providers], bool)
    return assumed.take(catalogue.provider_of(row))


def _rate_widths(catalogue: Catalogue, known: RateMoves, row: Indices, days: Floats) -> tuple[Floats, Floats]:
    """How far below and above, in ln, the rate of each row may be paid so many days after it was seen."""
    columns, widths, (movers, of_instance) = catalogue.columns, np.zeros((2, len(row))), catalogue.movers
    kinds = of_instance.take(columns.instance.take(row)) * len(OPTIONS) + columns.option.take(row)
    stated = catalogue.stated_by_asker.take(row)
    for kind in np.bincount(kinds).nonzero()[0].tolist():
        moves = known.of_mover(movers[kind // len(OPTIONS)], OPTIONS[kind % len(OPTIONS)])
        if moves is not STILL:
            at = ((kinds == kind) & ~stated).nonzero()[0]
            widths[:, at] = moves.after(days[at])
    return widths[0], widths[1]


def discount_fraction(query: EstimateQuery, provider: str, option: PurchaseOption) -> Decimal:
    """The discount on this provider's list rates: its own if one is named, else the general one.

    None on machines that one owns: what they cost is paid, and electricity is no rate of a provider.
    """
    if option is PurchaseOption.OWNED or not query.discount:
        return Decimal(0)
    by_provider = {discount.provider: discount.fraction for discount in query.discount}
    return by_provider.get(provider, by_provider.get(None, Decimal(0)))


def price_factors(
    catalogue: Catalogue, query: EstimateQuery, exchange: Mapping[str, ExchangeRate], rows: Indices
) -> Floats:
    """What a list amount of the offer in each row is multiplied with to be the own amount in the requested currency; NaN where
    its currency has no exchange rate."""
    words, columns = catalogue.vocabulary, catalogue.columns
    target = float(exchange[query.currency].per_usd)
    into = np.array(
        [target / float(exchange[code].per_usd) if code in exchange else np.nan for code in words.currencies]
    )
    factors: Floats = into.take(columns.currency.take(rows))
    if not query.discount:
        return factors
    left = [[float(1 - discount_fraction(query, name, option)) for option in OPTIONS] for name in catalogue.providers]
    return np.asarray(np.array(left)[catalogue.provider_of(rows), columns.option[rows]] * factors)


def storage_and_egress(catalogue: Catalogue, query: EstimateQuery, rows: Indices, market: Market) -> Floats:
    """What storage and egress cost once, and by the hour, beside the machines in these rows [2, n]."""
    charges = [market.storage_and_egress(query, provider) for provider in catalogue.providers]
    once = [sum(float(line.rate * line.quantity) for line in lines) for lines in charges]
    hourly = [sum(float(line.rate * line.quantity_hourly) for line in lines) for lines in charges]
    return np.array([once, hourly], float)[:, catalogue.provider_of(rows)]
