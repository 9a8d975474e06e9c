"""All observed rates as columns: which are current at a moment, and which of those a question allows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property, lru_cache, partial
from hashlib import blake2b
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from costcalc.catalogue.columns import Columns, Vocabulary, counts_from, from_bytes, to_bytes
from costcalc.catalogue.confirmation import NEVER, Confirmation, Rates, confirmation
from costcalc.catalogue.current import (
    CurrentOffers,
    Marks,
    confirmed_since,
    current_between,
    gives_way,
    of_listed,
    starts,
)
from costcalc.catalogue.encoding import build, extended
from costcalc.catalogue.hands import unchanged_until, vouched_for, with_hands_kept
from costcalc.hardware import Machine
from costcalc.money import from_nanos
from costcalc.offer import (
    ANY_REGION,
    COMMITMENTS,
    ENDED,
    OWN,
    STANDS_ALONE,
    WITHOUT_TERM,
    YOURS,
    Gap,
    Offer,
    Payment,
    PurchaseOption,
    RatePart,
    is_available,
    is_first_hand,
    superseded_from,
    term_hours,
)
from costcalc.query import EstimateQuery
from costcalc.rate_moves import Mover, mover
from costcalc.units import SECONDS_PER_DAY, Flags, Indices

MOMENTS_KEPT = 8
EVER = 36_500  # days
ANNOUNCED_DAYS = 30  # ahead of which an answer tells of a change
OPTIONS = tuple(PurchaseOption)
_TERMLESS: Flags = np.array([option in WITHOUT_TERM for option in OPTIONS], bool)
SCARCITY = {True: 0, None: 1, False: 2}


class OfferFilter(NamedTuple):
    """What a question allows of offers, under the names of its parameters; an empty tuple allows all.

    A term and a payment say nothing of on demand, spot and free rates where `purchase` names these beside others.
    `oci:any` among the regions allows the rates of that provider that are the same in all of its regions. `available` allows
    only machines of which the provider said that one was free.
    """

    provider: tuple[str, ...] = ()
    region: tuple[str, ...] = ()
    instance_type: tuple[str, ...] = ()
    accelerator: tuple[str, ...] = ()
    purchase: tuple[PurchaseOption, ...] = ()
    term: tuple[str, ...] = ()
    payment: tuple[Payment, ...] = ()
    available: bool = False
    regions: Literal["cheapest", "all"] = "cheapest"

    @classmethod
    def of(cls, query: EstimateQuery) -> OfferFilter:
        return cls(*(getattr(query, name) for name in cls._fields))


class Catalogue:
    """Columns of all observations with their vocabulary. Immutable; what is current at a moment is kept after its first use.

    A rate that the provider itself said is first hand also where a third party saw it again later, unchanged: `columns` then hold
    it so. `first_hand` flags these rows, as `Offer.first_hand` does for one offer, `vouched` also those that two sources state
    alike (`hands.vouched_for`), `stands_alone` those of machines that no network joins to others, `ended` those that say that an
    offer is gone, `own` the user's own machines, which pass every filter and never get stale. `scarcity` is 0 for machines of
    which the provider said that one was free to rent, 2 where it said that none was, 1 where it does not say.
    `counts_from` is when each row begins to count, later than its observation where it was announced.
    `known_since` is the moment, in seconds since 1970, before which some observations are missing; `refreshed_at` is when any
    price source last answered, None where none did.
    """

    def __init__(
        self,
        columns: Columns,
        vocabulary: Vocabulary,
        snapshot: str,
        gaps: tuple[Gap, ...] = (),
        known_since: int = 0,
        refreshed_at: datetime | None = None,
    ) -> None:
        self.snapshot, self.gaps = snapshot, gaps
        self.known_since, self.refreshed_at = known_since, refreshed_at
        self.columns, self.vocabulary = columns, vocabulary = with_hands_kept(columns, vocabulary)
        self.counts_from = counts_from(columns.observed, columns.effective_from)
        moments = np.concatenate([columns.observed, self.counts_from[self.counts_from > columns.observed]])
        self._moments, _ = np.unique(moments, return_index=True)  # without index numpy 2.4 imports numpy.ma
        flags = [text.split(";") for text in vocabulary.flags]
        self.first_hand: Flags = np.array([is_first_hand(of) for of in flags], bool)[columns.flags]
        self.stands_alone: Flags = np.array([STANDS_ALONE in of for of in flags], bool)[columns.flags]
        self.ended: Flags = np.array([ENDED in of for of in flags], bool)[columns.flags]
        self.own: Flags = np.array([OWN in of for of in flags], bool)[columns.flags]
        self.stated_by_asker: Flags = np.array([YOURS in of for of in flags], bool)[columns.flags]
        scarcity = np.array([SCARCITY[is_available(of)] for of in flags], np.int8)
        self.scarcity: NDArray[np.int8] = scarcity[columns.flags]
        marks = Marks(self.first_hand, self.ended, self.own, self.counts_from)
        self.vouched = vouched_for(columns, vocabulary, self.first_hand)
        self._unchanged_until = unchanged_until(columns, self.ended)
        days = [superseded_from(of) for of in flags]
        superseded = np.array([int(day.timestamp()) if day else NEVER for day in days], np.int64)
        self._superseded_from = superseded[columns.flags]
        self._by_year: dict[int, tuple[int, ...] | None] = {}
        self._current = lru_cache(maxsize=MOMENTS_KEPT)(partial(current_between, columns, marks, self._moments))
        since = partial(confirmed_since, columns, self.provider_of_instance, self.vouched, self._current)
        self._enough_since = lru_cache(maxsize=MOMENTS_KEPT)(since)

    @classmethod
    def from_offers(cls, offers: Iterable[Offer], snapshot: str, gaps: tuple[Gap, ...] = ()) -> Catalogue:
        """A catalogue of these observations. The last of several with the same key and moment counts."""
        return cls(*build(offers), snapshot, gaps)

    @classmethod
    def from_bytes(cls, document: bytes, snapshot: str, gaps: tuple[Gap, ...] = ()) -> Catalogue:
        """The catalogue that `to_bytes` wrote. Raises ValueError or KeyError on anything else."""
        return cls(*from_bytes(document), snapshot, gaps)

    def with_offers(self, offers: Iterable[Offer]) -> Catalogue:
        """This catalogue with these observations added."""
        columns, vocabulary = extended(self.columns, self.vocabulary, offers)
        return Catalogue(columns, vocabulary, self.snapshot, self.gaps, self.known_since, self.refreshed_at)

    def to_bytes(self) -> bytes:
        """The columns and their vocabulary as one document, which loads without building offers."""
        return to_bytes(self.columns, self.vocabulary)

    def __len__(self) -> int:
        return len(self.columns.observed)

    def knows(self, moment: datetime | None) -> bool:
        """Whether it holds everything known at a moment; None means now."""
        return moment is None or moment.timestamp() >= self.known_since

    @property
    def first_observed_at(self) -> datetime | None:
        """The moment of the oldest observation, None when there is none."""
        return _moment(int(self._moments[0])) if len(self._moments) else None

    def current_offers(self, as_of: datetime, max_price_age_days: int = 540) -> CurrentOffers:
        """The newest observation of every offer by `as_of`, unless it is older than so many days."""
        return self._current(*self._between(as_of, max_price_age_days))

    def confirmed(self, as_of: datetime, max_price_age_days: int = 540) -> Confirmation:
        """Which of the offers current at a moment are confirmed: vouched for, and fresh for their kind of purchase.

        `catalogue.confirmed(as_of, days).of(rows)` says it of rows of `current_offers(as_of, days)`.
        """
        since = self._enough_since(*self._between(as_of, max_price_age_days))
        return confirmation(self.rates, since, as_of, max_price_age_days)

    @property
    def rates(self) -> Rates:
        """What decides whether the rate of each row is confirmed."""
        columns = self.columns
        return Rates(
            columns.option, columns.observed, self._unchanged_until, self._superseded_from, self.vouched, self.own
        )

    def confirmed_offers(self, as_of: datetime, max_price_age_days: int = 540) -> CurrentOffers:
        """The current offers whose rates are confirmed."""
        current = self.current_offers(as_of, max_price_age_days)
        flags = self.confirmed(as_of, max_price_age_days).of(current.listed)
        confirmed, others = current.listed[flags], current.listed[~flags]
        return of_listed(self.columns, self.first_hand, confirmed, current.stale, others)

    def _between(self, as_of: datetime, days: int) -> tuple[int, int]:
        """The number of the first moment after `as_of`, and of the first one at most so many days before it."""
        limit = int(as_of.timestamp())
        newest = int(np.searchsorted(self._moments, limit, "right"))
        return newest, int(np.searchsorted(self._moments, limit - days * SECONDS_PER_DAY, "left"))

    def last_seen(self, as_of: datetime, wanted: OfferFilter) -> datetime | None:
        """When an offer that passes the filter was last observed by `as_of`, at any age; None if never."""
        rows = self.passing_rows(self.current_offers(as_of, EVER).rows, wanted)
        return _moment(int(self.columns.observed[rows].max())) if len(rows) else None

    def announced(self, row: int, as_of: datetime) -> Offer | None:
        """What the offer in this row will cost within a month of `as_of`, as was stated by then; None where nobody said."""
        columns, now = self.columns, int(as_of.timestamp())
        for later in range(row + 1, len(self)):
            ahead = int(self.counts_from[later]) - now
            if columns.key[later] != columns.key[row] or ahead > ANNOUNCED_DAYS * SECONDS_PER_DAY:
                return None
            if columns.observed[later] <= now and ahead > 0 and columns.hourly[later] != columns.hourly[row]:
                return self.offer(later)
        return None

    def allowed_rows(self, current: CurrentOffers, wanted: OfferFilter) -> Indices:
        """The current offers that pass the filter; only the cheapest region of each unless all are asked for.

        A second-hand rate gives way where a first-hand one of the same group passes too.
        """
        cheapest = wanted.regions == "cheapest"
        if not (wanted.region or wanted.available):
            return self.passing_rows(current.rows[current.heads] if cheapest else current.rows, wanted)
        passing = self.passing_rows(current.listed, wanted)
        rows = passing[~gives_way(self.columns, self.first_hand, passing)]
        return self.cheapest_regions(rows) if cheapest else rows

    def cheapest_regions(self, rows: Indices) -> Indices:
        """The first row of each group, which is its cheapest region where these rows have the order of `CurrentOffers`."""
        return rows[starts(self.columns.group[rows])]

    def second_hand_rows(self, current: CurrentOffers, wanted: OfferFilter) -> Indices:
        """The current offers that pass the filter and give way to first-hand ones, in all regions."""
        if not (wanted.region or wanted.available):
            return self.passing_rows(current.second_hand, wanted)
        passing = self.passing_rows(current.listed, wanted)
        return passing[gives_way(self.columns, self.first_hand, passing)]

    def passing_rows(self, rows: Indices, wanted: OfferFilter) -> Indices:
        """The rows that pass the filter, in any region."""
        if wanted.available:
            rows = rows[(self.scarcity[rows] == SCARCITY[True]) | self.own[rows]]
        for name, (codes, meanings) in self._filtered.items():
            if names := getattr(wanted, name):
                folded = {each.casefold() for each in names}
                named = np.array([meaning in folded for meaning in meanings], bool)[codes[rows]]
                if name == "region":
                    named |= self._in_all_regions(rows, folded)
                elif name in ("term", "payment") and {*wanted.purchase} - WITHOUT_TERM:
                    named |= _TERMLESS[self.columns.option[rows]]
                rows = rows[named | self.own[rows]]
        return rows

    def _in_all_regions(self, rows: Indices, wanted: Set[str]) -> Flags:
        """Which of these rates hold in all regions of a provider named like `oci:any`."""
        providers, places = self._filtered["provider"], self._filtered["region"]
        named = np.array([f"{provider}:{ANY_REGION}" in wanted for provider in providers[1]], bool)[providers[0][rows]]
        everywhere = np.array([place == ANY_REGION for place in places[1]], bool)[places[0][rows]]
        return np.asarray(named & everywhere)

    @cached_property
    def _filtered(self) -> dict[str, tuple[NDArray[np.integer[Any]], list[str]]]:
        """By the name of a filter: the code of each row, and the word for each code, in lower case."""
        columns, vocabulary = self.columns, self.vocabulary
        instances = vocabulary.instances
        providers, names, machines = zip(*instances, strict=True) if instances else ((), (), ())
        meanings: dict[str, tuple[NDArray[np.integer[Any]], Iterable[str]]] = {
            "region": (columns.region, vocabulary.regions),
            "term": (columns.term, vocabulary.terms),
            "payment": (columns.payment, vocabulary.payments),
            "purchase": (columns.option, OPTIONS),
            "provider": (columns.instance, providers),
            "instance_type": (columns.instance, names),
            "accelerator": (columns.instance, [machine.accelerator for machine in machines]),
        }
        return {name: (codes, [word.casefold() for word in words]) for name, (codes, words) in meanings.items()}

    @cached_property
    def shapes(self) -> tuple[tuple[str, int, int], ...]:
        """The distinct (accelerator, accelerators per machine, vCPUs of machines without accelerators)."""
        return tuple(sorted({machine.shape for machine in self._machines}))

    @cached_property
    def shape_of_instance(self) -> Indices:
        """The index into `shapes` of each instance code."""
        index = {shape: number for number, shape in enumerate(self.shapes)}
        return np.array([index[machine.shape] for machine in self._machines], np.int64)

    @cached_property
    def providers(self) -> tuple[str, ...]:
        """The names of all providers."""
        return tuple(dict.fromkeys(name for name, _, _ in self.vocabulary.instances))

    @cached_property
    def provider_of_instance(self) -> Indices:
        """The index into `providers` of each instance code."""
        number = {name: place for place, name in enumerate(self.providers)}
        return np.array([number[name] for name, _, _ in self.vocabulary.instances], np.int64)

    def provider_of(self, rows: Indices) -> Indices:
        """The index into `providers` of each of these rows."""
        return self.provider_of_instance.take(self.columns.instance.take(rows))

    @cached_property
    def movers(self) -> tuple[Sequence[Mover], Indices]:
        """Whose rates move alike, and for each instance code which of them it is."""
        named = [mover(provider, machine.accelerator) for provider, _, machine in self.vocabulary.instances]
        numbers = {each: number for number, each in enumerate(dict.fromkeys(named))}
        return [*numbers], np.array([numbers[each] for each in named], np.int64)

    @cached_property
    def instance_code(self) -> dict[tuple[str, str], int]:
        """The instance code of (provider, instance type)."""
        return {(provider, name): code for code, (provider, name, _) in enumerate(self.vocabulary.instances)}

    @cached_property
    def _first_years(self) -> Indices:
        """The year in which each instance code was first observed; 0 for the user's own machines."""
        first = np.full(len(self.vocabulary.instances), np.iinfo(np.int64).max)
        np.minimum.at(first, self.columns.instance, np.where(self.own, 0, self.columns.observed))
        seconds = first.astype("datetime64[s]")
        return np.where(first > 0, seconds.astype("datetime64[Y]").astype(np.int64) + 1970, 0)

    def instances_by(self, year: int) -> tuple[int, ...] | None:
        """The codes of the instance types offered by the end of a year, and of the user's own; None if these are all."""
        if year not in self._by_year:
            offered = self._first_years <= year
            self._by_year[year] = None if offered.all() else tuple(np.flatnonzero(offered).tolist())
        return self._by_year[year]

    @cached_property
    def machine_types(self) -> bytes:
        """A digest of the machines: equal for catalogues that differ only in rates."""
        return blake2b(msgspec.msgpack.encode(self.vocabulary.instances), digest_size=16).digest()

    @property
    def _machines(self) -> tuple[Machine, ...]:
        return tuple(machine for _, _, machine in self.vocabulary.instances)

    def offer(self, row: int) -> Offer:
        """The observation in this row as an exact `Offer`."""
        columns, words = self.columns, self.vocabulary
        provider, instance_type, machine = words.instances[columns.instance[row]]
        payment = words.payments[columns.payment[row]]
        started = int(columns.effective_from[row])
        return Offer(
            provider=provider,
            region=words.regions[columns.region[row]],
            instance_type=instance_type,
            machine=machine,
            purchase_option=OPTIONS[columns.option[row]],
            hourly_rate=self.hourly_rate(row),
            observed_at=_moment(int(columns.observed[row])),
            source=words.sources[columns.source[row]],
            term=words.terms[columns.term[row]] or None,
            payment=Payment(payment) if payment else None,
            offering_class=words.classes[columns.offering[row]] or None,
            upfront=_maybe(columns.upfront[row]),
            recurring_hourly=_maybe(columns.recurring[row]),
            monthly=_maybe(columns.monthly[row]),
            hours_in_month=int(columns.hours_in_month[row]),
            currency=words.currencies[columns.currency[row]],
            parts=_parts(words.parts[columns.parts[row]]),
            effective_from=_moment(started) if started >= 0 else None,
            flags=tuple(flag for flag in words.flags[columns.flags[row]].split(";") if flag),
            billing_increment_seconds=int(columns.increment_seconds[row]),
            minimum_seconds=int(columns.minimum_seconds[row]),
            session_hours=_hours(columns.session_hours[row]),
            hours_per_week=_hours(columns.hours_per_week[row]),
        )

    def hourly_rate(self, row: int) -> Decimal:
        """The effective rate of this row.

        Exact where it follows from a month or an upfront payment, which nano-dollars an hour would cut off.
        """
        columns = self.columns
        option, month = OPTIONS[columns.option[row]], int(columns.hours_in_month[row])
        amounts = (columns.monthly, columns.upfront, columns.recurring)
        monthly, upfront, recurring = (_maybe(column[row]) for column in amounts)
        if option is PurchaseOption.MONTHLY and monthly is not None:
            return monthly / month
        if option in COMMITMENTS and upfront is not None and recurring is not None:
            return upfront / term_hours(self.vocabulary.terms[columns.term[row]], month) + recurring
        return from_nanos(columns.hourly[row])


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _maybe(nanos: int) -> Decimal | None:
    return None if nanos < 0 else from_nanos(nanos)


def _hours(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _parts(text: str) -> tuple[RatePart, ...]:
    pairs: Sequence[str] = text.split(";") if text else ()
    return tuple(RatePart(name, Decimal(rate)) for name, _, rate in (pair.rpartition("=") for pair in pairs))
