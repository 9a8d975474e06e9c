"""Commitments against paying as one goes: from how many hours of use on each pays, and when its money is due."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from costcalc.costing.bills import Bill
from costcalc.costing.payments import Cash, by_month, due, fixed_cost, pays_back, term_months
from costcalc.money import cents
from costcalc.offers import Payment, PriceSource, PurchaseOption
from costcalc.units import HOURS_PER_MONTH

UTILIZATIONS = tuple(map(Decimal, ("0.1", "0.25", "0.5", "0.75", "1")))
NO_HOURS = Decimal(0)
MILLIONTH = Decimal("0.000001")


@dataclass(frozen=True, slots=True)
class Usage:
    """How much machines are used in a month of 730 hours, and what that costs on demand and this way.

    `machine_sets` are how many such sets of machines the hours need at once. `asked` marks the one that `runs_per_month` implies.
    `pays_back_in_month` is the first month by whose end this way has cost no more than on demand.
    """

    utilization: Decimal
    asked: bool
    hours_per_month: Decimal
    runs_per_month: Decimal
    machine_sets: int
    on_demand_per_month: Decimal | None
    cost_per_month: Decimal
    saving_per_month: Decimal | None
    saving_per_term: Decimal | None
    pays_back_in_month: int | None


@dataclass(frozen=True, slots=True)
class Way:
    """One way to buy the machines for a term of `months`; amounts for all of them under own terms.

    `hourly_rate` holds where every hour is used. `upfront` and `monthly` are None where only an effective rate is known.
    Break-even figures are None where on demand is never dearer, or can't be had. `cash_by_month` has the fixed payments of one
    set of machines and adds up to `total`.
    """

    purchase_option: PurchaseOption
    term: str | None
    payment: Payment | None
    offering_class: str | None
    months: int
    hourly_rate: Decimal
    upfront: Decimal | None
    monthly: Decimal | None
    total: Decimal
    break_even_hours_per_term: Decimal | None
    break_even_hours_per_month: Decimal | None
    break_even_utilization: Decimal | None
    break_even_runs_per_month: Decimal | None
    price: PriceSource
    cash_by_month: Cash | None
    usage: tuple[Usage, ...]


@dataclass(frozen=True, slots=True)
class Need:
    """Training to be done on one set of machines: hours of one run, and runs a month where that is asked."""

    hours_per_run: Decimal
    runs_per_month: Decimal | None = None

    @property
    def hours(self) -> tuple[Decimal, ...]:
        """Hours a month to compare at, ascending: the usual shares of a month and what the runs take."""
        usual = {share * HOURS_PER_MONTH for share in UTILIZATIONS}
        return tuple(sorted(usual | ({self.asked} if self.asked is not None else set())))

    @property
    def asked(self) -> Decimal | None:
        """Hours a month that the asked runs take, to a millionth."""
        return None if self.runs_per_month is None else _short(self.runs_per_month * self.hours_per_run)

    def runs_in(self, hours: Decimal) -> Decimal:
        """Runs that so many hours are enough for: the number asked for as it was asked, any other to a millionth."""
        if self.runs_per_month is not None and hours == self.asked:
            return self.runs_per_month
        return _short(hours / self.hours_per_run)


def ways(bills: Iterable[Bill], need: Need, on_demand_hourly: Decimal | None) -> tuple[Way, ...]:
    """Every bill for whole months as a way, compared with the same machines at this own rate per hour; cheapest rate first."""
    found = [_way(bill, need, on_demand_hourly) for bill in bills if by_month(bill.offer)]
    return tuple(sorted(found, key=lambda way: (way.hourly_rate, way.months)))


def break_even_hours(bill: Bill, on_demand_hourly: Decimal | None) -> Decimal | None:
    """Hours of use per term above which a fixed fee is less than this own rate per hour; None where it never is."""
    saved = None if on_demand_hourly is None else on_demand_hourly - bill.tariff.metered_hourly * bill.factor
    if saved is None or saved <= 0:
        return None
    hours = fixed_cost(bill) / saved
    return hours if hours <= bill.tariff.period_hours * max(bill.tariff.minimum_periods, 1) else None


def _way(bill: Bill, need: Need, on_demand_hourly: Decimal | None) -> Way:
    offer, months, payments = bill.offer, term_months(bill.offer), due(bill)
    even = break_even_hours(bill, on_demand_hourly)
    monthly_even = None if even is None else even / months
    return Way(
        purchase_option=offer.purchase_option,
        term=offer.term,
        payment=offer.payment,
        offering_class=offer.offering_class,
        months=months,
        hourly_rate=bill.effective_hourly(NO_HOURS),
        upfront=cents(payments.upfront) if payments else None,
        monthly=cents(payments.monthly) if payments else None,
        total=cents(fixed_cost(bill)),
        break_even_hours_per_term=even and _short(even),
        break_even_hours_per_month=monthly_even and _short(monthly_even),
        break_even_utilization=monthly_even and _short(monthly_even / HOURS_PER_MONTH),
        break_even_runs_per_month=monthly_even and _short(monthly_even / need.hours_per_run),
        price=PriceSource(offer.source, offer.observed_at),
        cash_by_month=payments.by_month if payments else None,
        usage=tuple(_usage(bill, need, hours, on_demand_hourly) for hours in need.hours),
    )


def _usage(bill: Bill, need: Need, hours: Decimal, on_demand_hourly: Decimal | None) -> Usage:
    months = term_months(bill.offer)
    sets = max(1, int((hours / HOURS_PER_MONTH).to_integral_value(ROUND_CEILING)))
    monthly = fixed_cost(bill) * sets / months + bill.tariff.metered_hourly * bill.factor * hours
    on_demand = None if on_demand_hourly is None else on_demand_hourly * hours
    saving = None if on_demand is None else on_demand - monthly
    return Usage(
        utilization=_short(hours / HOURS_PER_MONTH),
        asked=hours == need.asked,
        hours_per_month=_short(hours),
        runs_per_month=need.runs_in(hours),
        machine_sets=sets,
        on_demand_per_month=None if on_demand is None else cents(on_demand),
        cost_per_month=cents(monthly),
        saving_per_month=None if saving is None else cents(saving),
        saving_per_term=None if saving is None else cents(saving * months),
        pays_back_in_month=pays_back(due(bill), sets, on_demand),
    )


def _short(value: Decimal) -> Decimal:
    """At most six decimals, without trailing zeros."""
    short = value.quantize(MILLIONTH)
    return short.quantize(Decimal(1)) if short == short.to_integral_value() else short.normalize()
