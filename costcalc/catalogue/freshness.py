"""How fresh rates are: their age in the median, by provider too, and the share that was seen within a month."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import numpy as np
from msgspec import Struct, field

from costcalc.catalogue.catalogue import Catalogue, OfferFilter
from costcalc.offer import OLD_DAYS
from costcalc.units import SECONDS_PER_DAY, Indices


class Freshness(Struct, frozen=True):
    """Ages in days from the last observation of rates to `as_of`: of all in the median, the share from 0 to 1 that is no older
    than 30 days, and the median by provider. `refreshed_at` is when any price source last answered, null where none did.

    The first two are null where there is no rate.
    """

    median_age_days: float | None = None
    share_within_30_days: float | None = None
    refreshed_at: datetime | None = None
    by_provider: Mapping[str, float] = field(default_factory=dict)


NO_RATES = Freshness()


class LastSeen(Struct, frozen=True, eq=False):
    """When rates were last observed, in seconds since 1970: all in rising order, and the median of each provider's."""

    moments: Indices
    by_provider: Mapping[str, float]

    @classmethod
    def of(cls, catalogue: Catalogue, rows: Indices) -> LastSeen:
        moments = catalogue.columns.observed[rows]
        providers = catalogue.provider_of(rows)
        numbers = np.bincount(providers).nonzero()[0].tolist()
        medians = {catalogue.providers[number]: _median(np.sort(moments[providers == number])) for number in numbers}
        return cls(np.sort(moments), dict(sorted(medians.items())))

    def freshness(self, as_of: datetime, refreshed_at: datetime | None) -> Freshness:
        """How fresh rates are at a moment; sources that answered later do not count."""
        now = int(as_of.timestamp())
        refreshed_at = refreshed_at if refreshed_at and refreshed_at <= as_of else None
        if not len(self.moments):
            return Freshness(refreshed_at=refreshed_at)

        recent = 1 - int(self.moments.searchsorted(now - OLD_DAYS * SECONDS_PER_DAY)) / len(self.moments)
        medians = (_median(self.moments), *self.by_provider.values())
        days, *by_provider = [round((now - median) / SECONDS_PER_DAY, 1) for median in medians]
        return Freshness(days, round(recent, 3), refreshed_at, dict(zip(self.by_provider, by_provider, strict=True)))


def current_freshness(catalogue: Catalogue, as_of: datetime) -> Freshness:
    """The freshness of all rates current at a moment, in all regions."""
    return current_stock(catalogue, as_of).freshness


class Stock(Struct, frozen=True):
    """What rates are current: of how many providers, how many, the share from 0 to 1 that the providers themselves stated."""

    providers: int
    rates: int
    first_hand: float
    freshness: Freshness


def current_stock(catalogue: Catalogue, as_of: datetime) -> Stock:
    """All rates current at a moment, in all regions."""
    rows = catalogue.allowed_rows(catalogue.current_offers(as_of), OfferFilter(regions="all"))
    freshness = LastSeen.of(catalogue, rows).freshness(as_of, catalogue.refreshed_at)
    share = float(catalogue.first_hand[rows].mean()) if len(rows) else 0.0
    return Stock(len(freshness.by_provider), len(rows), share, freshness)


def _median(moments: Indices) -> float:
    """The median of moments in rising order."""
    return float(moments[(len(moments) - 1) // 2] + moments[len(moments) // 2]) / 2
