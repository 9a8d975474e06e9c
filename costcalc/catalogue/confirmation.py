"""Which rates are confirmed: vouched for by a trustworthy source, and seen recently or unchanged later."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import numpy as np
from msgspec import Struct

from costcalc.catalogue.columns import Columns, Int8
from costcalc.offer import PurchaseOption
from costcalc.units import SECONDS_PER_DAY, Flags, Indices

OPTIONS = tuple(PurchaseOption)
FRESH_DAYS = dict.fromkeys(OPTIONS, 180) | {PurchaseOption.ON_DEMAND: 90}
FRESH_DAYS |= dict.fromkeys((PurchaseOption.SPOT, PurchaseOption.CAPACITY_BLOCK), 14)
"""The age up to which a rate is fresh: those of spot and capacity blocks move by the week, those of commitments by the year."""
USUAL_SECONDS = np.array([FRESH_DAYS[option] for option in OPTIONS], np.int64) * SECONDS_PER_DAY
ENOUGH_PROVIDERS = 10
NEVER = np.iinfo(np.int64).max // 2
MOVES_BY_THE_WEEK = np.array([FRESH_DAYS[option] == FRESH_DAYS[PurchaseOption.SPOT] for option in OPTIONS], bool)
WIDEST_SECONDS = np.where(MOVES_BY_THE_WEEK, 30 * SECONDS_PER_DAY, NEVER)
IS_SPOT = np.array([option is PurchaseOption.SPOT for option in OPTIONS], bool)


class Rates(Struct, frozen=True, eq=False, weakref=True):
    """Some rows of a catalogue as columns: the kind of purchase, when the rate was observed, until when it was seen unchanged and
    from when on another one was announced, in seconds since 1970, whether somebody vouches for it, and whether the machine is the
    user's own."""

    option: Int8
    observed: Indices
    unchanged_until: Indices
    superseded_from: Indices
    vouched: Flags
    own: Flags

    def at(self, rows: Indices) -> Rates:
        """The rates at these positions."""
        return Rates(*[getattr(self, name).take(rows) for name in self.__struct_fields__])


class Confirmation(Struct, frozen=True, eq=False):
    """Which `rates` of a catalogue are confirmed at one moment, `now` in seconds since 1970, of those that are current then.

    A rate is fresh if it was observed no earlier than `since` says of its kind of purchase. `limits` has that as an age in days:
    that of `FRESH_DAYS`, or where fewer than ten providers have a rate of that kind so fresh and vouched for, the age at which
    ten do, or as many as there are; of those that move by the week at most 30 days. On a past date a rate is fresh, too, if it
    was next seen after that date and was the same then, unless it is a spot rate.
    """

    rates: Rates
    now: int
    since: Indices
    limits: Mapping[PurchaseOption, float]

    def of(self, rows: Indices) -> Flags:
        """Which of these rows of the catalogue are vouched for and fresh."""
        return self.among(self.rates.at(rows))

    def among(self, rates: Rates) -> Flags:
        """Which of these rates are vouched for, fresh, and not superseded by what the provider announced."""
        fresh = rates.observed >= self.since.take(rates.option)
        fresh |= (rates.unchanged_until > self.now) & ~IS_SPOT.take(rates.option)
        return np.asarray((rates.vouched & fresh & (rates.superseded_from > self.now)) | rates.own)

    @property
    def widened(self) -> Mapping[PurchaseOption, float]:
        """The limits beyond the usual ones, in days."""
        return {option: days for option, days in self.limits.items() if days > FRESH_DAYS[option]}


def confirmation(rates: Rates, since: Indices, as_of: datetime, most_days: int) -> Confirmation:
    """What is vouched for and fresh at a moment. Limits are widened to what `enough_since` returned, but not beyond
    `most_days`."""
    now = int(as_of.timestamp())
    most = np.minimum(WIDEST_SECONDS, most_days * SECONDS_PER_DAY)
    limits = np.minimum(np.maximum(USUAL_SECONDS, now - since), most)
    return Confirmation(rates, now, now - limits, dict(zip(OPTIONS, (limits / SECONDS_PER_DAY).tolist(), strict=True)))


def enough_since(columns: Columns, providers: Indices, rows: Indices) -> Indices:
    """By kind of purchase, the latest moment since which ten providers, or all there are, have one of these rates.

    `rows` are current and vouched for; `providers` numbers the provider of each instance. NEVER where there is no rate.
    """
    since = np.full(len(OPTIONS), NEVER)
    for code in np.flatnonzero(np.bincount(columns.option[rows])).tolist():  # np.unique imports numpy.ma
        of_kind = rows[columns.option[rows] == code]
        newest = np.zeros(int(providers.max(initial=0)) + 1, np.int64)
        np.maximum.at(newest, providers[columns.instance[of_kind]], columns.observed[of_kind])
        moments = np.sort(newest[newest > 0])[::-1]
        since[code] = moments[:ENOUGH_PROVIDERS][-1] if len(moments) else NEVER
    return since
