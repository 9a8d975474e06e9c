"""How fresh rates are: their age in the median, by provider too, and the share that was seen within a month."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from costcalc.catalogue.catalogue import Catalogue, OfferFilter
from costcalc.offers import OLD_DAYS
from costcalc.units import SECONDS_PER_DAY, Floats, Indices


@dataclass(frozen=True, slots=True)
class Freshness:
    """Ages in days from the last observation of rates to `as_of`: of all in the median, the share from 0 to 1 that is no older
    than 30 days, and the median by provider. `refreshed_at` is when any price source last answered, null where none did.

    The first two are null where there is no rate.
    """

    median_age_days: float | None = None
    share_within_30_days: float | None = None
    refreshed_at: datetime | None = None
    by_provider: Mapping[str, float] = field(default_factory=dict)


NO_RATES = Freshness()


def freshness(catalogue: Catalogue, rows: Indices, as_of: datetime) -> Freshness:
    """That of these rows of the catalogue."""
    refreshed_at = catalogue.refreshed_at if catalogue.refreshed_at and catalogue.refreshed_at <= as_of else None
    if not len(rows):
        return Freshness(refreshed_at=refreshed_at)
    ages = (int(as_of.timestamp()) - catalogue.columns.observed[rows]) / SECONDS_PER_DAY
    providers = catalogue.provider_of_instance[catalogue.columns.instance[rows]]
    names = dict(zip(catalogue.provider_of_instance.tolist(), catalogue.vocabulary.instances, strict=True))
    medians = {names[number][0]: _median(ages[providers == number]) for number in np.unique(providers).tolist()}
    recent = round(float((ages <= OLD_DAYS).mean()), 3)
    return Freshness(_median(ages), recent, refreshed_at, dict(sorted(medians.items())))


def current_freshness(catalogue: Catalogue, as_of: datetime) -> Freshness:
    """That of all rates current at a moment, in all regions."""
    rows = catalogue.allowed_rows(catalogue.current_offers(as_of), OfferFilter(regions="all"))
    return freshness(catalogue, rows, as_of)


def _median(ages: Floats) -> float:
    return round(float(np.median(ages)), 1)
