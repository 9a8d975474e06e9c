"""From hours to money: a run's cost on one offer, as exact bill lines that add up, and on many offers, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context, Decimal
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from costcalc.catalogue.columns import Columns, Int8, Int32
from costcalc.costing.storage_and_egress import StorageOrEgress
from costcalc.money import CENT, HALF_UP, KNOWN, NANOS_PER_UNIT, Component, Money
from costcalc.offer import Offer, PurchaseOption, Tariff, tariff
from costcalc.query import Basis
from costcalc.rate_moves import STILL, Moves
from costcalc.units import SECONDS_PER_HOUR, Flags, Floats, Indices

MILLIONTH = Decimal("0.000001")
MICROSECONDS_PER_SECOND = 1_000_000
ENDLESS = np.int32(2**31 - 1)  # hours
HALF_A_MICROSECOND = 0.5 / MICROSECONDS_PER_SECOND  # of seconds: less than that over an increment is none over it
EXACTLY_AN_HOUR = Decimal(SECONDS_PER_HOUR)
ROUNDED_UP = Context(rounding=ROUND_CEILING).to_integral_value
ZERO, ONE = Decimal(0), Decimal(1)
SOLD_TOGETHER = 7  # periods of a fee, beyond those sold one by one
FEE_UNITS = {PurchaseOption.MONTHLY: "months", PurchaseOption.CAPACITY_BLOCK: "days", PurchaseOption.OWNED: "machines"}


class Terms(Struct, frozen=True):
    """What a customer brings to a list rate.

    `nodes` is the number of machines, `price_factor` 1 - discount, `utilization` the share that other work uses of what
    a run leaves of a commitment, and `exchange` the units of the requested currency for one of the offer's. `rounding_assumed`
    says that nobody knows how the provider rounds time up: the low end of a range is then by the second. `moves` is how far the
    metered rate moves after it was seen.
    """

    nodes: int = 1
    price_factor: Decimal = Decimal(1)
    utilization: Decimal = Decimal(1)
    exchange: Decimal = Decimal(1)
    rounding_assumed: bool = False
    moves: Moves = STILL


class Charge(NamedTuple):
    """One list rate for one machine: charged `per_period` times for every period paid, or by the metered hour where that is 0."""

    name: str
    unit: str
    rate: Decimal
    per_period: Decimal


Line = tuple[str, Decimal, str, Decimal]
"""One line of a bill, unrounded: its name, quantity, unit and rate."""


@dataclass(frozen=True, slots=True)
class Bill:
    """What runs cost on one offer under one customer's terms, in the requested currency and not rounded.

    `storage_and_egress` come on top of the machines. `tariff` is how the offer bills one machine at list price, `increment` its
    seconds exactly, and `factor` machines x own price factor x exchange: what such amounts are multiplied with. Of all machines,
    `metered` is the rate of a metered hour, and `full_hourly` that of an hour when every one of a period is used. `charges` are
    the offer's list rates, in its own currency, that make up the tariff.
    """

    offer: Offer
    terms: Terms
    storage_and_egress: tuple[StorageOrEgress, ...] = ()
    tariff: Tariff = field(init=False)
    increment: Decimal = field(init=False)
    factor: Decimal = field(init=False)
    metered: Decimal = field(init=False)
    full_hourly: Decimal = field(init=False)
    charges: tuple[Charge, ...] = field(init=False)

    def __post_init__(self) -> None:
        terms = self.terms
        object.__setattr__(self, "tariff", tariff(self.offer))
        object.__setattr__(self, "increment", Decimal(self.tariff.increment_seconds))
        object.__setattr__(self, "factor", terms.nodes * terms.price_factor * terms.exchange)
        object.__setattr__(self, "metered", self.tariff.metered_hourly * self.factor)
        object.__setattr__(self, "full_hourly", self.tariff.effective_hourly * self.factor)
        fees = self._fees() if self.tariff.fee else []
        metered = self._metered() if self.tariff.metered_hourly or not fees else []
        object.__setattr__(self, "charges", (*fees, *metered))

    @property
    def committed_cost(self) -> Decimal:
        """The machines' cost over the whole term, regardless of use."""
        return self.tariff.committed_fee * self.factor

    def billed(self, hours: Decimal, times: Decimal = ONE) -> Decimal:
        """What is paid for runs of so many hours: whole increments, months and terms, the metered rate being `times` as high."""
        tariff = self.tariff
        machines = self.metered * times * self._metered_hours(hours) if tariff.metered_hourly else ZERO
        if tariff.fee:
            machines += tariff.fee * self._periods(hours) * self.factor
        return machines + self._beside(hours) if self.storage_and_egress else machines

    def effective(self, hours: Decimal, times: Decimal = ONE) -> Decimal:
        """The share of the bill that runs of so many hours should bear, the metered rate being `times` as high.

        They share the fees with other work, by hours used; storage and egress are theirs alone. At utilization 1 the machines
        cost hours x (fee / period + metered rate); at 0 the runs bear the whole fee.
        """
        tariff, share = self.tariff, self.metered * times * hours
        if tariff.fee and hours:
            paid = self._periods(hours)
            left = paid * tariff.period_hours - hours
            share += tariff.fee * paid * hours / (hours + self.terms.utilization * left) * self.factor
        return share + self._beside(hours) if self.storage_and_egress else share

    def effective_hourly(self, hours: Decimal) -> Decimal:
        """The machines' effective rate per hour: fee / period + metered rate where commitments are fully used."""
        if not self.tariff.fee or self.terms.utilization == 1 or not hours:
            return self.full_hourly
        return (self.effective(hours) - self._beside(hours)) / hours

    def paid(self, hours: Sequence[Decimal], times: Sequence[Decimal], basis: Basis) -> Money:
        """What a training costs, rounded: of its `hours`, the low and the high end of their range, at the ends of which the
        metered rate is `times` as high; and what it costs by this basis in other hours, which follow them."""
        point, low, high, *others = hours
        cheaper, dearer = times
        lines = self._lines(point)
        exact = [self.effective(point), self.effective(low, cheaper), self.effective(high, dearer)]
        least = self.by_the_second if self.terms.rounding_assumed else self
        exact += [least.billed(low, cheaper), self.billed(high, dearer)]
        exact += map(self.billed if basis == "billed" else self.effective, others)
        cost, low_cost, high_cost, billed_low, billed_high, *rest = in_cents([*exact, *_amounts(lines)])
        of_others, (billed, *amounts) = rest[: len(others)], rest[len(others) :]
        return Money(
            hourly_rate=self.effective_hourly(point),
            effective=cost,
            effective_low=low_cost,
            effective_high=high_cost,
            billed=billed,
            billed_low=billed_low,
            billed_high=billed_high,
            usual_low=of_others[0] if of_others else None,
            usual_high=of_others[1] if of_others else None,
            components=_components(lines, billed, amounts),
        )

    @property
    def by_the_second(self) -> Bill:
        """The same bill, with every metered second paid and no more."""
        offer = replace(self.offer, billing_increment_seconds=1, minimum_seconds=0)
        return Bill(offer, self.terms, self.storage_and_egress)

    def paid_hours(self, hours: Decimal) -> int:
        """Hours of the periods that fees are paid for, per machine; 0 where all is metered."""
        return self._periods(hours) * self.tariff.period_hours

    def components(self, hours: Decimal) -> tuple[Component, ...]:
        """The lines of the bill, first one for each of `charges`, then storage and egress, with amounts in cents that add up to
        the rounded total: the largest takes what is left over."""
        lines = self._lines(hours)
        total, *amounts = in_cents(_amounts(lines))
        return _components(lines, total, amounts)

    def _beside(self, hours: Decimal) -> Decimal:
        """What storage and egress cost."""
        return sum((each.rate * each.units(hours) for each in self.storage_and_egress), ZERO)

    def _periods(self, hours: Decimal) -> int:
        if not self.tariff.fee:
            return 0
        started = int((hours / self.tariff.period_hours).quantize(MILLIONTH).to_integral_value(ROUND_CEILING))
        if 0 < self.tariff.sold_singly < started:
            started = -(-started // SOLD_TOGETHER) * SOLD_TOGETHER
        return max(started, self.tariff.minimum_periods)

    def _metered_hours(self, hours: Decimal) -> Decimal:
        increment, minimum = self.increment, self.tariff.minimum_seconds
        seconds = ROUNDED_UP((hours * EXACTLY_AN_HOUR).quantize(MILLIONTH) / increment) * increment
        return (seconds if seconds > minimum else Decimal(minimum)) / EXACTLY_AN_HOUR

    def _lines(self, hours: Decimal) -> list[Line]:
        own, nodes, machines = self.terms.price_factor * self.terms.exchange, self.terms.nodes, []
        for charge in self.charges:
            times = charge.per_period * self._periods(hours) if charge.per_period else self._metered_hours(hours)
            machines.append((charge.name, times * nodes, charge.unit, charge.rate * own))
        return machines + [(each.name, each.units(hours), each.unit, each.rate) for each in self.storage_and_egress]

    def _fees(self) -> list[Charge]:
        name, hours = self.offer.instance_type, Decimal(self.tariff.period_hours)
        unit = FEE_UNITS.get(self.offer.purchase_option)
        if unit:
            lost = ", loss in value" if self.offer.purchase_option is PurchaseOption.OWNED else ""
            return [Charge(f"{name}{lost}", unit, self.tariff.fee, Decimal(1))]
        upfront, recurring = self.offer.upfront, self.offer.recurring_hourly
        if upfront is None or recurring is None:
            return [Charge(f"{name} {self.offer.term} commitment", "hours", self.offer.hourly_rate, hours)]
        charges = [
            Charge(f"{name} upfront", "units", upfront, Decimal(1)),
            Charge(f"{name} recurring", "hours", recurring, hours),
        ]
        return [charge for charge in charges if charge.rate]

    def _metered(self) -> list[Charge]:
        name, by_hour = self.offer.instance_type, Decimal(0)
        owned = self.offer.purchase_option is PurchaseOption.OWNED
        parts = [Charge(part.name, "hours", part.hourly, by_hour) for part in self.offer.parts]
        return parts or [
            Charge(f"{name} running cost" if owned else name, "hours", self.tariff.metered_hourly, by_hour)
        ]


def in_cents(amounts: Iterable[Decimal]) -> list[Decimal]:
    """Amounts rounded as `cents` rounds one."""
    known, rounded = KNOWN.plus, HALF_UP.quantize
    return [rounded(known(amount), CENT) for amount in amounts]


def _amounts(lines: Sequence[Line]) -> list[Decimal]:
    """The sum and each part, unrounded."""
    exact = [quantity * rate for _, quantity, _, rate in lines]
    return [sum(exact, ZERO), *exact]


def _components(lines: Sequence[Line], total: Decimal, amounts: Sequence[Decimal]) -> tuple[Component, ...]:
    """The lines with rounded amounts; the largest absorbs the rounding difference."""
    if rest := total - sum(amounts):
        largest = amounts.index(max(amounts))
        amounts = [*amounts[:largest], amounts[largest] + rest, *amounts[largest + 1 :]]
    return tuple([Component(*line, amount) for line, amount in zip(lines, amounts, strict=True)])


def break_even_hours(tariff: Tariff, on_demand_hourly: Decimal | None, factor: Decimal = ONE) -> Decimal | None:
    """Hours of use per term (or month) above which the fee of `factor` tariffs costs less than this on-demand rate per hour.

    None without such a rate, for metered offers, and where the fee never pays off within the period.
    """
    hours = paid_off_hours(tariff, on_demand_hourly, factor) if tariff.fee else None
    return hours if hours is not None and hours <= tariff.committed_hours else None


def paid_off_hours(tariff: Tariff, rented_hourly: Decimal | None, factor: Decimal = ONE) -> Decimal | None:
    """Hours of use from which on `factor` tariffs cost less than renting at this rate per hour, also beyond their period.

    None without such a rate, and where an hour costs no less than a rented one even without the fee.
    """
    saved = None if rented_hourly is None else rented_hourly - tariff.metered_hourly * factor
    return None if saved is None or saved <= 0 else tariff.committed_fee * factor / saved


class Tariffs(NamedTuple):
    """Tariffs of many offers for some machines of each, as columns of equal length: at list price and in the currency of each,
    in floats, for ranking. `Bill` says the same exactly. Without a fee a period is ENDLESS, so that none ends."""

    metered: Floats
    fee: Floats
    period_hours: Int32
    minimum_periods: Int32
    sold_singly: Int8
    increment_seconds: Int32
    minimum_seconds: Int32
    currency: Int8

    @classmethod
    def of(cls, columns: Columns, row: Indices, nodes: Indices) -> Tariffs:
        """Those of the offers in these rows of a catalogue, for so many machines of each."""
        each = nodes / NANOS_PER_UNIT
        metered, fee, period, *others = [getattr(columns, name).take(row) for name in cls._fields]
        return Tariffs._make((metered * each, fee * each, np.where(fee, period, ENDLESS), *others))

    def part(self, which: Indices | slice) -> Tariffs:
        """Those at these positions."""
        return Tariffs._make([column[which] for column in self])

    def by_the_second(self, which: Flags) -> Tariffs:
        """The same tariffs, with every metered second paid and no more by those that are marked."""
        increment, minimum = np.where(which, 1, self.increment_seconds), np.where(which, 0, self.minimum_seconds)
        return self._replace(increment_seconds=increment, minimum_seconds=minimum)

    def billed(self, hours: Floats) -> Floats:
        """The array form of `Bill.billed`."""
        started = np.ceil((hours * SECONDS_PER_HOUR - HALF_A_MICROSECOND) / self.increment_seconds)
        seconds = np.maximum(started * self.increment_seconds, self.minimum_seconds)
        cost: Floats = seconds / SECONDS_PER_HOUR * self.metered
        if self.fee.any():
            cost += self.fee * self._periods(hours)
        return cost

    def effective(self, hours: Floats, utilization: float) -> Floats:
        """The array form of `Bill.effective`."""
        cost, at = self.metered * hours, self.fee.nonzero()[0]
        hours, of = hours[at], self.part(at)
        cost[at] += of._shared(hours, utilization)
        return cost

    def effective_each(self, hours: Floats, utilization: float) -> Floats:
        """The same of offers [O, 1] that bill alike, each for all of these hours [R]: all of them have a fee, or none has."""
        cost = self.metered * hours
        return cost + self._shared(hours, utilization) if self.fee.any() else cost

    def _shared(self, hours: Floats, utilization: float) -> Floats:
        """The share of the fees that runs of so many hours should bear."""
        paid = self._periods(hours)
        left = paid * self.period_hours - hours
        return np.asarray(self.fee * paid * hours / (hours + utilization * left))

    def _periods(self, hours: Floats) -> Floats:
        """How many are paid for so many hours each: mostly one, or as many as must be."""
        paid, longer = self.minimum_periods.astype(float), (hours > self.period_hours).nonzero()[0]
        if len(longer):
            started: Floats = np.ceil(np.round(hours[longer] / self.period_hours[longer], 6))
            singly = self.sold_singly[longer]
            together = (singly > 0) & (singly < started)
            started = np.where(together, np.ceil(started / SOLD_TOGETHER) * SOLD_TOGETHER, started)
            paid[longer] = np.maximum(started, paid[longer])
        return paid
