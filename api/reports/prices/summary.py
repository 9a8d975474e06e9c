"""What accelerators cost an hour: the least, the median and the most of current rates, by accelerator and in a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np

from api.questions.currencies import exchange_rates
from api.questions.suggestions import many
from costcalc.catalogue.catalogue import Catalogue
from costcalc.money import NANOS_PER_UNIT, money
from costcalc.offer import PurchaseOption
from costcalc.units import Floats, Indices

UNKNOWN_REGION = "unspecified"


@dataclass(frozen=True, slots=True)
class RateSummary:
    """Rates of one accelerator under one purchase option, per accelerator and hour in `currency`; `provider`, `region` and
    `instance_type` have the least, `count` is the number of rates."""

    accelerator: str
    purchase_option: PurchaseOption
    count: int
    least: Decimal
    median: Decimal
    most: Decimal
    currency: str
    provider: str
    region: str
    instance_type: str
    oldest_observed_at: datetime
    newest_observed_at: datetime


def hourly_in(currency: str, catalogue: Catalogue, rows: Indices, day: date) -> Floats:
    """The rates of these rows in a currency; NaN where nobody knows what theirs is worth."""
    codes = catalogue.vocabulary.currencies
    rates = {"USD": 1.0} | {code: float(rate.per_usd) for code, rate in exchange_rates(currency, codes, day).items()}
    units = np.array([rates[currency] / rates[code] if code in rates else np.nan for code in codes])
    return np.asarray(catalogue.columns.hourly[rows] / NANOS_PER_UNIT * units[catalogue.columns.currency[rows]])


def per_accelerator(hourly: Floats, catalogue: Catalogue, rows: Indices) -> Floats:
    """The rates of these rows per accelerator; NaN for machines without accelerators."""
    chips = np.array([machine.accelerators or np.nan for _, _, machine in catalogue.vocabulary.instances])
    return np.asarray(hourly / chips[catalogue.columns.instance[rows]])


def summaries(catalogue: Catalogue, rows: Indices, currency: str, day: date) -> tuple[RateSummary, ...]:
    """The rates of these rows by accelerator and purchase option, those with most rates first."""
    names = np.array([machine.accelerator for _, _, machine in catalogue.vocabulary.instances])
    names, options = names[catalogue.columns.instance[rows]], catalogue.columns.option[rows]
    groups = sorted({*zip(names.tolist(), options.tolist(), strict=True)})
    found = (overall(catalogue, rows[(names == name) & (options == option)], currency, day) for name, option in groups)
    return tuple(sorted(filter(None, found), key=lambda each: -each.count))


def overall(catalogue: Catalogue, rows: Indices, currency: str, day: date) -> RateSummary | None:
    """The rates of all these rows together, under the accelerator and the purchase option of the least; None where there are
    none."""
    hourly = per_accelerator(hourly_in(currency, catalogue, rows, day), catalogue, rows)
    rows, hourly = rows[np.isfinite(hourly)], hourly[np.isfinite(hourly)]
    if not len(rows):
        return None
    least, observed = catalogue.offer(int(rows[hourly.argmin()])), catalogue.columns.observed[rows]
    oldest, newest = (datetime.fromtimestamp(int(moment), UTC) for moment in (observed.min(), observed.max()))
    lowest, middle, highest = (Decimal(f"{figure:.4f}") for figure in (hourly.min(), np.median(hourly), hourly.max()))
    return RateSummary(
        least.machine.accelerator, least.purchase_option, len(rows), lowest, middle, highest, currency, least.provider,
        least.region, least.instance_type, oldest, newest,
    )  # fmt: skip


def in_a_line(each: RateSummary, what: str, kind: str, as_of: datetime) -> str:
    """These rates in one line."""
    lowest, middle, highest = (money(figure, each.currency) for figure in (each.least, each.median, each.most))
    first, last = ((as_of - moment).days for moment in (each.newest_observed_at, each.oldest_observed_at))
    ages = f"{first:,} to {last:,}" if first < last else f"{last:,}"
    where = "" if each.region == UNKNOWN_REGION else f" ({each.region})"
    return (
        f"{what}: {lowest} to {highest} an hour for one accelerator, {middle} in the median of {many(each.count, kind)}, seen "
        f"{ages} days ago. The least is {each.instance_type} at {each.provider}{where}."
    )
