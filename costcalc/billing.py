"""From hours to money: what a run costs on an offer, as lines of a bill that add up."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

import numpy as np
from numpy.typing import NDArray

from costcalc.answers import Component
from costcalc.money import cents
from costcalc.offers import Offer, PurchaseOption, Tariff, tariff

SECONDS_PER_HOUR = 3600
MICROSECOND = Decimal("0.000001")
Floats = NDArray[np.float64]
Integers = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Terms:
    """What a customer brings to a rate: machines, own price factor (1 - discount), share of a commitment others use,
    and units of the wanted currency for one of the offer's."""

    nodes: int = 1
    price_factor: Decimal = Decimal(1)
    utilization: Decimal = Decimal(1)
    exchange: Decimal = Decimal(1)

    @property
    def factor(self) -> Decimal:
        """From the list rate of one machine to the own rate of all, in the wanted currency."""
        return self.nodes * self.price_factor * self.exchange


@dataclass(frozen=True, slots=True)
class Bill:
    """What one run costs. `billed` is what must be paid for it alone, `effective` its share of a commitment others use."""

    billed: Decimal
    effective: Decimal
    effective_hourly: Decimal
    components: tuple[Component, ...]


def metered_hours(billed_by: Tariff, hours: Decimal) -> Decimal:
    """Hours a meter charges: whole increments, at least the minimum."""
    seconds = (hours * SECONDS_PER_HOUR).quantize(MICROSECOND)
    increments = (seconds / billed_by.increment_seconds).to_integral_value(ROUND_CEILING)
    return max(increments * billed_by.increment_seconds, Decimal(billed_by.minimum_seconds)) / SECONDS_PER_HOUR


def periods(billed_by: Tariff, hours: Decimal) -> int:
    """Fee periods that have to be paid: whole months, whole terms, whole days of a block."""
    started = (hours / billed_by.period_hours).quantize(MICROSECOND).to_integral_value(ROUND_CEILING)
    return max(int(started), billed_by.minimum_periods) if billed_by.fee else 0


def effective_cost(billed_by: Tariff, hours: Decimal, utilization: Decimal) -> Decimal:
    """A run's share of the fees, by hours used, when others use `utilization` of what it leaves, and its metered hours.

    At utilization 1 this is hours x (fee / period + metered rate); at 0 the run carries the whole fee.
    """
    paid = periods(billed_by, hours)
    left = paid * billed_by.period_hours - hours
    share = hours / (hours + utilization * left) if paid and hours else Decimal(0)
    return billed_by.fee * paid * share + billed_by.metered_hourly * hours


def bill(offer: Offer, hours: Decimal, terms: Terms) -> Bill:
    """The bill for a run of `hours` on `terms.nodes` machines of this offer; amounts unrounded except component lines."""
    billed_by = tariff(offer)
    lines = _lines(offer, billed_by, hours, terms)
    billed = sum((quantity * rate for _, quantity, _, rate in lines), Decimal(0))
    effective = effective_cost(billed_by, hours, terms.utilization) * terms.factor
    hourly = billed_by.effective_hourly * terms.factor if terms.utilization == 1 else effective / hours
    return Bill(billed, effective, hourly, _components(lines, billed))


Line = tuple[str, Decimal, str, Decimal]


def _lines(offer: Offer, billed_by: Tariff, hours: Decimal, terms: Terms) -> list[Line]:
    lines = _fee_lines(offer, billed_by, periods(billed_by, hours)) if billed_by.fee else []
    if billed_by.metered_hourly or not lines:
        lines += _metered_lines(offer, billed_by, metered_hours(billed_by, hours))
    factor = terms.price_factor * terms.exchange
    return [(name, quantity * terms.nodes, unit, rate * factor) for name, quantity, unit, rate in lines]


def _fee_lines(offer: Offer, billed_by: Tariff, paid: int) -> list[Line]:
    name, count = offer.instance_type, Decimal(paid)
    if offer.purchase_option is PurchaseOption.MONTHLY:
        return [(name, count, "months", billed_by.fee)]
    if offer.purchase_option is PurchaseOption.CAPACITY_BLOCK:
        return [(name, count, "days", billed_by.fee)]
    if offer.purchase_option is PurchaseOption.OWNED:
        return [(f"{name} purchase", count, "machines", billed_by.fee)]
    return _commitment_lines(offer, billed_by, count)


def _commitment_lines(offer: Offer, billed_by: Tariff, count: Decimal) -> list[Line]:
    name, hours = offer.instance_type, count * billed_by.period_hours
    if offer.upfront is None or offer.recurring_hourly is None:
        return [(f"{name} {offer.term} commitment", hours, "hours", offer.hourly_rate)]
    upfront: list[Line] = [(f"{name} upfront", count, "units", offer.upfront)]
    recurring: list[Line] = [(f"{name} recurring", hours, "hours", offer.recurring_hourly)]
    return (upfront if offer.upfront else []) + (recurring if offer.recurring_hourly else [])


def _metered_lines(offer: Offer, billed_by: Tariff, hours: Decimal) -> list[Line]:
    if offer.purchase_option is PurchaseOption.OWNED:
        return [(f"{offer.instance_type} running cost", hours, "hours", billed_by.metered_hourly)]
    parts = [(part.name, hours, "hours", part.hourly) for part in offer.parts]
    return parts or [(offer.instance_type, hours, "hours", billed_by.metered_hourly)]


def _components(lines: list[Line], billed: Decimal) -> tuple[Component, ...]:
    """Lines rounded so that they add up to the rounded total: the largest takes what rounding leaves over."""
    amounts = [cents(quantity * rate) for _, quantity, _, rate in lines]
    largest = amounts.index(max(amounts))
    amounts[largest] += cents(billed) - sum(amounts)
    return tuple(Component(*line, amount) for line, amount in zip(lines, amounts, strict=True))


def break_even_hours(offer: Offer, on_demand_hourly: Decimal | None) -> Decimal | None:
    """Hours of use per term (or month) above which this offer beats the same machine on demand.

    None without an on-demand rate, for metered offers, and where the fee never pays off within the period.
    """
    billed_by = tariff(offer)
    if not billed_by.fee or on_demand_hourly is None or on_demand_hourly <= billed_by.metered_hourly:
        return None
    paid = max(billed_by.minimum_periods, 1)
    hours = billed_by.fee * paid / (on_demand_hourly - billed_by.metered_hourly)
    return hours if hours <= paid * billed_by.period_hours else None


@dataclass(frozen=True, slots=True)
class TariffColumns:
    """Tariffs of many offers as arrays; fees and rates in currency units, already times nodes, discount and exchange."""

    fee: Floats
    period_hours: Integers
    minimum_periods: Integers
    metered_hourly: Floats
    increment_seconds: Integers
    minimum_seconds: Integers


def billed_costs(tariffs: TariffColumns, hours: Floats) -> Floats:
    """The array form of `bill(...).billed`, in floats, for ranking."""
    seconds = np.ceil(np.round(hours * SECONDS_PER_HOUR, 6) / tariffs.increment_seconds) * tariffs.increment_seconds
    metered = np.maximum(seconds, tariffs.minimum_seconds) / SECONDS_PER_HOUR * tariffs.metered_hourly
    return metered + tariffs.fee * _periods(tariffs, hours)


def effective_costs(tariffs: TariffColumns, hours: Floats, utilization: float) -> Floats:
    """The array form of `effective_cost`, in floats, for ranking."""
    paid = _periods(tariffs, hours)
    left = paid * tariffs.period_hours - hours
    return tariffs.fee * paid * hours / (hours + utilization * left) + tariffs.metered_hourly * hours


def _periods(tariffs: TariffColumns, hours: Floats) -> Floats:
    started: Floats = np.ceil(np.round(hours / tariffs.period_hours, 6))
    return np.maximum(started, tariffs.minimum_periods)
